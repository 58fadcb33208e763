/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim.h: one attempt of one task, in a process of its own: runs it under a guard, checks what it
 * left, and writes the result. The driver starts it on this host, or Slurm on another.
 */
#pragma once

#include "sweep/plan.h"

struct sweep_shim {
	const char *dir;  /* of the sweep */
	const char *base; /* the plan's folder */
	uint64_t task;
	uint32_t attempt;
	bool (*is_cancelled)(void *ctx);
	int (*cancel_signal)(void *ctx);
};

/* Loads the plan that a sweep keeps in its folder. */
bool sweep_plan_load(struct sweep_plan *p, const char *path, struct incore_error *e);
/* Takes line `index` (from 0) of a list of tasks and attempts, as written for a Slurm
 * submission. */
bool sweep_shim_pick(
	struct sweep_shim *s, const char *list_path, uint64_t index, struct incore_error *e);
/* True if a result was written, good or bad, or existed already. A cancelled shim writes no
 * result. */
bool sweep_shim_run(const struct sweep_shim *s, struct incore_error *e);
