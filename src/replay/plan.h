/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h: steps of replay.c that decide and write nothing. Internal to the room. */
#pragma once

#include "replay/replay.h"

/* The task meant by a request: its index in d->tasks, and its block (DUMP_NONE: all). */
bool plan_task(const struct dump *d, const struct replay_request *q, uint32_t *task,
	uint32_t *block, struct incore_error *e);

/* Which source runs on which core; checks entry points and that every slot read is supplied. */
bool plan_members(const struct replay_request *q, const struct dump *d, uint32_t task,
	struct replay_report *out, struct incore_error *e);

/* The lanes of a member where neither the user nor a dump says: lane 0, both beside a cube kernel, one
 * each of two; 0 for a cube kernel. */
uint8_t plan_usual_lanes(const struct replay_report *r, uint32_t member);
