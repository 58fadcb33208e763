/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rocprof.h: the rocprofv3 that is installed: where, which release, which options. Releases differ
 * in their options, so it is asked, and nothing is given to it that it does not name itself.
 * Owner: the caller's arena. May fail: rocprof_find(), with status MISSING where there is none.
 */
#pragma once

#include "base/arena.h"
#include "base/process.h"

struct rocprof {
	const char *path;
	const char *version; /* "1.4.1"; "": it does not say */
	unsigned release;    /* 10401; 0: not known */
	const char *help;    /* what --help prints */
};

/* A release that is known to go wrong. */
struct rocprof_fault {
	unsigned from, to; /* releases, both included */
	const char *id, *what, *fix;
};
extern const struct rocprof_fault rocprof_faults[]; /* id NULL ends */
bool rocprof_has_fault(const struct rocprof *r, const struct rocprof_fault *f);

/* given: the program to take; NULL: PATH, then $ROCM_PATH/bin, then /opt/rocm/bin. */
bool rocprof_find(struct rocprof *out, const char *given, struct arena *a, struct incore_error *e);
/* Does its help name the option ("--att-activity")? */
bool rocprof_has(const struct rocprof *r, const char *option);
/* "1.4.1" as 10401; 0: no version stands there. */
unsigned release_of(const char *text, struct str *found);
