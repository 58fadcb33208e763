/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_runs.h: what changed between two runs of many kernels, kernel by kernel: folders with a
 * manifest_export.csv, as `incore profile` leaves them.
 * Owner: the answer that is given.
 */
#pragma once

#include "answer/diff.h"

struct diff_run_row {
	const char *func, *state, *by, *values, *where;
	uint64_t cycles_a, cycles_b; /* NO_U64: not in that run */
	int64_t change;
	double change_pct, per_hit_pct, share;
};

struct diff_runs_answer {
	const char *run_a, *run_b;
	struct diff_evidence evidence;
	uint64_t kernels_a, kernels_b, cycles_a, cycles_b;
	int64_t change, of_same, of_values, of_new, of_gone;
	uint64_t n_total;
	struct rows kernels; /* diff_run_row, by size of the change */
};

extern const struct record diff_runs_record, diff_run_row_record;

/* Do both paths of the request hold the runs of many kernels? */
bool diff_runs_asked(const struct request *r);
bool diff_runs_ask(const struct request *r, struct answer *a, struct incore_error *e);
