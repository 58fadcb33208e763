/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scopes_walk.c: splits the events of a warp into intervals, each with its innermost scope. Scopes
 * nest but slices of a track do not: a scope that is interrupted by another becomes several
 * pieces.
 */
#include "import/scopes/scopes.h"

#define CLOCK_BITS 44 /* bits in an event: the warp's begin has the others */

static uint32_t scope_word(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Reads the event at p of a warp whose previous time was `after`. */
static struct scope_event event_at(const uint8_t *p, uint64_t after)
{
	uint32_t y = scope_word(p + 4);
	uint64_t low = scope_word(p) | (uint64_t)(y & 0xfff) << 32,
		 mask = (UINT64_C(1) << CLOCK_BITS) - 1;
	uint64_t clock = (after & ~mask) | low;

	if (clock < after && after - clock > mask / 2)
		clock += mask + 1;
	return (struct scope_event){.clock = clock,
		.kind = (enum scope_kind)(y >> 12 & 7),
		.name = scope_word(p + 8),
		.value = scope_word(p + 12)};
}

uint64_t scope_key(uint32_t outer, const struct scope_event *x)
{
	return (uint64_t)(outer + 1) << 32 | (uint64_t)x->kind << 16 | x->name;
}

struct scope_stack {
	uint32_t row[SCOPE_MOST_DEPTH];
	uint32_t n, n_deeper;
	uint64_t at; /* end of the pieces passed on so far */
};

static bool give_piece(const struct scope_walk *w, struct scope_stack *s, uint64_t to)
{
	bool ok = !s->n || to == s->at || w->piece(w->ctx, s->row[s->n - 1], s->at, to);

	s->at = to;
	return ok;
}

static bool begin_scope(struct scope_walk *w, struct scope_stack *s, const struct scope_event *x)
{
	uint32_t row;

	if (s->n == SCOPE_MOST_DEPTH) {
		s->n_deeper++;
		w->n_deep++;
		return true;
	}
	row = w->row(w->ctx, s->n ? s->row[s->n - 1] : NO_SCOPE, x);
	if (row == NO_SCOPE)
		return false;
	s->row[s->n++] = row;
	return true;
}

static void end_scope(struct scope_walk *w, struct scope_stack *s)
{
	if (s->n_deeper)
		s->n_deeper--;
	else if (s->n)
		s->n--;
	else
		w->n_cut++;
}

static bool take_instant(
	struct scope_walk *w, const struct scope_stack *s, const struct scope_event *x)
{
	uint32_t row = w->row(w->ctx, s->n ? s->row[s->n - 1] : NO_SCOPE, x);

	return row != NO_SCOPE && w->piece(w->ctx, row, x->clock, x->clock);
}

static bool take_event(struct scope_walk *w, struct scope_stack *s, const struct scope_event *x)
{
	if (x->kind == SCOPE_VALUE)
		return !w->value || w->value(w->ctx, x);
	if (!give_piece(w, s, x->clock))
		return false;
	if (x->kind == SCOPE_INSTANT)
		return take_instant(w, s, x);
	if (x->kind != SCOPE_END)
		return begin_scope(w, s, x);
	end_scope(w, s);
	return true;
}

bool scopes_walk_warp(const struct scope_file *f, const struct scope_warp *k, struct scope_walk *w)
{
	const uint8_t *p = f->file.data + k->at + SCOPE_RECORD_BYTES;
	struct scope_stack s = {.at = k->begin_clock};
	uint64_t last = k->begin_clock;

	for (uint32_t i = 0; i < k->n_kept; i++, p += SCOPE_EVENT_BYTES) {
		struct scope_event x = event_at(p, last);

		if (x.clock < last || x.clock > k->end_clock) {
			w->n_back++;
			x.clock = x.clock < last ? last : k->end_clock;
		}
		last = x.clock;
		if (!take_event(w, &s, &x))
			return false;
	}
	w->n_open += s.n + s.n_deeper;
	return give_piece(w, &s, k->end_clock);
}
