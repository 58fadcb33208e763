/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff.c: compares two dumps, value by value. Parts: values of two arguments; pairs of two dumps.
 */
#include "dump/read/diff.h"

#include <math.h>
#include <string.h>

#include "dump/read/values.h"

/* --- values of two arguments ------------------------------------------------------------------ */

/*
 * Are two tensors or scalars equal, value by value, within the tolerance of their type?
 */

struct dump_tolerance dump_tolerance_of(unsigned dtype)
{
	switch (dtype) {
	case DTYPE_FLOAT32:
		return (struct dump_tolerance){1.3e-6, 1e-5};
	case DTYPE_FLOAT16:
		return (struct dump_tolerance){1e-3, 1e-5};
	case DTYPE_BFLOAT16:
		return (struct dump_tolerance){1.6e-2, 1e-5};
	case DTYPE_FP8E4M3FN:
		return (struct dump_tolerance){0.125, 0.002};
	default:
		return (struct dump_tolerance){0, 0};
	}
}

static struct dump_tolerance dump_compare_tolerance(
	unsigned dtype, const struct dump_diff_options *o)
{
	struct dump_tolerance t = dump_tolerance_of(dtype);

	if (o->rtol >= 0)
		t.rtol = o->rtol;
	if (o->atol >= 0)
		t.atol = o->atol;
	return t;
}

static bool same_value(double a, double b, struct dump_tolerance t, bool nan_differs)
{
	if (isnan(a) || isnan(b))
		return isnan(a) && isnan(b) && !nan_differs;
	if (isinf(a) || isinf(b))
		return a == b;
	return fabs(a - b) <= t.atol + t.rtol * fabs(b);
}

static void note_difference(struct dump_pair *p, uint64_t i, double a, double b)
{
	double gap = fabs(a - b);

	if (p->n_differ++ == 0)
		p->first = i;
	if (!isfinite(gap))
		return;
	if (gap > p->max_abs)
		p->max_abs = gap;
	if (b != 0 && gap / fabs(b) > p->max_rel)
		p->max_rel = gap / fabs(b);
}

static void compare_elements(struct dump_pair *p, unsigned dtype, const uint8_t *a,
	const uint8_t *b, const struct dump_diff_options *o)
{
	struct dump_tolerance t = dump_compare_tolerance(dtype, o);
	unsigned k_n = dtype_values(dtype);
	bool is_exact = t.rtol == 0 && t.atol == 0 && !dtype_is_float(dtype);

	for (uint64_t i = 0; i < p->n / k_n; i++) {
		uint64_t x = value_bits(dtype, a, i), y = value_bits(dtype, b, i);

		if (x == y && (!o->nan_differs || !dtype_is_float(dtype)))
			continue;
		for (unsigned k = 0; k < k_n; k++) {
			double u = value_double(dtype, a, i, k), v = value_double(dtype, b, i, k);

			if (is_exact || !same_value(u, v, t, o->nan_differs))
				note_difference(p, i, u, v);
		}
	}
}

/* Older files store every scalar as UINT64: then the other side determines the type. */
static unsigned scalar_dtype(const struct dump_record *x, const struct dump_record *y)
{
	return x->dtype == DTYPE_UINT64 ? y->dtype : x->dtype;
}

static void compare_scalars(struct dump_pair *p, const struct dump_record *x,
	const struct dump_record *y, const struct dump_diff_options *o)
{
	unsigned dtype = scalar_dtype(x, y);
	uint8_t a[8], b[8];

	for (unsigned i = 0; i < 8; i++) {
		a[i] = (uint8_t)(x->bits >> 8 * i);
		b[i] = (uint8_t)(y->bits >> 8 * i);
	}
	p->n = 1;
	p->is_identical = x->bits == y->bits;
	if (dtype_is_float(dtype))
		compare_elements(p, dtype, a, b, o);
	else if (!p->is_identical) /* the whole slot, regardless of the width of its type */
		compare_elements(p, DTYPE_UINT64, a, b, o);
	p->state = p->n_differ ? PAIR_DIFFERS : PAIR_SAME;
}

static bool same_kind(const struct dump_record *x, const struct dump_record *y)
{
	if (x->kind != y->kind || x->role != y->role)
		return false;
	return x->dtype == y->dtype ||
	       (x->kind == DUMP_SCALAR && (x->dtype == DTYPE_UINT64 || y->dtype == DTYPE_UINT64));
}

static bool same_shape(const struct dump *a, const struct dump_record *x, const struct dump *b,
	const struct dump_record *y)
{
	struct dump_geometry g, h;

	dump_geometry_of(a, x, &g);
	dump_geometry_of(b, y, &h);
	return g.rank == h.rank && memcmp(g.shape, h.shape, g.rank * sizeof(g.shape[0])) == 0;
}

bool dump_compare(const struct dump *a, uint32_t ra, const struct dump *b, uint32_t rb,
	const struct dump_diff_options *o, struct dump_pair *p, struct incore_error *e)
{
	const struct dump_record *x = &a->records.v[ra], *y = &b->records.v[rb];
	const uint8_t *pa, *pb;
	uint64_t na, nb, size = dtype_bytes(x->dtype);

	p->a = ra;
	p->b = rb;
	if (!same_kind(x, y) || !same_shape(a, x, b, y)) {
		p->state = PAIR_OTHER_KIND;
		return true;
	}
	if (x->kind == DUMP_SCALAR) {
		compare_scalars(p, x, y, o);
		return true;
	}
	if (!dump_payload(a, ra, &pa, &na, e) || !dump_payload(b, rb, &pb, &nb, e))
		return false;
	if (na != nb || na == 0 || size == 0) {
		/* nothing to compare: no bytes on a side, or an empty tensor on both */
		p->state = na == nb && dump_full_size(a, ra) == 0 ? PAIR_SAME : PAIR_NOT_COMPARED;
		p->is_identical = p->state == PAIR_SAME;
		return true;
	}
	p->n = na / size * dtype_values(x->dtype);
	p->is_identical = memcmp(pa, pb, na) == 0;
	if (!p->is_identical || o->nan_differs)
		compare_elements(p, x->dtype, pa, pb, o);
	p->state = p->n_differ ? PAIR_DIFFERS : PAIR_SAME;
	return true;
}

/* --- pairs of two dumps ----------------------------------------------------------------------- */

/*
 * Pairs the records of two dumps and compares each pair.
 */

struct differ {
	struct dump *a, *b;
	const struct dump_diff_options *o;
	struct dump_diff *out;
};

static bool dump_diff_push(struct differ *f, const struct dump_pair *p, struct incore_error *e)
{
	f->out->n_state[p->state]++;
	f->out->n_identical += p->is_identical;
	f->out->n_values += p->n;
	f->out->n_differ += p->n_differ;
	return VEC_PUSH(&f->out->pairs, *p) || err_nomem(e);
}

static bool dump_diff_add_pair(struct differ *f, uint32_t ra, uint32_t rb, struct incore_error *e)
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
	return dump_diff_push(f, &p, e);
}

static bool dump_diff_has_blocks(const struct dump *d, const struct dump_slot *s)
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
		if (!dump_diff_add_pair(f, ra, rb, e))
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

	if (x && y && x->n_before && y->n_before && dump_diff_has_blocks(f->a, x) &&
		dump_diff_has_blocks(f->b, y)) {
		if (!pair_blocks(f, x, y, e))
			return false;
	} else if ((before_a != DUMP_NONE || before_b != DUMP_NONE) &&
		   !dump_diff_add_pair(f, before_a, before_b, e)) {
		return false;
	}
	return (after_a == DUMP_NONE && after_b == DUMP_NONE) ||
	       dump_diff_add_pair(f, after_a, after_b, e);
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
