/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dominant.h: what dominates the losses of each source line? Two answers: the cause with most lost
 * cycles of its instructions, in the words of hot_loss(); and the type with most recorded stall, in
 * the words of the older hotspot script (flydsl_hotspot.h), whose DomType it is.
 */
#pragma once

#include "analysis/code/hot.h"

struct dominant {
	const char *cause;	      /* NULL: nothing was lost */
	uint64_t cause_cyc, lost_cyc; /* of the cause, of all causes */
	const char *type;	      /* NULL: no stall, or not AMD */
	uint64_t type_stall_cyc, stall_cyc;
};

/* One for each of the n groups by line, in their order. edge_of: by row the costliest edge into it,
 * or NULL. In the arena. */
bool dominants_make(const struct hot *h, const struct producer_edge *const *edge_of,
	const struct hot_group *groups, uint32_t n, struct arena *a, struct dominant **out,
	struct incore_error *e);
