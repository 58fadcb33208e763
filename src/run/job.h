/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.h: runs an external program under a guard (base/process.h), with what a driver needs: a log
 * that cannot fill the disk, the end of the program's output for messages, lines in a journal, an
 * exit status to pass on.
 * Owner: the caller owns all strings; job_result_deinit() frees the tail. Threads: any number at
 * once, each with its own journal. May fail: job_run() on resources, the log, the journal; a
 * program that is missing, fails, hangs or is killed is a result, not a failure.
 */
#pragma once

#include "base/arena.h"
#include "base/process.h"
#include "run/journal.h"

struct job {
	const char *name;	 /* of the step: "discovery"; for the journal */
	const char *const *argv; /* as in struct process_spec, like the next five */
	const char *cwd;
	const char *const *env;
	uint64_t limit_ms, grace_ms;
	const int *held;
	unsigned n_held;
	const char *log_path;	 /* created or replaced; NULL: no log */
	uint64_t max_log_bytes;	 /* of output in it: half of it at most is the beginning, the rest
				   the end as far as the tail has it; 0: 8 MiB */
	int echo_fd;		 /* also receives all output; 0: unused */
	struct strbuf *output;	 /* also receives it, up to 64 MiB; NULL: unused */
	struct journal *journal; /* gets a line at the start and one at the end; may be NULL */
	bool (*is_cancelled)(void *ctx);
	int (*cancel_signal)(void *ctx);
	void *ctx;
};

struct job_result {
	struct process_result process;
	struct strbuf tail; /* the last of its output, at most JOB_TAIL_BYTES; ends in NUL */
	uint64_t output_bytes;
};
#define JOB_TAIL_BYTES ((size_t)256 << 10)

bool job_run(const struct job *j, struct job_result *out, struct incore_error *e);
void job_result_deinit(struct job_result *r);
/* The status that a shell would report: the exit status, 128 + the signal, 124 after a timeout, 127
 * if it could not be started. */
int job_exit_status(const struct process_result *r);
/* "exit status 3", ...; as process_describe(). */
void job_describe(const struct job *j, const struct process_result *r, struct strbuf *out);
/* The last non-blank line that it printed, or "". */
struct str job_last_line(const struct job_result *r);
/* Runs `path option` ("--version") and returns its output in the arena; NULL: it failed
 * ("tool-failed"), or out of memory. */
const char *job_ask(const char *path, const char *option, struct arena *a, struct incore_error *e);
