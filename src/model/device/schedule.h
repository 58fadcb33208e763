/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule.h: a whole step on so many cores: every task starts as soon as what it waits for has ended and
 * a core is free, in the order in which tasks become ready; kernels take what the model says, or, where
 * it says nothing, what the device took.
 * Owner: schedule_deinit(). May fail: on memory, and (status 3) on tasks that wait for each other.
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
	double span_us;			 /* from the first start to the last end */
	double kernels_us;		 /* of kernels on the path; the rest is between them */
	uint32_t hops;			 /* runs on it */
	VEC(struct schedule_part) parts; /* longest first */
};

struct schedule {
	VEC(struct swim_run) runs; /* by start; ns; cores: first AIC, then AIV */
	VEC(uint32_t) cause;	   /* the run before it on the path, or SCHEDULE_NONE */
	struct critical_path path;
	double busy_aic, busy_aiv; /* share of the span that cores of the kind are at work */
	unsigned n_measured;	   /* kernels whose time is the device's own */
};

/* Estimates the kernels of d with the load that the schedule itself makes. */
bool schedule_make(struct schedule *s, struct device_step *d, const struct schedule_options *o,
	struct incore_error *e);
/* The device's own: what the runs that were recorded waited for. */
bool schedule_recorded(struct schedule *s, const struct device_step *d, struct incore_error *e);
void schedule_deinit(struct schedule *s);
/* The schedule as a trace: a slice is a task, a code row a kernel. */
bool schedule_to_trace(const struct schedule *s, const struct device_step *d,
	const struct schedule_options *o, struct trace **out, struct incore_error *e);
