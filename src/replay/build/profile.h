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
#include "replay/source/kernel_config.h"

enum profile_status {
	PROFILE_NOT_RUN,
	PROFILE_STARTED,
	PROFILE_EXPORTED,
	PROFILE_COLLECT_FAILED, /* the simulator failed */
	PROFILE_FAILED,		/* anything else: source, .pto, compiler */
};
const char *profile_status_name(enum profile_status s); /* "exported", ... */

/* What is asked; tables of options store in it. */
struct profile_request {
	const char *build_dir;
	const char *script;	 /* that made the build; NULL: not known */
	bool makes_bundles;	 /* a folder with all of it for each kernel, below the run folder */
	struct text_list funcs;	 /* names or stems; empty: all */
	unsigned target;	 /* enum profile_target */
	const char *output_root; /* NULL: the build directory */
	const char *name;	 /* prefix of the run folder, before the time */
	bool resumes;		 /* the latest run folder of that name instead of a new one */
	bool ends_at_failure;	 /* stops at the first failed kernel: no other one is started */
	bool needs_values;	 /* a kernel fails if what decides how much it does is not given */
	struct replay_means means;
	struct testcase_options testcase;
	const char *dump;  /* supplies arguments of kernels that it has, by name; may be NULL */
	bool follow_links; /* of the dump, out of it */
	struct pool *pool;
	/* Called after each kernel, one call at a time: "[01/03] OK k: ..." */
	void (*on_line)(void *ctx, const char *line);
	void *ctx;
};
#define PROFILE_TARGETS "auto|a2a3|a5"
enum profile_target { PROFILE_ANY_TARGET, PROFILE_A2A3, PROFILE_A5 }; /* any: as each .pto states */

struct profile_row {
	struct build_kernel kernel;
	enum profile_status status;
	const char *folder;    /* its workspace */
	const char *simulator; /* NULL: none */
	/* What was built and launched; "" where the backend does not say. */
	const char *symbol, *demangled, *app, *library, *collect;
	const char *bundle; /* "" where none was asked for */
	uint64_t cycles;    /* of its longest core; 0: not known */
	const char *bound;  /* what limits it, one word or pipe; or "" */
	bool is_degenerate;
	uint64_t links_left; /* that have no line in MindStudio Insight */
	uint32_t n_core_traces, n_csv;
	double seconds;
	const char *made_up; /* values that decide how much it does and that nobody gave; "" */
	const char *assumed; /* those that follow from the .pto: it works at full shape; "" */
	const char *message; /* one line; "" */
	const char *workload;
};

struct profile_run {
	struct arena arena; /* guarded by the run's lock while it runs */
	const char *root;   /* the run folder */
	const struct backend_ops *backend;
	VEC(struct profile_row) rows;
	config_kernels config; /* of the build, if a dump is given: names of func ids */
	uint32_t n_exported;
};

bool profile_run(const struct profile_request *q, struct profile_run *out, struct incore_error *e);
void profile_run_deinit(struct profile_run *r);
