/* SPDX-License-Identifier: Apache-2.0 */
/* mcp.c: incore mcp: questions as tools for an agent, over standard input and output. */
#include "mcp/mcp.h"

#include "verbs/terminal.h"

/* What it did went to the agent, message by message. */
static bool mcp_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	static const char *const here[] = {"."};
	const struct mcp_options o = {.roots = r->n_paths ? r->paths : here,
		.n_roots = r->n_paths ? r->n_paths : 1,
		.pool = r->pool,
		.in = r->terminal->in,
		.out = r->out};

	a->is_streamed = true;
	return mcp_serve(&o, e);
}

const struct question question_mcp = {
	.name = "mcp",
	.args = "[ROOT...]",
	.summary = "the questions as tools of an agent (Model Context Protocol)",
	.max_paths = 16,
	.ask = mcp_ask,
};
