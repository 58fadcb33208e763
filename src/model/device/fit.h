/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fit.h: constants of the memory, the launch and the scalar pipe from the times of a device: the sum of
 * squares of log(estimate / device) over the kernels is made small, values never negative.
 * May fail: status 3 where fewer kernels than constants have a time. Threads: as engine_run().
 */
#pragma once

#include "model/device/device.h"
#include "model/profile/least_squares.h"

struct fit_value {
	enum prof_key key;
	double before, after;
	double effect;	 /* largest change of an estimate, relative, by a change of a fifth */
	const char *why; /* it was left as it is because; NULL: fitted */
};

struct device_fit {
	struct fit_value v[MAX_UNKNOWNS];
	unsigned n;
	struct device_error before, after; /* over the rows that were fitted to */
	double left_out; /* mean |error| of each row by a fit without it (linear in the constants) */
};

/* The constants that are fitted where none are named; their number. */
unsigned device_fit_keys(enum prof_key keys[MAX_UNKNOWNS]);
/* Changes p. only_fit_rows: check rows are not looked at. */
bool device_fit_run(struct device_step *d, struct profile *p, const enum prof_key *keys, unsigned n,
	bool only_fit_rows, struct device_fit *out, struct incore_error *e);
