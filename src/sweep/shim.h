/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim.h: one attempt of one task, in a process of its own: runs it under a guard, looks at what it
 * left, and tells the result. The driver on this host starts it, or Slurm on another.
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

/* The plan that a sweep keeps in its folder. */
bool sweep_plan_load(struct sweep_plan *p, const char *path, struct incore_error *e);
/* Line `index` (from 0) of a list of tasks and attempts, as a submission to Slurm has it. */
bool sweep_shim_pick(
	struct sweep_shim *s, const char *list_path, uint64_t index, struct incore_error *e);
/* True where a result was told, whatever it is, or was there already. Cancelled: none is told. */
bool sweep_shim_run(const struct sweep_shim *s, struct incore_error *e);
