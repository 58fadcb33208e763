/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devices.h: the accelerators of this host: which exist, how to make only some of them visible to a
 * program, and whether one still works. Uses only the vendors' own files and tools.
 * Owner: the arena. Threads: sweep_device_check() any number at once, each with its own arena.
 */
#pragma once

#include "sweep/plan.h"

struct sweep_device {
	const char *id;	    /* "amd:0" */
	const char *number; /* its number: "0" */
};
struct sweep_devices {
	struct sweep_device *v;
	size_t n;
};

/* Returns the devices that the plan names, or else those found; an empty list is not a failure. */
bool sweep_devices_find(const struct sweep_plan *p, struct arena *a, struct sweep_devices *out,
	struct incore_error *e);
/* Environment variables that make only these n devices of one kind visible; ends with NULL. NULL:
 * no memory. */
const char *const *sweep_visibility(const struct sweep_device *const *d, size_t n, struct arena *a);
/* *why: what is wrong with the device, in the arena; NULL: no known problem. May fail:
 * resources. */
bool sweep_device_check(const struct sweep_plan *p, const struct sweep_device *d, struct arena *a,
	const char **why, struct incore_error *e);
