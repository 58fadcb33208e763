/* SPDX-License-Identifier: Apache-2.0 */
/* reach.c: compares what a kernel touched with its recorded arguments. */
#include "replay/arguments/reach.h"

#include "base/file.h"
#include "model/stream/ranges.h"

#define MOST_ELEMENTS (1u << 24) /* checked one by one in views with gaps; else only extents */

struct stray { /* the first op that leaves the view of a slot, reading or writing */
	uint64_t n_ops;
	const struct opstream *s;
	const struct op_exec *x;
	uint64_t first_byte; /* in the buffer */
};

struct slot_reach {
	bool is_read, is_loaded, is_stored; /* args[slot] itself; its bytes, by tile ops */
	struct stray stray[2];		    /* reading, writing */
};

struct reach {
	const struct arg *slots;
	struct slot_reach of[ARG_SLOTS];
	struct range_list ranges; /* of the current operand */
	uint64_t n_elements;
	bool is_cut;
};

static uint64_t view_start(const struct arg *s)
{
	return s->start_offset * dtype_bytes(s->dtype);
}

/* Is element k, counted from the first of the view, part of the view? */
static bool is_element(const struct arg *s, uint64_t k)
{
	bool used[ARG_MAX_DIMS] = {false};

	for (uint32_t n = 0; n < s->n_dims; n++) { /* the widest stride first */
		uint32_t best = 0;

		while (used[best])
			best++;
		for (uint32_t d = best; d < s->n_dims; d++)
			if (!used[d] && s->strides[d] > s->strides[best])
				best = d;
		used[best] = true;
		if (s->shape[best] > 1 && s->strides[best]) {
			uint64_t at = k / s->strides[best];

			at = at < s->shape[best] ? at : s->shape[best] - 1;
			k -= at * s->strides[best];
		}
	}
	return k == 0;
}

/* The first byte of a range outside the view; false: the view covers the range. */
static bool stray_byte(struct reach *r, const struct arg *s, struct range g, uint64_t *at)
{
	unsigned size = dtype_bytes(s->dtype);
	uint64_t from = view_start(s), to = from + s->extent * size;

	if (!size)
		return false;
	if (g.from < from) {
		*at = g.from;
		return true;
	}
	for (uint64_t b = g.from; !s->is_contiguous && b < g.to && b < to;) {
		uint64_t k = (b - from) / size;

		if (r->n_elements++ >= MOST_ELEMENTS) {
			r->is_cut = true;
			break;
		}
		if (!is_element(s, k)) {
			*at = b;
			return true;
		}
		b = from + (k + 1) * size;
	}
	*at = g.from > to ? g.from : to;
	return g.to > to;
}

static bool look_at(struct reach *r, const struct opstream *s, const struct op_exec *x, unsigned k)
{
	const struct op_opnd *o = &s->opnds.v[s->forms.v[x->form].first_opnd + k];
	struct slot_reach *of = &r->of[o->slot];
	uint64_t at = 0;
	bool is_stray = false;

	of->is_loaded |= (o->access & ACCESS_READ) != 0;
	of->is_stored |= (o->access & ACCESS_WRITE) != 0;
	if (!r->slots[o->slot].is_used || !r->slots[o->slot].is_tensor)
		return true;
	r->ranges.v.n = 0;
	r->ranges.is_cut = false;
	if (!ranges_of(s, x, k, &r->ranges))
		return false;
	r->is_cut |= r->ranges.is_cut;
	for (size_t i = 0; !is_stray && i < r->ranges.v.n; i++)
		is_stray = stray_byte(r, &r->slots[o->slot], r->ranges.v.v[i], &at);
	for (unsigned way = 0; is_stray && way < 2; way++) {
		struct stray *t = &of->stray[way];

		if (!(o->access & (way ? ACCESS_WRITE : ACCESS_READ)))
			continue;
		if (!t->n_ops++) {
			t->s = s;
			t->x = x;
			t->first_byte = at;
		}
	}
	return true;
}

static bool look(struct reach *r, const struct opstream_set *set)
{
	EACH (const struct opstream, s, set->v.v, set->v.n) {
		for (size_t k = 0; k < s->slots.n; k++)
			if (s->slots.v[k].flags & SLOT_READ)
				r->of[s->slots.v[k].slot].is_read = true;
		EACH (const struct op_exec, x, s->ops.v, s->ops.n) {
			const struct op_form *f = &s->forms.v[x->form];

			for (unsigned n = 0; n < f->n_opnds; n++) {
				const struct op_opnd *o = &s->opnds.v[f->first_opnd + n];

				if (o->what == OPND_GM && o->access && o->slot < ARG_SLOTS &&
					!look_at(r, s, x, n))
					return false;
			}
		}
	}
	return true;
}

/* --- in words --- */

struct writer {
	struct arena *a;
	reach_remarks *out;
};

static bool add(struct writer *w, const char *text)
{
	return text && VEC_PUSH(w->out, text);
}

static bool tell_stray(struct writer *w, uint32_t slot, const struct stray *t, bool is_write)
{
	const struct op_site *site;

	if (!t->n_ops)
		return true;
	site = &t->s->sites.v[t->x->site];
	return add(w,
		arena_printf(w->a,
			"slot %u: %s at %s:%u %s byte %llu of the buffer, outside the view that is recorded but inside the buffer (%llu op%s in all)",
			slot, opstream_str(t->s, t->s->forms.v[t->x->form].name),
			path_base(opstream_str(t->s, site->file)), site->line,
			is_write ? "writes" : "reads", (unsigned long long)t->first_byte,
			(unsigned long long)t->n_ops, t->n_ops == 1 ? "" : "s"));
}

static bool tell_slot(struct writer *w, const struct reach *r, uint32_t i)
{
	const struct arg *s = &r->slots[i];
	const struct slot_reach *of = &r->of[i];

	if (!s->is_used)
		return true;
	if (!of->is_read)
		return add(w, arena_printf(w->a, "slot %u: the kernel does not read it", i));
	if (!s->is_tensor)
		return true;
	if (of->is_stored && !s->is_written &&
		!add(w, arena_printf(
				w->a, "slot %u: recorded as an input, but a tile op writes it", i)))
		return false;
	if (!of->is_stored && !s->is_read &&
		!add(w, arena_printf(w->a,
				"slot %u: recorded as an output, but no tile op writes it", i)))
		return false;
	return tell_stray(w, i, &of->stray[0], false) && tell_stray(w, i, &of->stray[1], true);
}

bool reach_compare(const struct opstream_set *set, const struct arg *slots, struct arena *a,
	reach_remarks *out, struct incore_error *e)
{
	struct reach r = {.slots = slots};
	struct writer w = {a, out};
	bool ok = look(&r, set);

	for (uint32_t i = 0; ok && i < ARG_CONTEXT_SLOT; i++)
		ok = tell_slot(&w, &r, i);
	if (ok && r.is_cut)
		ok = add(&w,
			"strides of views with gaps were compared for the first ops alone: there are too many elements");
	VEC_FREE(&r.ranges.v);
	return ok || err_nomem(e);
}
