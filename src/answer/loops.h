/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loops.h: the parts of answers about loops, regions, and how well code is mapped to source lines.
 * Owner: rows are made in the arena of the answer; lists point into the analyses, which it keeps.
 */
#pragma once

#include "analysis/code/loops.h"
#include "analysis/code/regions.h"
#include "analysis/code/source_lines.h"
#include "answer/rows.h"

/* Row of the loop's header; NO_VALUE for NO_LOOP. */
int64_t loop_header_row(const struct cfg *g, uint32_t loop);

struct loop_place {					  /* its rows in the code */
	int64_t header_row, latch_row, parent_header_row; /* the last is NO_VALUE if outermost */
	uint64_t header_address, latch_address;
	uint32_t latches, depth, blocks, rows;
};
struct loop_row {
	struct loop_place place;
	const char *state;
	struct loop_stats s;
	struct rows trips, causes; /* struct loop_trips, loop_cause */
	double drift;
};
struct loop_cause {
	const char *cause, *bucket;
	uint64_t cycles;
};
extern const struct record loop_record; /* RECORD_BLOCK */
bool loop_rows(struct answer *a, const struct loops *l, struct rows *out, struct incore_error *e);

struct top_line {
	const char *source;
	double latency_share, executed_row_share;
};
struct weight_row {
	const char *weight;
	struct granularity g;
};
struct granularity_part {
	uint32_t distinct_lines;
	const char *collapsed;
	struct top_line top_line; /* source NULL: none */
	struct rows weights;	  /* weight_row */
};
struct source_quality { /* how well code is mapped to lines */
	const char *collapse;
	uint32_t distinct_lines, mapped_rows, rows;
	double top_line_latency_share, effective_lines_by_latency;
	struct granularity_part granularity;
};
extern const struct record source_quality_record; /* RECORD_BLOCK */
bool source_quality_make(struct answer *a, const struct source_lines *s, struct source_quality *out,
	struct incore_error *e);

struct region_row {
	int64_t first_row, last_row;
	struct region r;
	const char *class;
	bool is_loop;
};
extern const struct record region_record; /* RECORD_LINE */
bool region_rows(struct answer *a, const struct trace *t, const struct region *v, uint32_t n,
	struct rows *out, struct incore_error *e);
