/* SPDX-License-Identifier: Apache-2.0 */
/* diff.c: pairs the records of two dumps and compares each pair. */
#include "dump/read/diff.h"

struct differ {
	struct dump *a, *b;
	const struct dump_diff_options *o;
	struct dump_diff *out;
};

static bool push(struct differ *f, const struct dump_pair *p, struct incore_error *e)
{
	f->out->n_state[p->state]++;
	f->out->n_identical += p->is_identical;
	f->out->n_values += p->n;
	f->out->n_differ += p->n_differ;
	return VEC_PUSH(&f->out->pairs, *p) || err_nomem(e);
}

static bool add_pair(struct differ *f, uint32_t ra, uint32_t rb, struct incore_error *e)
{
	const struct dump_record *r = ra != DUMP_NONE ? &f->a->records.v[ra] : &f->b->records.v[rb];
	struct dump_pair p = {
		.task_id = r->task_id,
		.slot = r->slot,
		.stage = r->stage,
		.block = ra != DUMP_NONE ? dump_block_of(f->a, ra) : dump_block_of(f->b, rb),
		.a = ra,
		.b = rb,
		.state = ra == DUMP_NONE ? PAIR_ONLY_B : PAIR_ONLY_A,
	};

	if (f->o->ignore_scalars && r->kind == DUMP_SCALAR)
		return true;
	if (ra != DUMP_NONE && rb != DUMP_NONE && !dump_compare(f->a, ra, f->b, rb, f->o, &p, e))
		return false;
	return push(f, &p, e);
}

static bool has_blocks(const struct dump *d, const struct dump_slot *s)
{
	for (uint32_t i = 0; i < s->n_before; i++)
		if (dump_block_of(d, d->order[s->first + i]) == DUMP_NONE)
			return false;
	return s->n_before > 0;
}

/* Copies are sorted by block on both sides: a merge. */
static bool pair_blocks(struct differ *f, const struct dump_slot *x, const struct dump_slot *y,
	struct incore_error *e)
{
	uint32_t i = 0, k = 0;

	while (i < x->n_before || k < y->n_before) {
		uint32_t ra = i < x->n_before ? f->a->order[x->first + i] : DUMP_NONE;
		uint32_t rb = k < y->n_before ? f->b->order[y->first + k] : DUMP_NONE;
		uint32_t ba = ra == DUMP_NONE ? DUMP_NONE : dump_block_of(f->a, ra);
		uint32_t bb = rb == DUMP_NONE ? DUMP_NONE : dump_block_of(f->b, rb);

		if (ba < bb)
			rb = DUMP_NONE;
		else if (bb < ba)
			ra = DUMP_NONE;
		i += ra != DUMP_NONE;
		k += rb != DUMP_NONE;
		if (!add_pair(f, ra, rb, e))
			return false;
	}
	return true;
}

static bool pair_slots(struct differ *f, const struct dump_slot *x, const struct dump_slot *y,
	struct incore_error *e)
{
	uint32_t after_a = x ? dump_slot_after(f->a, x) : DUMP_NONE;
	uint32_t after_b = y ? dump_slot_after(f->b, y) : DUMP_NONE;
	uint32_t before_a = x ? x->before : DUMP_NONE, before_b = y ? y->before : DUMP_NONE;

	if (x && y && x->n_before && y->n_before && has_blocks(f->a, x) && has_blocks(f->b, y)) {
		if (!pair_blocks(f, x, y, e))
			return false;
	} else if ((before_a != DUMP_NONE || before_b != DUMP_NONE) &&
		   !add_pair(f, before_a, before_b, e)) {
		return false;
	}
	return (after_a == DUMP_NONE && after_b == DUMP_NONE) || add_pair(f, after_a, after_b, e);
}

static bool pair_tasks(struct differ *f, const struct dump_task *x, const struct dump_task *y,
	struct incore_error *e)
{
	uint32_t i = 0, k = 0, nx = x ? x->n_slots : 0, ny = y ? y->n_slots : 0;

	while (i < nx || k < ny) {
		const struct dump_slot *s = i < nx ? &f->a->slots.v[x->first_slot + i] : NULL;
		const struct dump_slot *u = k < ny ? &f->b->slots.v[y->first_slot + k] : NULL;

		if (s && u && s->index < u->index)
			u = NULL;
		else if (s && u && u->index < s->index)
			s = NULL;
		i += s != NULL;
		k += u != NULL;
		if (!pair_slots(f, s, u, e))
			return false;
	}
	return true;
}

bool dump_diff(struct dump *a, struct dump *b, const struct dump_diff_options *o,
	struct dump_diff *out, struct incore_error *e)
{
	struct differ f = {a, b, o, out};
	size_t i = 0, k = 0;

	if (!dump_choose(a, e) || !dump_choose(b, e))
		return false;
	while (i < a->tasks.n || k < b->tasks.n) {
		const struct dump_task *x = i < a->tasks.n ? &a->tasks.v[i] : NULL;
		const struct dump_task *y = k < b->tasks.n ? &b->tasks.v[k] : NULL;

		if (x && y && x->id < y->id)
			y = NULL;
		else if (x && y && y->id < x->id)
			x = NULL;
		i += x != NULL;
		k += y != NULL;
		out->n_tasks_both += x && y;
		out->n_tasks_only_a += !y;
		out->n_tasks_only_b += !x;
		if (!pair_tasks(&f, x, y, e))
			return false;
	}
	return true;
}

void dump_diff_deinit(struct dump_diff *d)
{
	VEC_FREE(&d->pairs);
}

bool dump_diff_differs(const struct dump_diff *d)
{
	return d->n_state[PAIR_DIFFERS] || d->n_state[PAIR_OTHER_KIND] || d->n_state[PAIR_ONLY_A] ||
	       d->n_state[PAIR_ONLY_B];
}
