/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.h: somebody else's program under a guard (base/process.h), with what a driver needs around
 * it: a log that cannot fill the disk, the end of what it printed for messages, lines of a journal,
 * an exit status to pass on.
 * Owner: the caller owns all strings; job_result_deinit() frees the tail. Threads: any number at
 * once, each with its own journal. May fail: job_run() on resources, the log, the journal; a
 * program that is missing, fails, hangs or is killed is an answer.
 */
#pragma once

#include "base/arena.h"
#include "base/process.h"
#include "run/journal.h"

struct job {
	const char *name;	 /* of what is done: "discovery"; for the journal */
	const char *const *argv; /* as of struct process_spec, like the next five */
	const char *cwd;
	const char *const *env;
	uint64_t limit_ms, grace_ms;
	const int *held;
	unsigned n_held;
	const char *log_path;	 /* made anew; NULL: no log */
	uint64_t max_log_bytes;	 /* of output in it: half of it at most is the beginning, the rest
				   the end as far as the tail has it; 0: 8 MiB */
	int echo_fd;		 /* all output goes there too; 0: nowhere */
	struct strbuf *output;	 /* and there, 64 MiB at most; NULL: nowhere */
	struct journal *journal; /* gets a line at the start and one at the end; NULL: none */
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
/* What a shell would say: the exit status, 128 + the signal, 124 where its time was up, 127 where
 * it could not be started. */
int job_exit_status(const struct process_result *r);
/* "exit status 3", ...; as process_describe(). */
void job_describe(const struct job *j, const struct process_result *r, struct strbuf *out);
/* The last line that it printed, blank ones passed over; "": none. */
struct str job_last_line(const struct job_result *r);
/* What a program prints when it is asked ("--version"), in the arena; NULL: it cannot answer
 * ("tool-failed"), or memory. */
const char *job_ask(const char *path, const char *option, struct arena *a, struct incore_error *e);
