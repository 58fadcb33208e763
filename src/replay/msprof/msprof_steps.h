/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msprof_steps.h: runs programs of CANN one after the other, each with its own log and time limit,
 * and the collection by msprof: of a simulator, or on the device. Its files decide about success,
 * never what was printed. Shared by the replay of a kernel and the capture of an application.
 * Owner: the caller's arena has all paths; msprof_steps_deinit() frees the texts.
 */
#pragma once

#include "replay/msprof/cann.h"
#include "run/job.h"

struct msprof_steps {
	struct arena *arena;
	struct cann *cann;
	const char *cwd;	 /* absolute; logs go to its folder logs */
	const char *of;		 /* "the replay", for messages */
	struct journal *journal; /* or NULL */
	int echo_fd;		 /* as in struct job, like the next three */
	bool (*is_cancelled)(void *ctx);
	int (*cancel_signal)(void *ctx);
	void *cancel_ctx;
	struct incore_error *e;
	struct strbuf text;	/* what the last step printed */
	struct strbuf warnings; /* "; " between them */
};
void msprof_steps_deinit(struct msprof_steps *m);
void msprof_warn(struct msprof_steps *m, const char *text); /* text NULL: out of memory */

struct msprof_collection {
	const char *application; /* as msprof expects it: one text */
	const char *kernel;	 /* NULL: any kernel */
	bool is_on_device;	 /* msprof op, not its simulator */
	uint32_t launch_count, minutes;
	uint64_t limit_s;      /* around msprof; 0: its minutes and a margin */
	uint64_t step_limit_s; /* of an export */
	bool is_partial;       /* out: its time limit ended it */
	bool has_success;      /* out: it reports success */
	int status;	       /* out: as job_exit_status() */
};
/* Runs msprof and, for an older version, its export. Returns the folder with the result, which is
 * new and only of this run; NULL with an error: "collect-failed", "no-trace", "step-failed",
 * "interrupted". */
const char *msprof_collect(struct msprof_steps *m, struct msprof_collection *c);
