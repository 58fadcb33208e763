/* SPDX-License-Identifier: Apache-2.0 */
/* select_walk.c: the pieces of many lanes, window by window in time order, unsorted within one. */
#include "serve/view/select_walk.h"

#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "trace/index.h"

#define MAX_PARTS 4096u

/* --- slices --- */

static inline uint32_t key_of(
	const struct select_walk *w, const struct lane *l, uint32_t lane, uint32_t i)
{
	uint32_t n_code = w->v->trace->n_code, code;

	if (w->has_pieces)
		return w->causes[lane].keys[i] % w->box->n_keys;
	if (w->by == BY_CLASS)
		return l->inst_class[i] < CLASS_COUNT ? l->inst_class[i] : CLASS_OTHER;
	code = l->code[i] < n_code ? l->code[i] : n_code;
	return w->by == BY_LINE ? w->line_of[code] : code;
}

static inline uint64_t inside(const struct box *b, uint64_t from, uint64_t to)
{
	from = from < b->t0 ? b->t0 : from;
	to = to > b->t1 ? b->t1 : to;
	return to > from ? to - from : 0;
}

/* Start of a piece clamped to the window; pieces of an unsorted track may start before it. */
static inline uint64_t begin_of(const struct box *b, uint64_t start)
{
	return start > b->from ? start : b->from;
}

static inline void set_lost(const struct select_walk *w, const struct lane *l, uint32_t lane,
	uint32_t i, struct box_piece *p)
{
	uint64_t start = lane_start(l, i);
	uint8_t c = l->inst_class[i];

	if (class_issue_bucket(c) == BUCKET_WAIT) {
		p->lost = p->inside;
		p->is_wait = 1;
		p->family = w->causes ? w->causes[lane].issue_key[c] : 0;
	} else if (l->stall[i]) {
		p->lost = (uint32_t)inside(w->box, start, start + l->stall[i]);
		p->is_wait = class_stall_bucket(c) == BUCKET_WAIT;
		p->family = w->causes ? w->causes[lane].keys[i] & 15u : 0;
	}
}

/* Adds the slices of a lane that begin before `to`; false: the window is full. Lowers *next to the
 * start of the slice after them. */
static bool take_slices(
	const struct select_walk *w, struct lane_walk *k, uint64_t to, uint64_t *next)
{
	const struct lane *l = &w->columns->lanes[k->lane];
	struct box *b = w->box;

	for (; k->i < l->n; k->i++) {
		uint64_t start = lane_start(l, k->i), end = start + l->dur[k->i];
		struct box_piece p = {.length = l->dur[k->i]};

		if (start >= to) {
			*next = start < *next ? start : *next;
			return true;
		}
		if (end <= b->t0 && start < b->t0)
			continue;
		p.key = key_of(w, l, k->lane, k->i);
		p.inside = (uint32_t)inside(b, start, end);
		if (!w->has_pieces)
			set_lost(w, l, k->lane, k->i, &p);
		if (!box_add(b, begin_of(b, start), p))
			return false;
	}
	return true;
}

/* --- causes --- */

struct span {
	uint64_t from, to;
	uint8_t key;
};

/* The next span of a lane: the gap before slice i, its stall, its issue; after the last, the
 * tail. */
static struct span span_of(const struct select_walk *w, const struct lane_walk *k, uint32_t *end)
{
	const struct columns *c = w->columns;
	const struct lane *l = &c->lanes[k->lane];
	const struct lane_split *x = &w->causes[k->lane];
	uint32_t limit = lane_end(l);
	struct span s = {k->cover, limit, x->tail_key};

	if (k->i < l->n) {
		struct pieces p = lane_pieces_after(l, k->i, k->cover);
		uint8_t key = x->keys[k->i];

		*end = (uint32_t)p.end;
		s = k->part == 0 ? (struct span){p.gap, p.stall, key >> 4}
		    : k->part == 1
			    ? (struct span){p.stall, p.issue, key & 15u}
			    : (struct span){p.issue, p.end, x->issue_key[l->inst_class[k->i]]};
	} else if (k->lane + 1 < c->first_lane[l->track + 1]) {
		s.to = l[1].base_cyc - l->base_cyc;
	}
	s.to = s.to < limit ? s.to : limit;
	return s;
}

static bool take_causes(
	const struct select_walk *w, struct lane_walk *k, uint64_t to, uint64_t *next)
{
	const struct lane *l = &w->columns->lanes[k->lane];
	struct box *b = w->box;
	uint32_t end = 0;

	while (l->n && k->i <= l->n) {
		struct span s = span_of(w, k, &end);
		uint64_t from = l->base_cyc + s.from, stop = l->base_cyc + s.to;

		if (s.to > s.from && stop > b->t0) {
			struct box_piece p = {
				.key = s.key % b->n_keys, .length = (uint32_t)(s.to - s.from)};

			if (from >= to) {
				*next = from < *next ? from : *next;
				return true;
			}
			p.inside = (uint32_t)inside(b, from, stop);
			if (!box_add(b, begin_of(b, from), p))
				return false;
		}
		if (k->i < l->n && k->part < 2) {
			k->part++;
		} else {
			k->part = 0;
			k->cover = end;
			k->i++;
		}
	}
	return true;
}

/* --- windows --- */

static bool take_next(const struct select_walk *w, struct lane_walk *k, uint64_t to, uint64_t *next)
{
	return w->by == BY_CAUSE && !w->has_pieces ? take_causes(w, k, to, next)
						   : take_slices(w, k, to, next);
}

typedef void (*flush_fn)(struct box *b);

/* Fills one window; false: it has too many pieces, and the state is restored. */
static bool one_window(struct select_walk *w, uint64_t to, uint64_t *next, flush_fn flush)
{
	bool is_least = w->box->to - w->box->from <= 1; /* order does not matter then */

	memcpy(w->saved, w->now, w->n * sizeof(*w->now));
	*next = UINT64_MAX;
	for (uint32_t i = 0; i < w->n; i++)
		while (!take_next(w, &w->now[i], to, next)) {
			if (!is_least) {
				memcpy(w->now, w->saved, w->n * sizeof(*w->now));
				return false;
			}
			flush(w->box);
		}
	return true;
}

static void rewind_lanes(struct select_walk *w)
{
	const struct columns *c = w->columns;
	uint64_t t0 = w->box->t0, t1 = w->box->t1;

	w->n_left = 0;
	EACH (struct lane_walk, x, w->now, w->n) {
		const struct lane *l = &c->lanes[x->lane];

		x->i = lane_first_after(l, t0);
		while (x->i && lane_start(l, x->i - 1) >= t0)
			x->i--; /* slices without length at the start of the box */
		x->cover = lane_cover(l, x->i);
		x->part = 0;
		w->n_left += lane_first_after(l, t1) - x->i + 1;
	}
}

static void all_windows(struct select_walk *w, flush_fn flush)
{
	struct box *b = w->box;
	uint64_t from = b->t0, width, next, span = b->t1 - b->t0;
	uint32_t good = b->max_pieces / 4 + 1; /* number of pieces that fit the inner caches */

	rewind_lanes(w);
	width = span / (w->n_left / good + 1) + 1;
	do {
		uint64_t to;

		width = width < BOX_WINDOW_CYC ? width : BOX_WINDOW_CYC;
		to = b->t1 - from > width ? from + width : b->t1;
		box_window(b, from, to > from ? to : from + 1);
		if (!one_window(w, to, &next, flush)) {
			width = (to - from) / 2;
			continue;
		}
		width = b->n_pieces < good / 2	 ? width * 2
			: b->n_pieces > 2 * good ? width / 2 + 1
						 : width;
		flush(b);
		from = next > to ? next : to;
	} while (from < b->t1);
}

/* Computes quantiles for a part of the keys at a time, if all at once would take too much
 * memory. */
static bool again_by_parts(struct select_walk *w)
{
	struct lengths *x = &w->box->lengths;

	for (uint32_t n = 2, part = 0; part < n;) {
		lengths_restart(x, part, n);
		all_windows(w, box_flush_lengths);
		if (x->has_failed)
			return false;
		if (x->has_spilled && n >= MAX_PARTS)
			return true; /* too many lengths per key: quantiles stay unknown */
		if (x->has_spilled) {
			n *= 2;
			part = 0;
			continue;
		}
		if (!box_take_quantiles(w->box))
			return false;
		part++;
	}
	return true;
}

bool select_walk_run(struct select_walk *w)
{
	all_windows(w, box_flush);
	if (w->box->lengths.has_failed)
		return false;
	return !w->box->lengths.has_spilled || again_by_parts(w);
}

bool select_walk_init(struct select_walk *w, const struct query_ranges *tracks)
{
	const struct columns *c = w->columns;
	uint64_t n = 0;

	for (unsigned r = 0; r < tracks->n; r++)
		n += c->first_lane[tracks->v[r].last + 1] - c->first_lane[tracks->v[r].first];
	w->now = mem_zalloc(n + 1, sizeof(*w->now));
	w->saved = mem_zalloc(n + 1, sizeof(*w->saved));
	if (!w->now || !w->saved || n > UINT32_MAX)
		return false;
	for (unsigned r = 0; r < tracks->n; r++)
		for (uint32_t k = c->first_lane[tracks->v[r].first];
			k < c->first_lane[tracks->v[r].last + 1]; k++)
			w->now[w->n++].lane = k;
	return true;
}

void select_walk_deinit(struct select_walk *w)
{
	mem_free(w->now);
	mem_free(w->saved);
	w->now = w->saved = NULL;
}
