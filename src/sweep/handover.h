/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handover.h: lists the captures of a sweep, for a store. Only those of successful tasks, as
 * recorded in the journal; works also while a driver runs.
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

/* Returning false stops with its error. */
typedef bool (*sweep_capture_fn)(void *ctx, const struct sweep_capture *c, struct incore_error *e);
/* Calls fn once for each capture, in the order of tasks. */
bool sweep_each_capture(const char *dir, sweep_capture_fn fn, void *ctx, struct incore_error *e);
