/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h: the deciding steps of replay.c, which write nothing. Internal to src/replay. */
#pragma once

#include "replay/replay.h"
#include "replay/source/kernel_config.h"

#define PLAN_MAX_FUNCS 16

/* What the words of a request say. */
struct replay_plan {
	const struct replay_request *q;
	const struct backend_ops *backend;
	bool has_task;
	uint64_t task;
	int32_t funcs[PLAN_MAX_FUNCS];
	unsigned n_funcs;
	const char *const *sources;
	size_t n_sources;
	const char *found[PLAN_MAX_FUNCS]; /* sources that q->case_file has */
	const struct config_case *chosen;  /* of the module; NULL: it has none */
	const char *name;		   /* of the only kernel, in the case; NULL: not known */
	enum kernel_core cores[REPLAY_MAX_MEMBERS]; /* of each source; KERNEL_ON_ANY: detected */
	uint8_t lanes[REPLAY_MAX_MEMBERS]; /* of each vector source (backend.h); 0: detected */
	enum opstream_arch target;
	uint32_t n_blocks; /* 0: not stated */
};

/* Parses and checks them; strings live in the arena. False with status USAGE, or because of the
 * case's file. */
bool plan_read(const struct replay_request *q, struct arena *a, struct replay_plan *out,
	struct incore_error *e);

/* Finds the task that a request selects: its index in d->tasks, and its block (DUMP_NONE: all). */
bool plan_task(const struct dump *d, const struct replay_plan *p, uint32_t *task, uint32_t *block,
	struct incore_error *e);

/* Decides which source runs on which core; checks entry points and that every slot read is
 * supplied. */
bool plan_members(const struct replay_plan *p, const struct dump *d, uint32_t task,
	struct replay_report *out, struct incore_error *e);

/* Default lanes of a member if neither the user nor a dump states them: lane 0; both lanes beside a
 * cube kernel; one each for two vector members; 0 for a cube kernel. */
uint8_t plan_usual_lanes(const struct replay_report *r, uint32_t member);
