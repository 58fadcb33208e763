/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.h: runs and ranks every kernel of a build. Kernels run in parallel, each in its own
 * folder; the list of results is rewritten after each of them, so that an interrupted run can be
 * resumed.
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
	const char *const *funcs; /* names or stems; n_funcs 0: all */
	unsigned n_funcs;
	bool has_target; /* else as each .pto states, a2a3 by default */
	enum opstream_arch target;
	const char *output_root; /* NULL: the build directory */
	const char *name;	 /* prefix of the run folder, before the time */
	bool ends_at_failure;	 /* stops at the first failed kernel: no other one is started */
	bool needs_values;	 /* a kernel with unsupplied control tensors fails */
	const char *resume;	 /* a run folder to resume; NULL: a new one */
	const struct backend_ops *backend;
	const void *backend_options;
	struct testcase_options testcase;
	const char *dump;  /* supplies arguments of kernels that it has, by name; may be NULL */
	bool follow_links; /* of the dump, out of it */
	const char *const *defines; /* "NAME" or "NAME=VALUE" */
	size_t n_defines;
	const char *const *include_dirs;
	size_t n_include_dirs;
	struct pool *pool;
	/* Called after each kernel, one call at a time: "[01/03] OK k: ..." */
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
	const char *bound;     /* what limits it, one word or pipe; or "" */
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
