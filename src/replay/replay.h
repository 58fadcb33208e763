/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.h: runs one dispatch of a kernel again, away from the machine it ran on: chooses the task,
 * checks its arguments, creates a workspace and lets a backend run it.
 * Owner: the request is the caller's; a report owns its strings (replay_report_deinit()). May fail:
 * status 2 for a contradictory request, 3 for a dump, spec or source that cannot be replayed, 5 and
 * 6 from the backend. A failure before the workspace is complete leaves nothing; after that the
 * workspace stays, for inspection and to be run by hand.
 */
#pragma once

#include "dump/read/task_args.h"
#include "replay/backend.h"

enum replay_form { /* what the source must be */
	FORM_ANY,
	FORM_ENTRY, /* kernel_entry(int64_t *args) */
	FORM_TYPED  /* typed parameters and a .pto, as PTOAS writes them */
};

struct replay_request {
	const char *dump;     /* NULL: arguments come only from arg_spec */
	bool follow_links;    /* of the dump, out of it */
	const char *arg_spec; /* NULL: only from the dump; else it overrides the dump */
	bool has_task, has_dispatch, has_block;
	uint64_t task, dispatch;
	uint32_t block;
	const int32_t *funcs;
	unsigned n_funcs;
	const char *const *sources;
	unsigned n_sources;
	const char *const *set, *const *restore; /* "SLOT=VALUE", "SLOT" */
	unsigned n_set, n_restore;
	enum kernel_core cores[REPLAY_MAX_MEMBERS]; /* of each source; KERNEL_ON_ANY: detected */
	uint8_t lanes[REPLAY_MAX_MEMBERS]; /* of each vector source (backend.h); 0: detected */
	enum opstream_arch target;
	bool has_target; /* else as stated by the source's .pto */
	enum replay_form form;
	uint32_t n_blocks; /* of an arg-spec replay; 0: 1. With has_block only that one runs */
	const char *const *defines; /* "NAME" or "NAME=VALUE" */
	size_t n_defines;
	const char *const *include_dirs;
	size_t n_include_dirs;
	const struct backend_ops *backend;
	const void *backend_options;
	const char *out_dir; /* NULL: outputs/replay_<label>_<time>, always a new folder */
	const char *command; /* the command line, for the provenance; or NULL */
	bool is_dry, has_debug_lines, force;
	struct progress *progress;
	bool (*is_cancelled)(void *ctx);
	void *cancel_ctx;
};

struct replay_report {
	struct arena arena;
	struct args args;
	const char *workspace, *label;
	const char *wrapper; /* text that calls a kernel with typed parameters by slots; or NULL */
	uint64_t task;	     /* with has_task */
	bool has_task;
	enum kernel_class kernel_class;
	const char *class_reason;
	uint32_t n_members;
	struct replay_member members[REPLAY_MAX_MEMBERS];
	enum opstream_arch target;
	struct replay_outcome outcome;
};

bool replay_run(const struct replay_request *q, struct replay_report *out, struct incore_error *e);
void replay_report_deinit(struct replay_report *r);
