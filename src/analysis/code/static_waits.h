/* SPDX-License-Identifier: Apache-2.0 */
/*
 * static_waits.h: which instructions sampled AMD code can have waited for, from the code alone. A
 * sampler says that a wave stood at a counter wait; who raised the counter is found by a backward
 * search on the control-flow graph, with the rules of waits.h. For operations that return in order
 * that is the newest one that the wait must include, on every path leading there; for operations
 * that overtake each other it is all that can be outstanding.
 *
 * Samplers report a position some instructions too late: a sampled row that cannot wait stands for
 * the nearest wait before it, at most STATIC_WAITS_SKID instructions back.
 *
 * Only rows with samples of the reason are looked at, and each search is limited in candidates and
 * blocks, so time grows with the size of the code. Owner: the caller; static_waits_deinit() frees
 * all. May fail: memory.
 */
#pragma once

#include "analysis/flow/cfg.h"
#include "isa/amd_waits.h"

#define STATIC_WAITS_SKID 4u
#define STATIC_WAITS_MOST 32u	/* candidates per row */
#define STATIC_WAITS_STEPS 512u /* blocks per search */

struct static_waits {
	struct arena arena;
	uint32_t n_links;
	struct code_link *links; /* by row, then by producer */
	const uint64_t *weight;	 /* by code row: how often it ran, by samples that issued near it */
};

/* Links of all rows with samples of the reason "waitcnt"; no links if the trace has no such
 * reason. */
bool static_waits_find(struct static_waits *w, const struct trace *t, struct incore_error *e);
void static_waits_deinit(struct static_waits *w);
/* Links of a row: *n of them from the pointer returned. */
const struct code_link *static_waits_of(const struct static_waits *w, code_idx row, uint32_t *n);
