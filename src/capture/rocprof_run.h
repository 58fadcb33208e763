/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rocprof_run.h: one run of an application under rocprofv3, in its own folder with input.yaml,
 * which is kept, a log, and what the tool wrote. Owner: texts are in the caller's arena;
 * rocprof_run_deinit() frees the captured output.
 * May fail: rocprof_run_start(), on files and memory, "interrupted"; a failing application is only
 * a status.
 */
#pragma once

#include "answer/option.h"
#include "capture/drive.h"
#include "capture/rocprof.h"
#include "codec/record.h"

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
