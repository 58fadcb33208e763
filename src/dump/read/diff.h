/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff.h: do two dumps hold the same values? Records are paired by task, slot and stage; block by
 * block where both dumps state block numbers, else by the copy that dump_choose() selects. Owner:
 * dump_diff_deinit().
 */
#pragma once

#include "dump/read/model.h"

struct dump_tolerance {
	double rtol, atol; /* |a - b| <= atol + rtol * |b| is equal */
};

struct dump_diff_options {
	double rtol, atol; /* below 0: the default of the dtype */
	bool nan_differs;  /* else NaN equals NaN at the same index */
	bool ignore_scalars;
};

enum pair_state {
	PAIR_SAME,	 /* every bit, or every value within tolerance */
	PAIR_DIFFERS,	 /* values */
	PAIR_OTHER_KIND, /* role, kind, dtype or shape */
	PAIR_ONLY_A,
	PAIR_ONLY_B,
	PAIR_NOT_COMPARED, /* one side has no payload */
};

struct dump_pair {
	uint64_t task_id;
	uint32_t slot, block;	 /* block DUMP_NONE: not stated */
	uint8_t stage, state;	 /* enum pair_state */
	bool is_identical;	 /* bit by bit */
	uint32_t a, b;		 /* records; DUMP_NONE */
	uint64_t n, n_differ;	 /* values */
	uint64_t first;		 /* element of the first difference */
	double max_abs, max_rel; /* over differing finite values; 0 if there are none */
};

struct dump_diff {
	VEC(struct dump_pair) pairs; /* by task, slot, stage, block */
	uint64_t n_state[6];	     /* by pair_state */
	uint64_t n_identical;
	uint64_t n_values, n_differ;
	uint64_t n_tasks_both, n_tasks_only_a, n_tasks_only_b;
};

/* Tolerance of a dtype: zero for integers, BOOL and the 4- and 8-bit exponents. */
struct dump_tolerance dump_tolerance_of(unsigned dtype);
bool dump_diff(struct dump *a, struct dump *b, const struct dump_diff_options *o,
	struct dump_diff *out, struct incore_error *e);
void dump_diff_deinit(struct dump_diff *d);
/* Compares the values of two records; fills n, n_differ, first, max_*, state, is_identical. */
bool dump_compare(const struct dump *a, uint32_t ra, const struct dump *b, uint32_t rb,
	const struct dump_diff_options *o, struct dump_pair *out, struct incore_error *e);
/* True if the dumps differ. */
bool dump_diff_differs(const struct dump_diff *d);
