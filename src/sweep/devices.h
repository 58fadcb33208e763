/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devices.h: the accelerators of this host: which are there, how a program is shown some of them and
 * no others, and whether one still works. Only what the vendors' own files and tools say.
 * Owner: the arena. Threads: sweep_device_check() any number at once, each with its own arena.
 */
#pragma once

#include "sweep/plan.h"

struct sweep_device {
	const char *id;	    /* "amd:0" */
	const char *number; /* of it: "0" */
};
struct sweep_devices {
	struct sweep_device *v;
	size_t n;
};

/* Those that the plan names, or that are found; none is no failure. */
bool sweep_devices_find(const struct sweep_plan *p, struct arena *a, struct sweep_devices *out,
	struct incore_error *e);
/* Variables that show a program these n devices of one kind; ends with NULL. NULL: no memory. */
const char *const *sweep_visibility(const struct sweep_device *const *d, size_t n, struct arena *a);
/* *why: what is wrong with it, in the arena; NULL: nothing that is known. May fail: resources. */
bool sweep_device_check(const struct sweep_plan *p, const struct sweep_device *d, struct arena *a,
	const char **why, struct incore_error *e);
