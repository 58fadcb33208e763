/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fold.c: groups records by task, by slot, and into the copies of a slot. A task that ran as
 * several blocks has a before copy per block (and per declaring subtask in some generations).
 */
#include "dump/read/fold.h"

#include <stdlib.h>
#include <string.h>

#include "dump/read/deps.h"

static int compare_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Task, slot, stage, block, manifest index: a total order. */
static int compare_records(const void *pa, const void *pb, void *ctx)
{
	const struct dump *d = ctx;
	uint32_t ia = *(const uint32_t *)pa, ib = *(const uint32_t *)pb;
	const struct dump_record *a = &d->records.v[ia], *b = &d->records.v[ib];
	int c = compare_u64(a->task_id, b->task_id);

	if (!c)
		c = compare_u64(a->slot, b->slot);
	if (!c)
		c = compare_u64(a->stage, b->stage);
	if (!c)
		c = compare_u64(dump_block_of(d, ia), dump_block_of(d, ib));
	return c ? c : compare_u64(ia, ib);
}

static bool make_order(struct dump *d, struct incore_error *e)
{
	size_t n = d->records.n;
	bool is_sorted = true;

	d->order = mem_alloc((n ? n : 1) * sizeof(d->order[0]));
	if (!d->order)
		return err_nomem(e);
	for (size_t i = 0; i < n; i++) {
		d->order[i] = (uint32_t)i;
		is_sorted &= i == 0 || d->records.v[i].task_id >= d->records.v[i - 1].task_id;
	}
	if (!is_sorted) {
		qsort_r(d->order, n, sizeof(d->order[0]), compare_records, d);
		return true;
	}
	/* usual case: records of a task are adjacent, so only these are sorted */
	for (size_t from = 0, to; from < n; from = to) {
		for (to = from + 1;
			to < n && d->records.v[to].task_id == d->records.v[from].task_id;)
			to++;
		qsort_r(d->order + from, to - from, sizeof(d->order[0]), compare_records, d);
	}
	return true;
}

/* Before copies of one slot that carry the same func id: one per block. */
static uint32_t blocks_of_slot(const struct dump *d, const struct dump_slot *s)
{
	uint32_t most = 0, n = 0, last = DUMP_NONE, tries = 0;

	if (d->gen_first != DUMP_G9 && d->gen_first != DUMP_X2 && d->gen_first > DUMP_G3)
		return s->n_before;
	/* copies per declaring subtask: members are few, and equal ones need not be adjacent */
	for (uint32_t i = 0; i < s->n_before && tries < DUMP_MAX_MEMBERS; i++) {
		uint32_t members = d->records.v[d->order[s->first + i]].members;

		if (members == last)
			continue;
		last = members;
		tries++;
		n = 0;
		for (uint32_t k = 0; k < s->n_before; k++)
			n += d->records.v[d->order[s->first + k]].members == members;
		most = n > most ? n : most;
		if ((uint64_t)n * 2 > s->n_before)
			break;
	}
	return most;
}

static bool add_slot(struct dump *d, uint32_t first, uint32_t n, struct incore_error *e)
{
	struct dump_slot s = {
		.index = d->records.v[d->order[first]].slot,
		.first = first,
		.n = n,
		.before = DUMP_NONE,
		.writer = DUMP_NONE,
	};

	for (uint32_t i = 0; i < n; i++) {
		unsigned stage = d->records.v[d->order[first + i]].stage;

		s.n_before += stage == DUMP_BEFORE;
		s.n_after += stage == DUMP_AFTER;
	}
	if (s.n_before)
		s.before = d->order[first];
	if (s.n_before == 1)
		s.choice = DUMP_CHOICE_ONLY;
	return VEC_PUSH(&d->slots, s) || err_nomem(e);
}

/* Union of the members of a task's records, in order of first occurrence. */
static bool task_members(struct dump *d, struct dump_task *t, struct incore_error *e)
{
	int32_t all[DUMP_MAX_MEMBERS], ids[DUMP_MAX_MEMBERS];
	uint32_t last = DUMP_NONE;
	unsigned n = 0;

	for (uint32_t i = 0; i < t->n_copies; i++) {
		uint32_t members = d->records.v[d->order[t->first_copy + i]].members;
		unsigned m = members == last ? 0 : dump_members_of(d, members, ids);

		for (unsigned k = 0; k < m; k++) {
			unsigned j = 0;

			while (j < n && all[j] != ids[k])
				j++;
			if (j == n && n < DUMP_MAX_MEMBERS)
				all[n++] = ids[k];
		}
		last = members;
	}
	t->members = DUMP_NONE;
	if (!n && d->deps) {
		const struct deps_task *known = deps_task_find(d->deps, t->id);

		for (unsigned k = 0; known && k < 3; k++)
			if (known->kernels[k] >= 0)
				all[n++] = known->kernels[k];
	}
	if (!n)
		return true;
	t->members =
		intern_add(&d->member_sets, (struct str){(const char *)all, n * sizeof(all[0])});
	return t->members != INTERN_NONE || err_nomem(e);
}

static uint32_t task_blocks(const struct dump *d, const struct dump_task *t)
{
	const struct deps_task *known = deps_task_find(d->deps, t->id);
	uint32_t n = known ? known->block_num : 0;

	for (uint32_t i = 0; i < t->n_copies; i++) {
		const struct dump_extra *x = dump_extra_of(d, d->order[t->first_copy + i]);

		if (x && x->block_num != DUMP_NONE && x->block_num > n)
			n = x->block_num;
	}
	if (n)
		return n;
	for (uint32_t i = 0; i < t->n_slots; i++) {
		uint32_t of_slot = blocks_of_slot(d, &d->slots.v[t->first_slot + i]);

		n = of_slot > n ? of_slot : n;
	}
	return n ? n : 1;
}

static bool add_task(struct dump *d, uint32_t first, uint32_t n, struct incore_error *e)
{
	struct dump_task t = {
		.id = d->records.v[d->order[first]].task_id,
		.first_slot = (uint32_t)d->slots.n,
		.first_copy = first,
		.n_copies = n,
		.is_complete = true,
	};

	for (uint32_t from = first, to; from < first + n; from = to) {
		for (to = from + 1; to < first + n && d->records.v[d->order[to]].slot ==
							      d->records.v[d->order[from]].slot;)
			to++;
		if (!add_slot(d, from, to - from, e))
			return false;
	}
	t.n_slots = (uint32_t)d->slots.n - t.first_slot;
	if (!task_members(d, &t, e))
		return false;
	t.n_blocks = task_blocks(d, &t);
	return VEC_PUSH(&d->tasks, t) || err_nomem(e);
}

bool dump_fold(struct dump *d, struct incore_error *e)
{
	uint32_t n = (uint32_t)d->records.n;

	if (!make_order(d, e))
		return false;
	for (uint32_t from = 0, to; from < n; from = to) {
		for (to = from + 1; to < n && d->records.v[d->order[to]].task_id ==
						      d->records.v[d->order[from]].task_id;)
			to++;
		if (!add_task(d, from, to - from, e))
			return false;
	}
	return true;
}
