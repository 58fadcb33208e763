/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loss.h: losses that are not yet in the log, by thread, task and cause. Adding cannot fail:
 * without memory or at the limit only the task is dropped (LOSS_NO_TASK), never the count.
 */
#pragma once

#include "base/vec.h"
#include "dump/log_types.h"

#define LOSS_NO_TASK UINT64_MAX
#define LOSS_MOST 65536
#define LOSS_CAUSES 7

struct loss {
	uint16_t thread;
	struct log_loss what;
};

struct loss_table {
	VEC(struct loss) list;
	struct loss rest[LOSS_CAUSES]; /* by cause, without the task */
	bool has_rest;
};

static inline bool loss_is_empty(const struct loss_table *t)
{
	return t->list.n == 0 && !t->has_rest;
}

void loss_add(struct loss_table *t, uint16_t thread, const struct log_loss *what);
/* Removes and returns one entry; false if the table is empty. */
bool loss_take(struct loss_table *t, struct loss *out);
/* Moves all entries of `from` to `to`. */
void loss_move(struct loss_table *to, struct loss_table *from);
void loss_deinit(struct loss_table *t);
