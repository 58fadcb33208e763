/* SPDX-License-Identifier: Apache-2.0 */
/* loss.c: counting what was lost. */
#include "dump/loss.h"

#include <stdint.h>

#include "base/mem.h"

#define LOOK_BACK 16 /* losses of one task come in sequence */

static void add_to(struct loss *l, const struct log_loss *what)
{
	l->what.records += what->records;
	l->what.bytes += what->bytes;
}

void loss_add(struct loss_table *t, uint16_t thread, const struct log_loss *what)
{
	size_t stop = t->list.n > LOOK_BACK ? t->list.n - LOOK_BACK : 0;
	struct loss *rest = &t->rest[what->cause < LOSS_CAUSES ? what->cause : 0];

	for (size_t i = t->list.n; i-- > stop;) {
		struct loss *l = &t->list.v[i];

		if (l->thread == thread && l->what.task_id == what->task_id &&
			l->what.cause == what->cause) {
			add_to(l, what);
			return;
		}
	}
	if (t->list.n < LOSS_MOST && VEC_PUSH(&t->list, (struct loss){thread, *what}))
		return;
	t->has_rest = true;
	rest->thread = thread;
	rest->what.task_id = LOSS_NO_TASK;
	rest->what.cause = what->cause;
	add_to(rest, what);
}

bool loss_take(struct loss_table *t, struct loss *out)
{
	if (t->list.n > 0) {
		*out = t->list.v[--t->list.n];
		return true;
	}
	for (unsigned i = 0; i < LOSS_CAUSES; i++)
		if (t->rest[i].what.records || t->rest[i].what.bytes) {
			*out = t->rest[i];
			t->rest[i] = (struct loss){0};
			return true;
		}
	t->has_rest = false;
	return false;
}

void loss_move(struct loss_table *to, struct loss_table *from)
{
	struct loss l;

	while (loss_take(from, &l))
		loss_add(to, l.thread, &l.what);
}

void loss_deinit(struct loss_table *t)
{
	VEC_FREE(&t->list);
}
