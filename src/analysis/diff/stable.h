/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stable.h: do captures of one state agree? Of the same code and the same work an execution costs
 * the same cycles, in all and row by row, as far as the machine repeats itself.
 *
 * A row's cycles are its latency over the executions of all rows, so that the rows add up to the
 * cycles of one execution. Two captures are compared with each other, of more the furthest apart.
 */
#pragma once

#include "analysis/diff/diff.h"

struct stable_row {
	code_idx code;
	double a, b;	    /* of the first two captures, per execution of any row */
	double least, most; /* of all */
	double spread_pct;  /* most less least, of the least total */
};

struct stability {
	bool is_stable;
	double least, most;  /* cycles an execution */
	double spread_pct;   /* most less least, of least */
	double row_most_pct; /* of the row that moves most */
	uint32_t n_beyond;   /* rows that move by more than row_pct */
	/* Where captures that are not stable differ, the largest first: the rows beyond, or if there
	 * is none all that move. In the arena. */
	struct stable_row *rows;
	uint32_t n_rows;
};

/* Captures of the same code with executions, two at least. Totals may be apart by less than
 * total_pct, rows by up to row_pct of them. May fail: memory. */
bool stability_judge(struct stability *out, const struct diff_side *sides, uint32_t n,
	double total_pct, double row_pct, struct arena *arena, struct incore_error *e);
