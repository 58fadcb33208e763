/* SPDX-License-Identifier: Apache-2.0 */
/* manifest_group.c: one task: the order of its records, and whether all its arguments exist. */
#include "dump/manifest_group.h"
#include "base/search.h"

#define LEVEL_SELECTED 1

void group_reset(struct group *g, uint64_t task_id)
{
	g->task_id = task_id;
	g->has_loss = false;
	g->tasks.n = g->args.n = g->own.n = g->after.n = 0;
}

void group_deinit(struct group *g)
{
	VEC_FREE(&g->tasks);
	VEC_FREE(&g->args);
	VEC_FREE(&g->own);
	VEC_FREE(&g->after);
}

bool group_add(struct group *g, const struct log_record *rec, struct incore_error *e)
{
	struct group_task t = {.off = rec->off};
	struct log_arg a;

	if (log_get_task(rec, &t.what))
		return VEC_PUSH(&g->tasks, t) ? true : err_nomem(e);
	if (!log_get_arg(rec, &a))
		return true;
	return VEC_PUSH(&g->args, (struct group_arg){a.dispatch_id, rec->off, a.block_idx, a.slot,
					  a.stage, a.role})
		       ? true
		       : err_nomem(e);
}

ORDER(compare_args, struct group_arg, UP(stage) UP(slot) UP(block_idx) UP(dispatch_id) UP(off))
ORDER(compare_own, struct group_arg, UP(dispatch_id) UP(block_idx) UP(slot) THEN(compare_args))
ORDER(compare_tasks, struct group_task, UP(what.dispatch_id) UP(what.block_idx) UP(off))

/* If a task is described twice (by two threads, for example), only the first counts. */
static void sort_tasks(struct group *g)
{
	size_t n = 0;

	if (g->tasks.n == 0)
		return;
	SORT(g->tasks.v, g->tasks.n, compare_tasks);
	for (size_t i = 1; i < g->tasks.n; i++)
		if (g->tasks.v[i].what.dispatch_id != g->tasks.v[n].what.dispatch_id ||
			g->tasks.v[i].what.block_idx != g->tasks.v[n].what.block_idx)
			g->tasks.v[++n] = g->tasks.v[i];
	g->tasks.n = n + 1;
}

static bool sort_args(struct group *g, struct incore_error *e)
{
	size_t n = g->args.n;

	if (n == 0)
		return true;
	if (!VEC_RESERVE(&g->own, n))
		return err_nomem(e);
	SORT(g->args.v, n, compare_args);
	memcpy(g->own.v, g->args.v, n * sizeof(*g->args.v));
	g->own.n = n;
	SORT(g->own.v, n, compare_own);
	for (size_t i = 0; i < n; i++) { /* sorted by stage and slot: ascending */
		const struct group_arg *a = &g->args.v[i];

		if (a->stage == 1 && (g->after.n == 0 || g->after.v[g->after.n - 1] != a->slot) &&
			!VEC_PUSH(&g->after, a->slot))
			return err_nomem(e);
	}
	return true;
}

static bool has_after(const struct group *g, uint32_t slot)
{
	size_t lo = 0, hi = g->after.n;

	BISECT(lo, hi, i, g->after.v[i] < slot);
	return lo < g->after.n && g->after.v[lo] == slot;
}

/* Index of the first entry of `own` with this dispatch and block, or of a later one. */
static size_t find_own(const struct group *g, uint64_t dispatch_id, uint32_t block_idx)
{
	size_t lo = 0, hi = g->own.n;

	BISECT(lo, hi, i,
		g->own.v[i].dispatch_id < dispatch_id ||
			(g->own.v[i].dispatch_id == dispatch_id &&
				g->own.v[i].block_idx < block_idx));
	return lo;
}

/* Copies from before belong to the block itself; after the task there is one copy for all
 * blocks. */
static void count_found(const struct group *g, struct group_task *t)
{
	uint32_t expected = t->what.tensor_count + t->what.scalar_count;
	size_t i = find_own(g, t->what.dispatch_id, t->what.block_idx), k = 0;
	bool is_wrong = false;
	uint32_t last = UINT32_MAX;

	for (; i < g->own.n && g->own.v[i].dispatch_id == t->what.dispatch_id &&
		g->own.v[i].block_idx == t->what.block_idx;
		i++) {
		const struct group_arg *a = &g->own.v[i];

		for (; k < g->after.n && g->after.v[k] < a->slot; k++)
			t->found++;
		k += k < g->after.n && g->after.v[k] == a->slot;
		t->found += a->slot != last;
		last = a->slot;
		is_wrong = is_wrong || a->slot >= expected ||
			   (a->role == 2 && a->stage == 0 && !has_after(g, a->slot));
	}
	t->found += (uint32_t)(g->after.n - k);
	t->is_incomplete = is_wrong || t->found != expected;
}

bool group_finish(struct group *g, int level, struct incore_error *e)
{
	sort_tasks(g);
	if (!sort_args(g, e))
		return false;
	for (size_t i = 0; i < g->tasks.n; i++) {
		count_found(g, &g->tasks.v[i]);
		if (level == LEVEL_SELECTED)
			g->tasks.v[i].is_incomplete = false;
		if (g->has_loss)
			g->tasks.v[i].is_incomplete = true;
	}
	return true;
}

const struct group_task *group_find(const struct group *g, uint64_t dispatch_id, uint32_t block_idx)
{
	const struct log_task *t;
	size_t lo = 0, hi = g->tasks.n;

	BISECT(lo, hi, i,
		g->tasks.v[i].what.dispatch_id < dispatch_id ||
			(g->tasks.v[i].what.dispatch_id == dispatch_id &&
				g->tasks.v[i].what.block_idx < block_idx));
	t = lo < g->tasks.n ? &g->tasks.v[lo].what : NULL;
	return t && t->dispatch_id == dispatch_id && t->block_idx == block_idx ? &g->tasks.v[lo]
									       : NULL;
}
