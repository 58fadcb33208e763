/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocks.c: do blocks touch the same global memory, with at least one writing? Nothing orders
 * blocks, so this deserves a note, but it is not necessarily a race: the runtime may order them.
 */

#include "base/search.h"
#include "model/engine/engine_cross.h"
#include "model/stream/ranges.h"

#define MAX_SPANS 8000000 /* with more, the memory is not checked */

struct span {
	uint64_t from, to;
	uint32_t alloc, block;
	uint32_t stream, op;
	uint8_t slot, is_write, is_atomic;
};

struct share {
	const struct opstream_set *set;
	struct timed *out;
	VEC(struct span) spans;
	VEC(uint32_t) written; /* allocations */
	struct range_list ranges;
};

static const struct op_slot *slot_of(const struct opstream *s, unsigned slot)
{
	for (size_t i = 0; i < s->slots.n; i++)
		if (s->slots.v[i].slot == slot)
			return &s->slots.v[i];
	return NULL;
}

static bool is_written(const struct share *b, uint32_t alloc)
{
	for (size_t i = 0; i < b->written.n; i++)
		if (b->written.v[i] == alloc)
			return true;
	return false;
}

static bool find_written(struct share *b)
{
	EACH (const struct opstream, s, b->set->v.v, b->set->v.n) {
		EACH (const struct op_opnd, o, s->opnds.v, s->opnds.n) {
			const struct op_slot *slot =
				o->what == OPND_GM ? slot_of(s, o->slot) : NULL;

			if (slot && o->access & ACCESS_WRITE && !is_written(b, slot->alloc) &&
				!VEC_PUSH(&b->written, slot->alloc))
				return false;
		}
	}
	return true;
}

static bool add_operand(struct share *b, uint32_t stream, uint32_t op, unsigned k)
{
	const struct opstream *s = &b->set->v.v[stream];
	const struct op_exec *x = &s->ops.v[op];
	const struct op_form *f = &s->forms.v[x->form];
	const struct op_opnd *o = &s->opnds.v[f->first_opnd + k];
	const struct op_slot *slot = o->what == OPND_GM && o->access ? slot_of(s, o->slot) : NULL;

	if (!slot || !is_written(b, slot->alloc))
		return true;
	b->ranges.v.n = 0;
	b->ranges.bytes = 0;
	b->ranges.is_cut = false;
	if (!ranges_of(s, x, k, &b->ranges))
		return false;
	for (size_t i = 0; i < b->ranges.v.n; i++)
		if (!VEC_PUSH(&b->spans, (struct span){b->ranges.v.v[i].from, b->ranges.v.v[i].to,
						 slot->alloc, s->block_idx, stream, op, o->slot,
						 (o->access & ACCESS_WRITE) != 0, f->atomic == 1}))
			return false;
	return true;
}

ORDER(span_cmp, struct span, UP(alloc) UP(from) UP(stream) UP(op))

static bool report(struct share *b, const struct span *p, const struct span *q)
{
	struct finding_op x = {p->stream, p->op, 0}, y = {q->stream, q->op, 0};
	const struct opstream *s = &b->set->v.v[p->stream], *t = &b->set->v.v[q->stream];
	struct strbuf text = {0};
	struct model_finding *f;

	x.pipe = s->forms.v[s->ops.v[p->op].form].pipe;
	y.pipe = t->forms.v[t->ops.v[q->op].form].pipe;
	f = finding_add(b->out, b->set, FIND_BLOCKS_SHARE, &x, &y);
	if (!f || f->message)
		return f != NULL;
	f->first_byte = q->from;
	f->end_byte = p->to < q->to ? p->to : q->to;
	f->buffer = arena_printf(&b->out->arena, "GM slot %u", q->slot);
	sb_puts(&text, "blocks share memory: ");
	finding_put_op(b->set, &x, &text);
	sb_printf(&text, " of block %u and ", p->block);
	finding_put_op(b->set, &y, &text);
	sb_printf(&text,
		" of block %u touch bytes 0x%llx to 0x%llx of GM slot %u, one writes; blocks have no order",
		q->block, (unsigned long long)f->first_byte, (unsigned long long)f->end_byte - 1,
		q->slot);
	f->message = text.failed ? NULL : arena_strdup(&b->out->arena, text.p);
	sb_free(&text);
	return f->message && f->buffer;
}

/* The two farthest-reaching spans so far that belong to different blocks. */
struct reach {
	const struct span *v[2];
};

static void reach_add(struct reach *r, const struct span *s)
{
	for (unsigned i = 0; i < 2; i++)
		if (r->v[i] && r->v[i]->block == s->block) {
			if (s->to > r->v[i]->to)
				r->v[i] = s;
			if (i == 1 && r->v[1]->to > r->v[0]->to) {
				r->v[1] = r->v[0];
				r->v[0] = s;
			}
			return;
		}
	if (!r->v[0] || s->to > r->v[0]->to) {
		r->v[1] = r->v[0];
		r->v[0] = s;
	} else if (!r->v[1] || s->to > r->v[1]->to) {
		r->v[1] = s;
	}
}

static bool check_against(struct share *b, const struct reach *r, const struct span *s)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct span *p = r->v[i];

		if (p && p->block != s->block && p->to > s->from &&
			!(p->is_atomic && p->is_write && s->is_atomic && s->is_write))
			return report(b, p, s);
	}
	return true;
}

static bool sweep(struct share *b)
{
	struct reach reads = {{NULL, NULL}}, writes = {{NULL, NULL}};

	SORT(b->spans.v, b->spans.n, span_cmp);
	for (size_t i = 0; i < b->spans.n; i++) {
		const struct span *s = &b->spans.v[i];

		if (i && s[-1].alloc != s->alloc)
			reads = writes = (struct reach){{NULL, NULL}};
		if (!check_against(b, &writes, s) || (s->is_write && !check_against(b, &reads, s)))
			return false;
		reach_add(s->is_write ? &writes : &reads, s);
	}
	return true;
}

bool engine_blocks(const struct opstream_set *set, struct timed *out)
{
	struct share b = {.set = set, .out = out};
	bool ok = find_written(&b);

	for (uint32_t i = 0; ok && i < set->v.n; i++) {
		const struct opstream *s = &set->v.v[i];

		for (uint32_t k = 0; ok && k < s->ops.n && b.spans.n < MAX_SPANS; k++)
			for (unsigned o = 0; ok && o < s->forms.v[s->ops.v[k].form].n_opnds; o++)
				ok = add_operand(&b, i, k, o);
	}
	if (ok && b.spans.n >= MAX_SPANS)
		out->n_unchecked++;
	else if (ok && b.spans.n)
		ok = sweep(&b);
	VEC_FREE(&b.spans);
	VEC_FREE(&b.written);
	VEC_FREE(&b.ranges.v);
	return ok;
}
