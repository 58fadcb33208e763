/* SPDX-License-Identifier: Apache-2.0 */
/* whatif_internal.h: what the methods share. */
#pragma once

#include "analysis/whatif/whatif_unit.h"

/* Sets does_nothing from the figures. */
void whatif_judge(struct whatif_result *r);
/* Order of limits: descending by after, then before. */
int whatif_by_after(const void *pa, const void *pb);
/* whatif_samples.c */
bool whatif_samples(const struct trace *t, const struct whatif_plan *const *plans, size_t n,
	struct whatif_result *out, struct incore_error *e);
