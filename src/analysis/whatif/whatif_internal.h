/* SPDX-License-Identifier: Apache-2.0 */
/* whatif_internal.h: shared by the methods of whatif. */
#pragma once

#include "analysis/whatif/whatif_unit.h"

/* The components of a timeline's critical path. */
struct path_sums {
	VEC(struct whatif_limit) v;
};

/* whatif_plan.c: a copy whose rows and reasons make() has changed; NULL on lack of memory. */
struct whatif_plan *whatif_plan_other(const struct whatif_plan *p,
	void (*make)(struct whatif_row *r, uint32_t arg), uint32_t arg, struct incore_error *e);
bool whatif_any_row(const struct whatif_plan *p,
	bool (*is)(const struct whatif_row *r, uint32_t arg), uint32_t arg);
/* whatif.c: whatif_run() without regard to other factors. */
bool whatif_run_each(const struct trace *t, const struct whatif_plan *const *plans, size_t n,
	const struct walk_options *o, struct whatif_result *out, struct incore_error *e);
/* Sets does_nothing from the figures. */
void whatif_judge(struct whatif_result *r);
/* Widens the interval by the known error of such estimates (docs/whatif.md): one per cent of the
 * time before, plus gain_percent of the gain. */
void whatif_widen(struct whatif_result *r, unsigned gain_percent);
/* Compares limits: descending by after, then before. */
int whatif_by_after(const void *pa, const void *pb);
/* whatif_samples.c */
bool whatif_samples(const struct trace *t, const struct whatif_plan *const *plans, size_t n,
	struct whatif_result *out, struct incore_error *e);
/* Makes the limits of a result from the paths of two timelines. False on lack of memory. */
bool whatif_join_paths(
	const struct path_sums *before, const struct path_sums *after, struct whatif_result *out);
/* whatif_pipes.c */
bool whatif_pipes(const struct trace *t, const struct whatif_plan *const *plans, size_t n,
	const struct walk_options *o, struct whatif_result *out, struct incore_error *e);
