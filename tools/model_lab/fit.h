/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fit.h: fits constants of the memory, the launch and the scalar pipe to the times of a device:
 * minimises the sum of squares of log(estimate / device) over the kernels; values are never
 * negative. May fail: status 3 if fewer kernels than constants have a time. Threads: as
 * engine_run().
 */
#pragma once

#include "model/device/device.h"
#include "model_lab/least_squares.h"

struct fit_value {
	enum prof_key key;
	double before, after;
	double effect;	 /* largest relative change of an estimate if it changes by a fifth */
	const char *why; /* reason why it was not fitted, or NULL */
};

struct device_fit {
	struct fit_value v[MAX_UNKNOWNS];
	unsigned n;
	struct device_error before, after; /* over the rows used for the fit */
	double left_out; /* mean |error| of each row under a fit without it (linearised) */
};

/* Fills in the constants that are fitted by default; returns their number. */
unsigned device_fit_keys(enum prof_key keys[MAX_UNKNOWNS]);
/* Changes p. only_fit_rows: ignores check rows. */
bool device_fit_run(struct device_step *d, struct profile *p, const enum prof_key *keys, unsigned n,
	bool only_fit_rows, struct device_fit *out, struct incore_error *e);
