/* SPDX-License-Identifier: Apache-2.0 */
/*
 * swimlane.h: a step of a model as a device ran it: which task ran on which core and when
 * (l2_swimlane_records.json, chip_swimlane_records.json), which kernels and tensors a task has and
 * what it waits for (deps.json), and the names of the kernels (name_map*.json).
 * Owner: swimlane_deinit(). May fail: status 3 on files with other contents, with path and offset.
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"

#define SWIM_NONE UINT32_MAX

struct swim_arg {
	uint32_t idx;	 /* slot */
	uint32_t tensor; /* in swimlane.tensors; SWIM_NONE: a scalar */
	bool is_written;
};

struct swim_task {
	uint64_t id;
	uint32_t kernel; /* in swimlane.kernels */
	uint32_t first_arg, n_args;
	uint32_t blocks;       /* as deps.json states; 1 by default */
	uint32_t n_aic, n_aiv; /* its runs on each kind of core */
	int64_t funcs[3];      /* of the cube core and both vector cores; -1: unused */
};

struct swim_run { /* a task on a core */
	uint32_t task, core;
	uint64_t start, end; /* ticks */
};

struct swim_tensor {
	uint64_t id, bytes; /* of its buffer; 0: not known */
	bool is_written;    /* by a task of the step */
};

struct swim_edge {
	uint32_t before, after; /* tasks */
};

struct swim_kernel { /* by name */
	const char *name;
	bool is_aic, is_aiv;
	uint32_t n_tasks, n_runs;
	uint32_t first_task;
	uint32_t blocks; /* maximum over its tasks, on the kind of core that leads it */
};

struct swimlane {
	struct arena arena;
	uint64_t tick_hz;
	VEC(bool) is_aiv; /* by core */
	VEC(struct swim_kernel) kernels;
	VEC(struct swim_task) tasks; /* as deps.json has them */
	VEC(struct swim_arg) args;
	VEC(struct swim_tensor) tensors;
	VEC(struct swim_edge) edges;
	VEC(struct swim_run) runs; /* by start */
};

/* deps NULL: deps.json beside the records; names come from name_map*.json beside them. records
 * NULL: no times, only deps. */
bool swimlane_load(
	struct swimlane *s, const char *records, const char *deps, struct incore_error *e);
void swimlane_deinit(struct swimlane *s);
/* Converts ticks of its clock to microseconds. */
double swimlane_us(const struct swimlane *s, uint64_t ticks);
