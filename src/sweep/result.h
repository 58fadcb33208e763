/* SPDX-License-Identifier: Apache-2.0 */
/*
 * result.h: how one attempt of a task ended. It is written once: result.json of the attempt's
 * folder appears whole and is never replaced, so that of all possible writers (the shim that ran
 * the task; a driver that resumes after a crash and calls it cut) the first one counts, even on a
 * shared folder. An attempt that has a result is over: nobody starts it again.
 * Owner: strings of a result that was read are in the arena.
 */
#pragma once

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"
#include "codec/json_reader.h"

#define SWEEP_RESULT "result.json"
#define SWEEP_RESULT_SCHEMA "incore.sweep.result/1"

struct sweep_result {
	const char *outcome;	    /* ok, failed, timeout, not-started, no-output, unreadable, cut,
				cancelled, machine */
	const char *how;	    /* "exit status 3" */
	const char *host;	    /* where it ran; NULL: not known */
	int64_t status;		    /* as a shell reports it */
	uint64_t begin_ms, wall_ms; /* begin_ms: since 1970 */
	const char *const *captures; /* paths, ends with NULL; may be NULL */
};

/* Parts of "DIR/cells/0007.1/2", the folder of a task's attempt. NULL: no memory. */
const char *sweep_task_name(uint64_t cell, uint64_t repeat, uint64_t repeats, struct arena *a);
const char *sweep_attempt_dir(const char *dir, const char *task, uint32_t attempt, struct arena *a);

/* Writes the result unless one exists; *is_first: this one was written. Creates the folder. */
bool sweep_result_tell(
	const char *attempt_dir, struct str json, bool *is_first, struct incore_error *e);
/* Writes a result on behalf of a process that did not run the task. */
bool sweep_result_claim(const char *attempt_dir, const struct sweep_result *r, bool *is_first,
	struct incore_error *e);
/* *is_there false: no result exists yet. */
bool sweep_result_read(const char *attempt_dir, struct arena *a, struct sweep_result *out,
	bool *is_there, struct incore_error *e);
/* Reads a text or null into the arena; for readers of our own files. */
void sweep_get_text(struct json_reader *r, struct arena *a, const char **out);
uint64_t sweep_now_ms(void);
/* Creates the folder and its missing parents. */
bool sweep_make_folders(const char *path, struct incore_error *e);
