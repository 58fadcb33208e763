/* SPDX-License-Identifier: Apache-2.0 */
/* task_find.c: finds the selected task; errors for no match or several list the candidates. */
#include <stdio.h>

#include "base/str.h"
#include "dump/read/task_args.h"

#define MOST_LISTED 12

static bool has_member(const int32_t *ids, unsigned n, int32_t id)
{
	for (unsigned i = 0; i < n; i++)
		if (ids[i] == id)
			return true;
	return false;
}

/* Has the task exactly these members, ignoring order and repetition? */
static bool has_members(const struct dump *d, const struct dump_task *t, const struct task_query *q)
{
	int32_t ids[DUMP_MAX_MEMBERS];
	unsigned n = dump_members_of(d, t->members, ids);

	for (unsigned i = 0; i < q->n_funcs; i++)
		if (!has_member(ids, n, q->funcs[i]))
			return false;
	for (unsigned i = 0; i < n; i++)
		if (ids[i] >= 0 && !has_member(q->funcs, q->n_funcs, ids[i]))
			return false;
	return true;
}

static bool has_dispatch(const struct dump *d, const struct dump_task *t, uint64_t dispatch)
{
	for (uint32_t i = 0; i < t->n_copies; i++) {
		const struct dump_extra *x = dump_extra_of(d, d->order[t->first_copy + i]);

		if (x && x->has_dispatch && x->dispatch_id == dispatch)
			return true;
	}
	return false;
}

static bool has_value(
	const struct dump *d, const struct dump_task *t, const struct task_where *where)
{
	const struct dump_slot *s = dump_slot_find(d, t, where->slot);

	for (uint32_t i = 0; s && i < s->n; i++) {
		const struct dump_record *r = &d->records.v[d->order[s->first + i]];

		if (r->kind == DUMP_SCALAR && (r->flags & DUMP_HAS_VALUE) && r->bits == where->bits)
			return true;
	}
	return false;
}

static bool is_meant(const struct dump *d, const struct dump_task *t, const struct task_query *q)
{
	if ((q->has_task && t->id != q->task) ||
		(q->has_dispatch && !has_dispatch(d, t, q->dispatch)) ||
		(q->block != DUMP_NONE && q->block >= t->n_blocks) ||
		(q->n_funcs && !has_members(d, t, q)))
		return false;
	for (unsigned i = 0; i < q->n_where; i++)
		if (!has_value(d, t, &q->where[i]))
			return false;
	return true;
}

bool task_find(
	const struct dump *d, const struct task_query *q, task_list *out, struct incore_error *e)
{
	for (size_t i = 0; i < d->tasks.n; i++)
		if (is_meant(d, &d->tasks.v[i], q) && !VEC_PUSH(out, (uint32_t)i))
			return err_nomem(e);
	return true;
}

static void put_set(struct strbuf *b, const struct dump *d, uint32_t members)
{
	int32_t ids[DUMP_MAX_MEMBERS];
	unsigned n = dump_members_of(d, members, ids);

	for (unsigned i = 0; i < n; i++)
		sb_printf(b, "%s%d", i ? "," : "", (int)ids[i]);
	if (!n)
		sb_puts(b, "not stated");
}

/* " {0,1,2} (4 tasks), {3} (4 tasks)": the member sets in order of first occurrence. */
static void put_sets(struct strbuf *b, const struct dump *d)
{
	uint32_t seen[MOST_LISTED];
	unsigned n = 0;

	for (size_t i = 0; i < d->tasks.n; i++) {
		uint32_t members = d->tasks.v[i].members;
		uint64_t count = 0;
		unsigned k = 0;

		while (k < n && seen[k] != members)
			k++;
		if (k < n)
			continue;
		if (n == MOST_LISTED) {
			sb_puts(b, ", ...");
			return;
		}
		seen[n++] = members;
		for (size_t j = i; j < d->tasks.n; j++)
			count += d->tasks.v[j].members == members;
		sb_printf(b, "%s{", n > 1 ? ", " : "");
		put_set(b, d, members);
		sb_printf(b, "} (%llu task%s)", (unsigned long long)count, count == 1 ? "" : "s");
	}
}

static void put_tasks(struct strbuf *b, const struct dump *d, const task_list *l)
{
	size_t n = l ? l->n : d->tasks.n;

	for (size_t i = 0; i < n && i < MOST_LISTED; i++)
		sb_printf(b, "%s0x%016llx", i ? ", " : "",
			(unsigned long long)d->tasks.v[l ? l->v[i] : i].id);
	if (n > MOST_LISTED)
		sb_printf(b, " and %zu more", n - MOST_LISTED);
}

/* Lists matches of the task id and of the func ids separately, to show which is wrong. */
static bool put_near(
	struct strbuf *b, const struct dump *d, const struct task_query *q, struct incore_error *e)
{
	struct task_query by_func = {.funcs = q->funcs, .n_funcs = q->n_funcs, .block = DUMP_NONE};
	const struct dump_task *named = q->has_task ? dump_task_find(d, q->task) : NULL;
	task_list found = {0};
	bool ok = true;

	if (named && q->n_funcs) {
		sb_puts(b, "; that task has the func ids {");
		put_set(b, d, named->members);
		sb_puts(b, "}");
	}
	if (q->n_funcs && (q->has_task || q->has_dispatch))
		ok = task_find(d, &by_func, &found, e);
	if (found.n) {
		sb_puts(b, "; to the func ids fit ");
		put_tasks(b, d, &found);
	}
	VEC_FREE(&found);
	return ok;
}

static bool complain(const struct dump *d, const struct task_query *q, const task_list *found,
	struct incore_error *e)
{
	struct strbuf b = {0};
	bool is_none = found->n == 0;

	if (is_none && q->n_funcs) {
		sb_puts(&b, "no task fits; the func ids of the tasks are ");
		put_sets(&b, d);
	} else if (is_none) {
		sb_puts(&b, "no task fits; the tasks are ");
		put_tasks(&b, d, NULL);
	} else {
		sb_printf(&b, "%zu tasks fit, one must be named: ", found->n);
		put_tasks(&b, d, found);
	}
	if (is_none && !put_near(&b, d, q, e)) {
		sb_free(&b);
		return false;
	}
	if (b.failed)
		err_nomem(e);
	else
		err_set(e, INCORE_USAGE, is_none ? "no-such-task" : "which-task", "%s: %s",
			d->manifest, b.p);
	sb_free(&b);
	return false;
}

bool task_find_one(
	const struct dump *d, const struct task_query *q, uint32_t *out, struct incore_error *e)
{
	task_list found = {0};
	bool ok = task_find(d, q, &found, e);

	if (ok && found.n == 1)
		*out = found.v[0];
	else
		ok = ok && complain(d, q, &found, e);
	VEC_FREE(&found);
	return ok;
}

uint32_t task_block_of_dispatch(const struct dump *d, uint32_t t, uint64_t dispatch)
{
	const struct dump_task *task = &d->tasks.v[t];
	uint32_t block = DUMP_NONE;

	for (uint32_t i = 0; i < task->n_copies; i++) {
		const struct dump_extra *x = dump_extra_of(d, d->order[task->first_copy + i]);

		if (!x || !x->has_dispatch || x->dispatch_id != dispatch)
			continue;
		if (block != DUMP_NONE && block != x->block_idx)
			return DUMP_NONE;
		block = x->block_idx;
	}
	return block;
}
