/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_lines.h: what each source line cost, and whether the line table is worth reading.
 * Exclusive: a row counts for its innermost frame only, so lines (and files) add up to the whole.
 * Inclusive: it counts once for every distinct line of its inline chain. The two are never mixed.
 * Totals are passed per code row: computed ones or those stated by the producer.
 *
 * Owner: the caller; source_lines_deinit() frees all; nothing is held after a failure.
 */
#pragma once

#include "base/arena.h"
#include "trace/trace.h"

struct source_sums {
	uint32_t rows, executed_rows; /* static */
	struct code_totals totals;
};

struct source_line {
	source_idx source; /* NO_SOURCE: the rows without source */
	uint32_t line;	   /* 0: the whole file, or no source */
	struct source_sums exclusive, inclusive;
};

enum source_weight {
	WEIGHT_ROWS,
	WEIGHT_HIT,
	WEIGHT_LATENCY,
	WEIGHT_STALL,
	WEIGHT_HIT_STALL, /* a count plus cycles: only to compare with older reports */
	WEIGHT_COUNT
};
const char *source_weight_name(enum source_weight w); /* "rows", "hit", ..., "hit+stall" */

struct granularity {
	uint64_t total, mapped;	       /* of the weight */
	uint32_t lines;		       /* lines with any of it */
	double top1_share, top2_share; /* share of mapped; 0 if nothing is mapped */
	double effective_lines;	       /* exp(entropy); 1 without any */
	uint32_t top;		       /* heaviest line, index in lines, or UINT32_MAX */
};

enum collapse { COLLAPSE_NO, COLLAPSE_PARTLY, COLLAPSE_YES, COLLAPSE_NO_SOURCE };
const char *collapse_name(enum collapse c); /* "no", "partly", "collapsed", "no-source" */

struct source_lines {
	struct arena arena;
	const struct trace *trace;
	uint32_t n_lines;
	struct source_line *lines; /* by exclusive stall, then latency, then place */
	uint32_t *by_place;	   /* private: indices of lines by (source, line) */
	uint32_t n_files;
	struct source_line *files; /* the same figures by file */
	struct source_sums all, mapped, unmapped;
	uint32_t distinct_lines; /* innermost lines of any instruction row */
	struct granularity granularity[WEIGHT_COUNT];
	enum collapse collapse;
	uint32_t collapse_line; /* line with most latency, index in lines, or UINT32_MAX */
	double collapse_latency_share,
		collapse_row_share; /* its share of mapped latency; of executed mapped rows */
};

/* totals: one per code row, n_code of them. Rows without source are one line with NO_SOURCE. */
bool source_lines_compute(struct source_lines *s, const struct trace *t,
	const struct code_totals *totals, struct incore_error *e);
void source_lines_deinit(struct source_lines *s);
/* Index of the line (source, line), as in a row's innermost frame; UINT32_MAX if absent. */
uint32_t source_lines_find(const struct source_lines *s, source_idx source, uint32_t line);
/* "a.py:12", or "<unknown>". */
bool source_line_put(const struct source_lines *s, const struct source_line *l, struct strbuf *out);
