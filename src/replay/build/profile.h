/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.h: every kernel of a build, run and ranked. Kernels run in parallel, each in a folder of
 * its own; the list of results is written anew, whole, after each of them, so that an interrupted
 * run can be taken up again.
 * Owner: profile_run_deinit(). May fail: status 2 and 3 before anything runs, 6 where the lists
 * cannot be written; a kernel that fails is a row, not a failure.
 */
#pragma once

#include "base/pool.h"
#include "replay/arguments/testcase.h"
#include "replay/backend.h"
#include "replay/build/discover.h"

enum profile_status {
	PROFILE_NOT_RUN,
	PROFILE_STARTED,
	PROFILE_EXPORTED,
	PROFILE_COLLECT_FAILED, /* the simulator failed */
	PROFILE_FAILED,		/* anything else: source, .pto, compiler */
};
const char *profile_status_name(enum profile_status s); /* "exported", ... */

struct profile_request {
	const char *build_dir;
	const char *const *funcs; /* names or stems; none: all */
	unsigned n_funcs;
	bool has_target; /* else as each .pto says, a2a3 where it does not */
	enum replay_target target;
	const char *output_root; /* NULL: the build directory */
	const char *name;	 /* of the run folder, before its time */
	bool ends_at_failure;	 /* of the first kernel: what has not begun is not run */
	bool needs_values;	 /* a kernel whose control tensors nobody supplied fails */
	const char *resume;	 /* a run folder to take up again; NULL: a new one */
	const struct backend_ops *backend;
	const void *backend_options;
	struct testcase_options testcase;
	const char *dump;  /* arguments by kernel name, where the dump has the kernel; NULL: none */
	bool follow_links; /* of the dump, out of it */
	const char *const *defines; /* "NAME" or "NAME=VALUE" */
	size_t n_defines;
	const char *const *include_dirs;
	size_t n_include_dirs;
	struct pool *pool;
	/* Told after each kernel, one at a time: "[01/03] OK k: ..." */
	void (*on_line)(void *ctx, const char *line);
	void *ctx;
	bool (*is_cancelled)(void *ctx);
	void *cancel_ctx;
};

struct profile_row {
	struct build_kernel kernel;
	enum profile_status status;
	const char *folder;    /* its workspace */
	const char *simulator; /* NULL: none */
	uint64_t cycles;       /* of its longest core; 0: not known */
	const char *bound;     /* what it is bound by, one word or pipe; "" */
	bool is_degenerate;
	uint32_t n_core_traces, n_csv;
	double seconds;
	const char *message; /* one line; "" */
	const char *workload;
};

struct profile_run {
	struct arena arena; /* guarded by the run's lock while it runs */
	const char *root;   /* the run folder */
	const char *symbol; /* of the backend */
	VEC(struct profile_row) rows;
	uint32_t n_exported;
};

bool profile_run(const struct profile_request *q, struct profile_run *out, struct incore_error *e);
void profile_run_deinit(struct profile_run *r);

/* profile.txt in the folder of a kernel that ran: what a run that is taken up again needs to know. */
bool profile_write_kernel(const struct profile_row *k, struct incore_error *e);
/* manifest_export.csv, summary.txt and overview.tsv of the run folder, each whole. */
bool profile_write_lists(const struct profile_run *r, struct incore_error *e);
/* Fills rows that an earlier run exported, by name and source; without a manifest: none. */
bool profile_read_manifest(struct profile_run *r, struct incore_error *e);

/* Cycles, bound and degenerate state of a simulator directory; for profile.c. */
struct profile_facts {
	uint64_t cycles;
	const char *bound, *degenerate; /* in the arena; degenerate NULL: it is not */
	uint32_t n_core_traces, n_csv;
};
bool profile_look(struct arena *a, const char *simulator, bool wants_cube, bool wants_vector,
	struct profile_facts *out, struct incore_error *e);
