/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rocprof.h: the installed rocprofv3: its path, release and options. Releases differ in their
 * options, so its help is read, and it is passed only options that its help names. Owner: the
 * caller's arena. May fail: rocprof_find(), with status MISSING if it is not installed.
 */
#pragma once

#include "base/arena.h"
#include "base/process.h"

struct rocprof {
	const char *path;
	const char *version; /* "1.4.1"; "": not stated */
	unsigned release;    /* 10401; 0: not known */
	const char *help;    /* what --help prints */
};

/* A known defect of some releases. */
struct rocprof_fault {
	unsigned from, to; /* releases, inclusive */
	const char *id, *what, *fix;
};
extern const struct rocprof_fault rocprof_faults[]; /* id NULL ends */
bool rocprof_has_fault(const struct rocprof *r, const struct rocprof_fault *f);

/* given: the program to use; NULL: search PATH, then $ROCM_PATH/bin, then /opt/rocm/bin. */
bool rocprof_find(struct rocprof *out, const char *given, struct arena *a, struct incore_error *e);
/* Does its help name the option ("--att-activity")? */
bool rocprof_has(const struct rocprof *r, const char *option);
/* "1.4.1" as 10401; 0: the text has no version. */
unsigned release_of(const char *text, struct str *found);
