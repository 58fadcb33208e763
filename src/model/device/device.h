/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h: compares the kernels of a step with the model: how long a device took for each, what
 * the model estimates under the load that they put on each other, and how far the two differ.
 * Owner: device_deinit(); swimlane and streams are the caller's and must outlive it.
 * May fail: as engine_run() does.
 */
#pragma once

#include "model/device/swimlane.h"
#include "model/engine/engine.h"

struct device_kernel {
	const struct swim_kernel *k;
	const struct opstream_set *set; /* its op streams; NULL: not known, see `why` */
	const char *why;
	bool is_check;	  /* not used to fit constants: every second by name */
	double device_us; /* median over its runs; 0: it did not run */
	double cores;	  /* number that run it at the same time */
	double others;	  /* cores of other kernels, weighted by their memory duty */
	double duty;	  /* share of its own time in which it uses the memory */
	double estimate_us;
	double error; /* estimate / device - 1 */
	uint16_t cold_permille[OPSTREAM_SLOTS];
};

struct device_step {
	const struct swimlane *s;
	VEC(struct device_kernel) kernels; /* by name */
	double *overlap; /* [k * n + j]: cores of j at work while k is, on average */
};

enum kernel_kind device_kind_of(const struct swim_kernel *k);

struct device_error { /* over kernels with both an estimate and a time */
	unsigned n;
	double mean, worst,
		bias; /* mean of |error|, the largest of them, mean of the signed ones */
	const char *worst_name;
	double low, high; /* device / estimate: range of four fifths of the kernels */
};

bool device_init(struct device_step *d, const struct swimlane *s, struct incore_error *e);
void device_deinit(struct device_step *d);
/* Sets the op streams of a kernel, and thereby which of its arguments come from HBM. */
void device_attach(struct device_step *d, size_t i, const struct opstream_set *set);
/* Computes which kernels overlap, from runs sorted by start. */
void device_overlap(struct device_step *d, const struct swim_run *runs, size_t n);
/* Estimates every kernel with known op streams; without load as if each ran alone. */
bool device_estimate(
	struct device_step *d, const struct profile *p, bool with_load, struct incore_error *e);
/* which: -1 all, 0 kernels that may set constants, 1 the others. kind: enum kernel_kind, -1 all. */
struct device_error device_error_of(const struct device_step *d, int which, int kind);
