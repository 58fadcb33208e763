/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipe_compare.h: two traces of one kernel side by side: do they run the same instructions in the
 * same order, and how long is each pipe and each instruction busy in the one and in the other?
 * For traces whose tracks are pipes. Made for an estimate against a simulation or a measurement.
 * Owner: pipe_compare_deinit(). Needs both traces and their collected pipes while it is made;
 * names are copied.
 */
#pragma once

#include "analysis/pipes/pipes.h"

struct compare_row {
	const char *core; /* "core0.veccore0"; of ops "" */
	const char *name; /* lane or opcode */
	uint64_t count[2], cyc[2];
};

struct pipe_compare {
	struct arena arena;
	uint64_t span_cyc[2];	       /* first start to last end */
	VEC(struct compare_row) pipes; /* by core, then in the order of the first trace */
	VEC(struct compare_row) ops; /* descending by the cycles of the longer side, then by name */
	bool is_same_count;	     /* every instruction as often */
	bool is_same_order;	     /* and in the same order, lane by lane */
	const char *order_lane;	     /* first lane where it is not: its name, else NULL */
	uint64_t order_at;	     /* and the instruction of it, from 0 */
};

/* a and b were collected (pipes_collect()). May fail: memory, a track that cannot be read. */
bool pipe_compare(const struct pipes *a, const struct pipes *b, struct pipe_compare *out,
	struct incore_error *e);
void pipe_compare_deinit(struct pipe_compare *c);
