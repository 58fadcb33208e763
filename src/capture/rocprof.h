/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rocprof.h: the installed rocprofv3: its path, release and options. Releases differ in their
 * options, so its help is read, and it is passed only options that its help names. Owner: the
 * caller's arena. May fail: rocprof_find(), with status MISSING if it is not installed.
 */
#pragma once

#include "answer/option.h"
#include "base/arena.h"
#include "base/process.h"
#include "capture/drive.h"
#include "codec/record.h"

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

/* --- one run --- */
struct rocprof_run {
	const char *input, *configuration, *command, *log, *outcome;
	int64_t status;			 /* exit status of rocprofv3: that of the application */
	const char *name, *folder, *raw; /* name: of the folder */
	const char *const *argv;
	struct job_result result;
};
extern const struct record rocprof_run_record; /* part of a driver's answer */

/* Set the paths of DIR/NAME and its files, and the command: to attach to a running process
 * (attach_pid) or, with NO_COUNT, to start the application. False: out of memory. */
bool rocprof_run_place(struct rocprof_run *t, const char *dir, const char *name, struct arena *a);
bool rocprof_run_command(struct rocprof_run *t, const struct rocprof *tool, const char *const *app,
	uint64_t attach_pid, struct arena *a);
/* Executes the run; any exit status is stored in it and is not an error. */
bool rocprof_run_start(struct rocprof_run *t, const struct drive *f, uint64_t limit_s,
	struct journal *journal, struct incore_error *e);
struct str rocprof_run_said(const struct rocprof_run *t); /* the end of what it printed */
/* Sets the error of a run that failed, "app-failed". Always returns false. */
bool rocprof_run_failed(const struct rocprof_run *t, uint64_t limit_s, struct incore_error *e);
/* Removes what the tool wrote, unless keeps_raw is set. */
void rocprof_run_clear(const struct rocprof_run *t, bool keeps_raw);
void rocprof_run_deinit(struct rocprof_run *t);

/* --- input.yaml --- */
void rocprof_put_key(struct strbuf *out, const char *key, const char *value); /* a quoted text */
void rocprof_put_head(const struct rocprof *tool, const char *verb, const char *const *app,
	const char *because, struct strbuf *out);
