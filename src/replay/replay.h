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
#include "replay/look.h"

/* What is asked; tables of options store in it. plan.h parses the texts. */
struct replay_request {
	const char *dump;  /* NULL: arguments come only from arg_spec */
	bool follow_links; /* of the dump, out of it */
	/* The task: an id in hex or decimal, func ids with commas between; NULL and NO_COUNT: not
	 * stated. With `block` only that one runs. */
	const char *task, *funcs;
	uint64_t dispatch, block;
	struct text_list sources;
	/* Or sources that a kernel_config.py has for the func ids, or for the kernel of a name. */
	const char *case_file, *kernel;
	bool is_module;	       /* case_file is a module with cases, and may go with sources */
	const char *case_name; /* of the module; NULL: its first */
	bool imports_case;     /* the file is a scene test, imported in a sandbox */
	const char *cores;     /* one word per source with commas between; NULL: detected */
	const char *arg_spec;  /* NULL: only from the dump; else it overrides the dump */
	struct text_list set, restore; /* "SLOT=VALUE", "SLOT" */
	unsigned target;     /* enum opstream_arch; NO_CHOICE: as the .pto states, or a2a3 */
	uint64_t n_blocks;   /* of a replay without a dump; NO_COUNT: 1 */
	bool force;	     /* goes on with slots that are known to be wrong */
	const char *out_dir; /* NULL: outputs/replay_<label>_<time>, always a new folder */
	struct replay_means means;
	const char *command; /* the command line, for the provenance; or NULL */
};

struct replay_report {
	struct arena arena;
	struct args args;
	const struct backend_ops *backend;
	const char *workspace, *label;
	const char *wrapper; /* text that calls a kernel with typed parameters by slots; or NULL */
	uint64_t task;	     /* with has_task */
	bool has_task;
	enum kernel_class kernel_class;
	const char *class_reason;
	uint32_t n_members;
	struct replay_member members[REPLAY_MAX_MEMBERS];
	enum opstream_arch target;
	struct look_wants wants; /* what the kernel is expected to do */
	struct look look;	 /* what it did; zero after a dry run */
	struct replay_outcome outcome;
};

bool replay_run(const struct replay_request *q, struct replay_report *out, struct incore_error *e);
void replay_report_deinit(struct replay_report *r);
