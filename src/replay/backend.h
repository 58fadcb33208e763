/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend.h: interface to the backends that run a replay's kernel. A job is complete: its workspace
 * exists, its buffers are files in it, its slots are decided; a backend adds what it needs, runs,
 * and leaves <workspace>/insight_export/OPPROF_<...>/simulator/.
 * Owner: the job belongs to the caller; an outcome's strings live in the arena given with it.
 */
#pragma once

#include "args/args.h"
#include "base/arena.h"
#include "model/record/cores.h"
#include "model/stream/opstream.h"
#include "replay/means.h"

#define REPLAY_MAX_MEMBERS 3 /* one AIC and two AIV sources */

struct replay_member {
	const char *source;    /* path of the kernel source, absolute */
	enum kernel_core core; /* where it runs */
	int32_t func;	       /* or -1 */
	uint8_t lanes;	       /* of a vector kernel: bit 0 for lane 0, bit 1 for lane 1 */
};

struct look_wants;

struct replay_job {
	const struct replay_means *means;
	const char *workspace; /* exists */
	/* As asked for: the module with the kernel, its case, the kernel's name; NULL: not asked. */
	const char *module, *case_name, *asked;
	const char *label; /* "SF", the kernel's name in traces and folders: [A-Za-z0-9_.-]+ */
	enum opstream_arch target;
	enum kernel_class kernel_class;
	uint32_t n_members;
	struct replay_member members[REPLAY_MAX_MEMBERS];
	/* One row per block; written to the workspace (args_write()). The backend marks values
	 * that turn out to decide how much is done (arg.control). */
	struct args *args;
	const struct look_wants *wants; /* what the kernel is expected to do (look.h) */
	bool is_ready;			/* preflight() has passed and need not be repeated */
	const char *wrapped; /* the source that the members only wrap (record.h), or NULL */
};

struct replay_outcome {
	const char *simulator_dir; /* NULL after a dry run */
	bool is_partial;	   /* cut by a time limit: never use it for total time */
	const char *basis;	   /* basis of the figures: profile, versions; or NULL */
	const char *verdict;	   /* one line */
	const char *warning;	   /* or NULL */
	uint64_t steers; /* bit i: scalar code read slot i; 0: the backend does not see it */
	/* What was built, NULL where a backend builds none: the program, the kernel's library, and
	 * the kernel's name in it, as exported and for people. */
	const char *app, *library, *symbol, *demangled;
	struct note *cuts; /* what the exported trace does not hold; n_cuts of them */
	uint32_t n_cuts;
	const char *const *remarks; /* how the run differs from the recorded arguments */
	size_t n_remarks;
};

struct backend_ops {
	const char *name; /* the first word of --backend that names it */
	const char *summary;
	const char *evidence; /* basis of its results: "estimate", "vendor-simulator" */
	bool does_compute;    /* computes values, so inputs are worth generating */
	/* Is everything that a run needs available? Status 5 if a program or library is missing,
	 * with what was searched and where. Uses only the job's target and means; the workspace
	 * may be NULL. */
	bool (*preflight)(const struct replay_job *job, struct incore_error *e);
	bool (*run)(const struct replay_job *job, struct arena *a, struct replay_outcome *out,
		struct incore_error *e);
};

extern const struct backend_ops backend_model, backend_msprof;
const struct backend_ops *backend_of(const struct replay_means *m);
