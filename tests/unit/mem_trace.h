/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_trace.h: a trace made from arrays, for unit tests of analyses. Records are written as in a
 * wave file: {time, category, stall, duration, line}; line k is code row k.
 *
 *	static const struct mem_code code[] = {{"; k"}, {"s_load_dwordx2 s[0:1], s[2:3], 0x0"},
 *		{"s_endpgm"}};
 *	static const struct mem_record rec[] = {{100, 1, 0, 4, 1}, {104, 11, 0, 20, 2}};
 *	static const struct mem_wave waves[] = {{.begin = 96, .end = 124, MEM_RECORDS(rec)}};
 *	struct trace *t = mem_trace_new(&(struct mem_capture){MEM_CODE(code), MEM_WAVES(waves)});
 *
 * Owner: the caller; trace_free(). The arrays are borrowed and must outlive the trace.
 */
#ifndef TESTS_UNIT_MEM_TRACE_H
#define TESTS_UNIT_MEM_TRACE_H

#include "trace/trace.h"

struct mem_code {
	const char *text;   /* "; name" makes a label row */
	const char *source; /* "a.py:12", "in.py:1 -> out.py:2", or NULL */
	uint64_t address;   /* 0: 4 bytes after the row before */
};

struct mem_record {
	uint64_t time;
	uint32_t category, stall, duration;
	uint32_t line; /* out of range: NO_CODE */
};

struct mem_state {
	uint32_t state, duration;
};

struct mem_wave {
	uint32_t se, cu, simd, slot, wave;
	uint64_t begin, end;
	const struct mem_record *records;
	uint32_t n_records;
	const struct mem_state *states;
	uint32_t n_states;
};

struct mem_capture {
	const struct mem_code *code;
	uint32_t n_code;
	const struct mem_wave *waves; /* sorted by se, cu, simd, slot, wave */
	uint32_t n_waves;
	unsigned gfx_major;	   /* 0: 9 */
	const int64_t *se_offsets; /* cycles to add, by SE number; NULL: all 0 */
	uint32_t n_se_offsets;
	const char *kernel; /* NULL: "k" */
};

#define MEM_COUNT(a) (uint32_t)(sizeof(a) / sizeof((a)[0]))
#define MEM_CODE(a) .code = (a), .n_code = MEM_COUNT(a)
#define MEM_WAVES(a) .waves = (a), .n_waves = MEM_COUNT(a)
#define MEM_RECORDS(a) .records = (a), .n_records = MEM_COUNT(a)
#define MEM_STATES(a) .states = (a), .n_states = MEM_COUNT(a)

/* Sealed; aborts the test (assert) when it cannot be made. */
struct trace *mem_trace_new(const struct mem_capture *m);

#endif
