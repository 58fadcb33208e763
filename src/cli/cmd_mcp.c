/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_mcp.c: incore mcp: questions as tools for an agent, over standard input and output. */
#include <signal.h>

#include "cli/cli.h"
#include "mcp/mcp.h"

static bool run(struct cli *c)
{
	static const char *const here[] = {"."};
	struct mcp_options o = {.roots = c->n_args ? c->args : here,
		.n_roots = c->n_args ? c->n_args : 1,
		.pool = c->pool,
		.in = stdin,
		.out = c->out};

	signal(SIGPIPE, SIG_IGN);
	return mcp_serve(&o, &c->error);
}

const struct verb verb_mcp = {.name = "mcp",
	.args = "[ROOT...]",
	.summary = "the questions as tools of an agent (Model Context Protocol)",
	.groups = OPTIONS_OUTPUT,
	.max_args = 16,
	.run = run};
