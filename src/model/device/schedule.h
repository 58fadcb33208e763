/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule.h: schedules a whole step on a given number of cores: every task starts as soon as its
 * predecessors have ended and a core is free, in the order in which tasks become ready; a kernel
 * takes its estimated time or, without an estimate, its time on the device.
 * Owner: schedule_deinit(). May fail: on memory, and (status 3) on cyclic dependencies.
 */
#pragma once

#include "model/device/device.h"
#include "trace/trace.h"

#define SCHEDULE_NONE UINT32_MAX

struct schedule_options {
	const struct profile *profile;
	uint32_t n_aic, n_aiv;
};

struct schedule_part { /* of a critical path */
	const struct swim_kernel *kernel;
	uint32_t runs;
	double us;
};

struct critical_path {
	double span_us;	   /* from the first start to the last end */
	double kernels_us; /* spent in kernels on the path; the rest is between them */
	uint32_t hops;	   /* number of runs on the path */
	VEC(struct schedule_part) parts; /* longest first */
};

struct schedule {
	VEC(struct swim_run) runs; /* by start; ns; cores: first AIC, then AIV */
	VEC(uint32_t) cause;	   /* the run before it on the path, or SCHEDULE_NONE */
	struct critical_path path;
	double busy_aic, busy_aiv; /* share of the span in which such cores are busy */
	unsigned n_measured;	   /* kernels whose time was measured on the device */
};

/* Estimates the kernels of d under the load that the schedule itself causes. */
bool schedule_make(struct schedule *s, struct device_step *d, const struct schedule_options *o,
	struct incore_error *e);
/* The schedule of the device itself: finds what the recorded runs waited for. */
bool schedule_recorded(struct schedule *s, const struct device_step *d, struct incore_error *e);
void schedule_deinit(struct schedule *s);
/* The schedule as a trace: a slice is a task, a code row a kernel. */
bool schedule_to_trace(const struct schedule *s, const struct device_step *d,
	const struct schedule_options *o, struct trace **out, struct incore_error *e);
