/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_pipes.h: a trace of pipes made from arrays, for unit tests of analyses. Slices of a pipe must
 * be sorted by (start, end); equal texts are one code row; the span of a core is that of its
 * slices.
 *
 *	static const struct mem_slice mte2[] = {{0, 10, 0, "MOV_OUT_TO_L1", NULL}};
 *	static const struct mem_pipe pipes[] = {{"core0.cubecore0/MTE2", MEM_SLICES(mte2)}};
 *	struct trace *t = mem_pipes_new(&(struct mem_pipes){MEM_PIPES(pipes)});
 *
 * Owner: the caller; trace_free(). The arrays are borrowed and must outlive the trace.
 */
#ifndef TESTS_UNIT_MEM_PIPES_H
#define TESTS_UNIT_MEM_PIPES_H

#include "mem_trace.h"

struct mem_slice {
	uint64_t start;
	uint32_t dur, stall; /* stall: head cost, at the front of dur */
	const char *text;    /* opcode and operands */
	const char *source;  /* "k.cpp:12" or NULL */
};

struct mem_pipe {
	const char *name; /* "core0.veccore1/MTE2" */
	const struct mem_slice *slices;
	uint32_t n_slices;
};

struct mem_pipes {
	const struct mem_pipe *pipes; /* sorted by core, unit and pipe */
	uint32_t n_pipes;
	const struct link *links;
	uint32_t n_links;
	uint64_t bytes; /* that every row has moved */
	const struct named_table *tables;
	uint32_t n_tables;
};

#define MEM_SLICES(a) .slices = (a), .n_slices = MEM_COUNT(a)
#define MEM_PIPES(a) .pipes = (a), .n_pipes = MEM_COUNT(a)
#define MEM_LINKS(a) .links = (a), .n_links = MEM_COUNT(a)

/* Sealed; aborts the test when it cannot be made. */
struct trace *mem_pipes_new(const struct mem_pipes *m);

#endif
