/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stable.h: do repeated captures agree? With the same code and the same work an execution should
 * cost the same cycles, in total and row by row, as far as the machine behaves repeatably.
 *
 * A row's cycles are its latency over the executions of all rows, so that the rows add up to the
 * cycles of one execution. Two captures are compared with each other; of more than two, the two
 * furthest apart.
 */
#pragma once

#include "analysis/diff/diff.h"

struct stable_row {
	code_idx code;
	double a, b;	    /* first two captures: cycles per execution of any row */
	double least, most; /* over all captures */
	double spread_pct;  /* (most - least) in per cent of the smallest total */
};

struct stability {
	bool is_stable;
	double least, most;  /* cycles per execution */
	double spread_pct;   /* (most - least) in per cent of least */
	double row_most_pct; /* spread of the row that varies most */
	uint32_t n_beyond;   /* rows that vary by more than row_pct */
	/* For unstable captures, where they differ, largest first: the rows beyond row_pct, or, if
	 * there are none, all rows that vary. In the arena. */
	struct stable_row *rows;
	uint32_t n_rows;
};

/* Needs at least two captures of the same code, with executions. They are stable if totals differ
 * by less than total_pct and rows by at most row_pct of the totals. May fail: memory. */
bool stability_judge(struct stability *out, const struct diff_side *sides, uint32_t n,
	double total_pct, double row_pct, struct arena *arena, struct incore_error *e);
