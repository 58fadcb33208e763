/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipe_compare.h: two traces of one kernel side by side: do they run the same instructions in the
 * same order, and how long is each pipe and each instruction busy in either? For traces whose
 * tracks are pipes. Meant for comparing an estimate with a simulation or a measurement.
 * Owner: pipe_compare_deinit(). Both traces and their collected pipes are needed only during
 * pipe_compare(); names are copied.
 */
#pragma once

#include "analysis/pipes/pipes.h"

struct compare_row {
	const char *core; /* "core0.veccore0"; "" for ops */
	const char *name; /* lane or opcode */
	uint64_t count[2], cyc[2];
};

struct pipe_compare {
	struct arena arena;
	uint64_t span_cyc[2];	       /* first start to last end */
	VEC(struct compare_row) pipes; /* by core, then in the order of the first trace */
	VEC(struct compare_row) ops; /* descending by the cycles of the longer side, then by name */
	bool is_same_count;	     /* every instruction ran equally often */
	bool is_same_order;	     /* and in the same order in every lane */
	const char *order_lane;	     /* name of the first lane with another order, or NULL */
	uint64_t order_at;	     /* first differing instruction in it, from 0 */
};

/* a and b must be collected (pipes_collect()). May fail: memory, a track that cannot be read. */
bool pipe_compare(const struct pipes *a, const struct pipes *b, struct pipe_compare *out,
	struct incore_error *e);
void pipe_compare_deinit(struct pipe_compare *c);
