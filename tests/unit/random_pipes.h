/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_pipes.h: traces of pipes made by chance, for round trips: flags within a core, head costs,
 * overlapping instructions; random_pipes_fill() adds everything else a trace of pipes can hold.
 * Owner: the caller; the arrays must outlive the trace.
 */
#ifndef TESTS_UNIT_RANDOM_PIPES_H
#define TESTS_UNIT_RANDOM_PIPES_H

#include "mem_pipes.h"

#define MAX_PIPES 12
#define MAX_SLICES 60
#define MAX_LINKS 64

struct random_pipes {
	struct mem_slice slices[MAX_PIPES][MAX_SLICES];
	struct mem_pipe pipes[MAX_PIPES];
	uint32_t n_pipes;
	struct link links[MAX_LINKS];
	uint32_t n_links;
};

void random_pipes_make(struct random_pipes *m, uint64_t seed);
struct trace *random_pipes_trace(struct random_pipes *m);
/* Frames, sources, stated totals, bytes, heads, links of all kinds, counters (also at 0), tables,
 * notes, clock, meta; also rows that only their number tells apart. Aborts the test on lack of
 * memory. */
void random_pipes_fill(struct trace *t, uint64_t seed);

#endif
