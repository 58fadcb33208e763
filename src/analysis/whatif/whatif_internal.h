/* SPDX-License-Identifier: Apache-2.0 */
/* whatif_internal.h: what the methods share. */
#pragma once

#include "analysis/whatif/whatif_unit.h"

/* whatif_path.c: adds what the timeline's critical path is made of. */
struct path_sums {
	VEC(struct whatif_limit) v;
};
bool retime_path(const struct retime *r, const struct unit *u, const struct whatif_plan *p,
	struct path_sums *out);

/* Sets does_nothing from the figures. */
void whatif_judge(struct whatif_result *r);
/* Widens the interval by what such estimates missed the truth by (docs/whatif.md): one per cent of the
 * time before, and so many per cent of the gain. */
void whatif_widen(struct whatif_result *r, unsigned gain_percent);
/* Order of limits: descending by after, then before. */
int whatif_by_after(const void *pa, const void *pb);
/* whatif_samples.c */
bool whatif_samples(const struct trace *t, const struct whatif_plan *const *plans, size_t n,
	struct whatif_result *out, struct incore_error *e);
/* The paths of two timelines as the limits of a result. False on lack of memory. */
bool whatif_join_paths(
	const struct path_sums *before, const struct path_sums *after, struct whatif_result *out);
/* whatif_pipes.c */
bool whatif_pipes(const struct trace *t, const struct whatif_plan *const *plans, size_t n,
	const struct walk_options *o, struct whatif_result *out, struct incore_error *e);
