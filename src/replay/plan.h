/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h: the deciding steps of replay.c, which write nothing. Internal to src/replay. */
#pragma once

#include "replay/replay.h"

/* Finds the task that a request selects: its index in d->tasks, and its block (DUMP_NONE: all). */
bool plan_task(const struct dump *d, const struct replay_request *q, uint32_t *task,
	uint32_t *block, struct incore_error *e);

/* Decides which source runs on which core; checks entry points and that every slot read is
 * supplied. */
bool plan_members(const struct replay_request *q, const struct dump *d, uint32_t task,
	struct replay_report *out, struct incore_error *e);

/* Default lanes of a member if neither the user nor a dump states them: lane 0; both lanes beside a
 * cube kernel; one each for two vector members; 0 for a cube kernel. */
uint8_t plan_usual_lanes(const struct replay_report *r, uint32_t member);
