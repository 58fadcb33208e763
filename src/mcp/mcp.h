/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcp.h: answers for agents: the Model Context Protocol over a pair of streams, one JSON message
 * per line. Tools are the questions; their inputs and outputs come from the tables of options and
 * columns. A call only reads captures below the given roots, and nothing is written.
 *
 * One thread reads messages and another answers those that read captures, so that pings and
 * cancellations are handled meanwhile. May fail: missing roots, memory, a closed output.
 */
#pragma once

#include <stdio.h>

#include "base/error.h"
#include "base/pool.h"

struct mcp_options {
	const char *const *roots; /* folders; relative paths in calls start at the first */
	unsigned n_roots;
	struct pool *pool;
	FILE *in, *out;
};

/* Serves until the input ends. */
bool mcp_serve(const struct mcp_options *o, struct incore_error *e);
