/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.h: runs an external program to its end. It gets a process group of its own and a guard
 * process that kills the whole group when its time is up, when it has ended and left children, or
 * when this program dies, however it dies: nothing started here outlives us. A process that leaves
 * the group (setsid, a daemon) becomes a child of the guard when its parent ends; it is killed too.
 * Owner: the caller owns all strings and the output buffer. Threads: any number at once.
 * May fail: process_run(), only for lack of resources; a program that is missing, fails or is
 * killed is a result, not a failure.
 */
#pragma once

#include "base/str.h"
#include "base/walls.h"

#define PROCESS_MAX_HELD 32u

enum process_end {
	PROCESS_EXITED,	   /* code: its exit status */
	PROCESS_SIGNALLED, /* code: the signal */
	PROCESS_TIMED_OUT,
	PROCESS_CANCELLED,
	PROCESS_NOT_STARTED, /* code: errno of exec or chdir */
};

struct process_spec {
	const char *const *argv; /* NULL ends; argv[0] without a '/' is looked up in its own PATH */
	const char *cwd;	 /* NULL: ours */
	const char *const *env;	 /* "K=V", overrides our environment; NULL ends; NULL: none */
	bool is_env_whole;	 /* env is its whole environment */
	const struct walls *walls; /* sandbox for it and its children; NULL: none */
	struct str input;	   /* its standard input */
	struct strbuf *output;	   /* standard output and error, merged; NULL: dropped */
	size_t max_output_bytes;   /* the rest is read and dropped; 0: 64 MiB */
	int log_fd;		   /* a copy of all output goes there; 0 or less: none */
	/* Callback for all output as it comes; false: it could not be kept. May be NULL. */
	bool (*on_output)(void *ctx, const char *p, size_t n);
	void *output_ctx;
	uint64_t limit_ms;     /* wall clock; 0: none */
	uint64_t memory_bytes; /* of each of its processes; 0: no limit */
	unsigned grace_ms;     /* between SIGTERM and SIGKILL; 0: 2,000 */
	/* Descriptors of locks on what the program uses: the guard keeps them open until nothing of
	 * the program is left, however we end. At most PROCESS_MAX_HELD. */
	const int *held;
	unsigned n_held;
	/* Called every 50 ms: true ends the program. NULL: never. */
	bool (*is_cancelled)(void *ctx);
	void *cancel_ctx;
	/* The signal to send to a cancelled program: the one that we received. NULL: SIGTERM. */
	int (*cancel_signal)(void *ctx);
};

struct process_result {
	enum process_end end;
	int code;
	uint64_t wall_ms;
	bool is_output_cut;
};

bool process_run(
	const struct process_spec *spec, struct process_result *out, struct incore_error *e);

/* "exit status 3", "killed by signal 9", "not done after 300 s", ... */
void process_describe(
	const struct process_spec *spec, const struct process_result *r, struct strbuf *out);

/* The command as a shell would take it, quoted where needed. */
void process_quote(const char *const *argv, struct strbuf *out);

/* The path that argv[0] resolves to, on the heap; NULL: not in PATH (or no memory). */
char *process_find(const char *name);
