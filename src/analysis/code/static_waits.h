/* SPDX-License-Identifier: Apache-2.0 */
/*
 * static_waits.h: whom samples of AMD code can have waited for, from the code alone. A sampler says
 * that a wave stood at a counter wait; who raised the counter is found backwards on the control flow
 * graph, as waits.h finds it in a trace: of what returns in order the newest that the wait may not
 * leave out, on every way that leads there; of what overtakes each other all that can be out.
 *
 * Samplers put a wave some instructions too late: a row that cannot wait stands for the nearest wait
 * before it, at most STATIC_WAITS_SKID instructions back.
 *
 * Only rows with samples of the reason are looked at, with bounds on candidates and on blocks a
 * search, so time grows with the code. Owner: the caller; static_waits_deinit() frees all. May fail:
 * memory.
 */
#pragma once

#include "analysis/code/cfg.h"
#include "isa/amd_waits.h"

#define STATIC_WAITS_SKID 4u
#define STATIC_WAITS_MOST 32u	/* candidates of a row */
#define STATIC_WAITS_STEPS 512u /* blocks a search looks at */

struct static_waits {
	struct arena arena;
	uint32_t n_links;
	struct code_link *links; /* by row, then by producer */
	const uint64_t *weight;	 /* by code row: how often it ran, by samples that issued near it */
};

/* Links of all rows with samples of the reason "waitcnt"; none where the trace has no such word. */
bool static_waits_find(struct static_waits *w, const struct trace *t, struct incore_error *e);
void static_waits_deinit(struct static_waits *w);
/* Links of a row: *n of them from the pointer returned. */
const struct code_link *static_waits_of(const struct static_waits *w, code_idx row, uint32_t *n);
