/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handover.h: the captures of a sweep, for whoever keeps captures. Those of tasks that ended well, as
 * the journal has them; also while a driver runs.
 */
#pragma once

#include "sweep/plan.h"

struct sweep_capture { /* borrowed for the call */
	const char *path;
	const char *sweep; /* its name */
	const char *dir;   /* its folder */
	uint64_t cell, repeat;
	struct sweep_pairs params; /* labels of the capture */
};

/* False ends with its error. */
typedef bool (*sweep_capture_fn)(void *ctx, const struct sweep_capture *c, struct incore_error *e);
/* Each of them once, in the order of tasks. */
bool sweep_each_capture(const char *dir, sweep_capture_fn fn, void *ctx, struct incore_error *e);
