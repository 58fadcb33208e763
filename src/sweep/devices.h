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
