/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff.h: what changed between two captures of a kernel, per execution, and is it more than noise?
 *
 * Rows are aligned first (same listing: row by row; else by text, function by function; else by
 * source line), and the share of latency that this covers is reported. Cycles are divided by
 * executions ("per hit"): raw totals mislead when wave counts differ, per-wave figures when trip
 * counts do. Samples without counts of executions are divided by the launches that they were taken
 * from. A change is only called real when it is larger than the spread of repeats of the same code;
 * without repeats no such claim is made.
 *
 * Owner: the caller. Traces must outlive their sides, sides the diff.
 */
#pragma once

#include "analysis/code/hot.h"
#include "analysis/diff/diff_lines.h"
#include "analysis/walk.h"
#include "analysis/waves/causes.h"

struct diff_side { /* one capture, accounted */
	const struct trace *trace;
	struct hot *hot;
	struct causes *causes;
};

/* Walks all tracks of t once. The callee zeroes walk_out; the caller frees it. */
bool diff_side_open(struct diff_side *s, const struct trace *t, const struct walk_options *o,
	struct walk_result *walk_out, struct incore_error *e);
void diff_side_close(struct diff_side *s);
/* Are the listings equal, row by row? Compares texts; addresses may differ. */
bool diff_same_code(const struct trace *a, const struct trace *b);

enum diff_align_kind { ALIGN_ROW, ALIGN_TEXT, ALIGN_LINE };
const char *diff_align_name(enum diff_align_kind k); /* "row", "text", "line" */

struct diff_align {
	enum diff_align_kind kind;
	code_idx *b_of_a;	 /* by row of A: its row of B or NO_CODE; NULL for ALIGN_LINE */
	uint32_t rows_a, rows_b; /* instruction rows */
	uint32_t matched;	 /* matched rows (ALIGN_LINE: source lines in both) */
	uint64_t latency_a, latency_b, matched_a, matched_b;
	struct line_pairs lines; /* where lines are compared or aligned */
};

/* Share of the latency of both that is aligned, 0..1. */
double diff_matched_share(const struct diff_align *x);

enum diff_by { DIFF_BY_INSTR, DIFF_BY_LINE, DIFF_BY_OPCODE, DIFF_BY_CLASS, DIFF_BY_CAUSE };
enum diff_per { DIFF_PER_HIT, DIFF_PER_LAUNCH }; /* what cycles are divided by */
enum diff_verdict {
	DIFF_NO_CLAIM, /* no repeats, so noise is unknown */
	DIFF_WITHIN,   /* no larger than the spread of the repeats */
	DIFF_BEYOND,
	DIFF_NOT_COMPARABLE, /* present on one side only */
};
const char *diff_verdict_name(enum diff_verdict v); /* "no-claim", "within-noise", ... */

struct diff_value {
	const char *name; /* "stall_per_hit", ... */
	bool is_share;	  /* a share, 0..1 */
	bool is_count;	  /* a whole number */
	bool is_known;
	double a, b;
	double change, change_pct; /* b - a; in per cent of a */
	double noise, noise_pct;   /* spread of repeats: absolute, in per cent of the smallest */
	enum diff_verdict verdict;
};

struct diff_part { /* an instruction, line, opcode, class or cause */
	const char *key;
	const char *key_b;	     /* a line that has another name in B; else NULL */
	code_idx code_a, code_b;     /* or NO_CODE */
	uint64_t work_a, work_b;     /* executions, or launches */
	uint64_t cycles_a, cycles_b; /* latency; for a cause, its cycles */
	uint64_t stall_a, stall_b;
	double per_work_a, per_work_b, stall_per_work_a, stall_per_work_b;
	double change;	     /* change of cycles per execution or launch */
	double contribution; /* to the change of the whole: change * its work in A / all work of
				A */
	double noise;	     /* spread among repeats */
	enum diff_verdict verdict;
};

struct diff_options {
	enum diff_by by;
	bool has_align; /* force the alignment below */
	enum diff_align_kind align;
	double min_match;		   /* fail below this matched share, 0..1 */
	const struct diff_side *repeats_a; /* further captures of A's code */
	uint32_t n_repeats_a;
	const struct diff_side *repeats_b; /* further captures of B's code */
	uint32_t n_repeats_b;
	bool is_pair;	     /* A and B are repeats of each other */
	double noise_factor; /* a change counts beyond this many times the noise */
};

struct diff {
	struct arena arena;
	const struct diff_side *a, *b;
	const struct diff_options *options;
	struct diff_align align;
	bool is_same_work; /* the hit ratio is the same on every row */
	enum diff_per per;
	double work_ratio; /* B / A */
	double clock_a_mhz, clock_b_mhz;
	bool is_clock_alike; /* within 3 % (true where unknown) */
	bool has_noise;
	bool is_sampled; /* noise is at least the sampling error */
	struct diff_value *values;
	uint32_t n_values;
	enum diff_by by;	 /* what the parts are: lines if rows could not be aligned */
	struct diff_part *parts; /* beyond noise first, then by size of the contribution */
	uint32_t n_parts;
	enum diff_verdict verdict; /* the stronger of latency's and stall's */
};

/* False with status BAD_INPUT ("not-comparable") when too little matches. */
bool diff_run(struct diff *d, const struct diff_side *a, const struct diff_side *b,
	const struct diff_options *o, struct incore_error *e);
void diff_deinit(struct diff *d);

/* diff_align.c. x must be zeroed; x->lines is freed with the diff, also after a failure. */
bool diff_align_rows(struct diff_align *x, const struct diff_side *a, const struct diff_side *b,
	const struct diff_options *o, struct arena *arena, struct incore_error *e);
/* Longest common subsequence of two lists of keys, near enough: match[i] = index in b or
 * UINT32_MAX. Linear memory. */
bool diff_lcs(const uint32_t *a, uint32_t n_a, const uint32_t *b, uint32_t n_b, uint32_t *match,
	struct incore_error *e);
