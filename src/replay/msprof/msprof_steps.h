/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msprof_steps.h: programs of CANN, one after the other, each with a log and a limit of its own, and
 * the collection by msprof: of a simulator, or on the device. What it left is judged by its files,
 * never by what was printed. Who replays a kernel and who captures an application share it.
 * Owner: the caller's arena has all paths; msprof_steps_deinit() frees the texts.
 */
#pragma once

#include "replay/msprof/cann.h"
#include "run/job.h"

#define MSPROF_MAX_WORDS 16

struct msprof_steps {
	struct arena *arena;
	struct cann *cann;
	const char *cwd;	 /* absolute; logs go to its folder logs */
	const char *of;		 /* "the replay", for messages */
	struct journal *journal; /* or NULL */
	int echo_fd;		 /* as of struct job, like the next three */
	bool (*is_cancelled)(void *ctx);
	int (*cancel_signal)(void *ctx);
	void *cancel_ctx;
	struct incore_error *e;
	struct strbuf text;	/* what the last step printed */
	struct strbuf warnings; /* "; " between them */
};
void msprof_steps_deinit(struct msprof_steps *m);
void msprof_warn(struct msprof_steps *m, const char *text); /* NULL: there was no memory for it */

struct msprof_step {
	const char *name; /* of the log, and in messages */
	uint64_t limit_s;
	bool is_judged_by_files; /* its status says little: the caller looks at what it left */
	const char *argv[MSPROF_MAX_WORDS]; /* NULL ends */
	unsigned n;
	bool failed; /* no memory for a word */
};

/* A word of the command; NULL: there was no memory for it. */
void msprof_word(struct msprof_step *s, const char *text);
/* Runs a step from the folder; its log says "$ command", output, "[exit status N]". */
bool msprof_step_run(struct msprof_steps *m, const struct msprof_step *s, struct process_result *r);

struct msprof_collection {
	const char *application; /* as msprof takes it: one text */
	const char *kernel;	 /* NULL: whatever is launched */
	bool is_on_device;	 /* msprof op, not its simulator */
	uint32_t launch_count, minutes;
	uint64_t limit_s;      /* around msprof; 0: its minutes and a margin */
	uint64_t step_limit_s; /* of an export */
	bool is_partial;       /* out: its time was up */
	bool has_success;      /* out: it says so */
	int status;	       /* out: as job_exit_status() */
};
/* Runs msprof, and for an older one its export. The folder that holds the result, new and this
 * run's alone; NULL with an error: "collect-failed", "no-trace", "step-failed", "interrupted". */
const char *msprof_collect(struct msprof_steps *m, struct msprof_collection *c);
