/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcp.h: the answers for agents: the Model Context Protocol over a pair of streams, a JSON message a
 * line. Tools are the questions; what they take and give comes from the tables of options and columns.
 * A call reads captures below the given roots alone, and nothing is written.
 *
 * One thread reads messages, one answers those that look at captures, so that a ping or the wish to
 * stop is heard meanwhile. May fail: roots that are not there, memory, an output that is gone.
 */
#pragma once

#include <stdio.h>

#include "base/error.h"
#include "base/pool.h"

struct mcp_options {
	const char *const *roots; /* folders; relative paths of calls begin at the first */
	unsigned n_roots;
	struct pool *pool;
	FILE *in, *out;
};

/* Until the input ends. */
bool mcp_serve(const struct mcp_options *o, struct incore_error *e);
