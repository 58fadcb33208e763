/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_select.c: what a box of time and lanes holds. Parts: sums of a box; the walk;
 * the answer.
 */
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/vec.h"
#include "serve/view/box.h"
#include "serve/view/select_walk.h"
#include "serve/view/view_index.h"
#include "serve/view/view_track.h"
#include "trace/index.h"

/* --- sums of a box ---------------------------------------------------------------------------- */

/*
 * Counts the pieces of a window, sorts them by start, and sweeps them for unions.
 */

#define ONE_PASS_BITS 13u /* digits whose counts fit the innermost cache */
#define MAX_DIGIT_BITS 15u

bool box_init(struct box *b, uint64_t t0, uint64_t t1, uint32_t n_keys, uint32_t n_families)
{
	*b = (struct box){.t0 = t0,
		.t1 = t1,
		.n_keys = n_keys,
		.n_families = n_families,
		.max_pieces = BOX_WINDOW_PIECES};
	b->stats = mem_zalloc((size_t)n_keys + 1, sizeof(*b->stats));
	b->families =
		n_families ? mem_zalloc((size_t)n_keys + 1, n_families * sizeof(uint64_t)) : NULL;
	b->pieces = mem_alloc(BOX_WINDOW_PIECES * sizeof(*b->pieces));
	b->spans = mem_alloc(BOX_WINDOW_PIECES * sizeof(*b->spans));
	b->sorted = mem_alloc(BOX_WINDOW_PIECES * sizeof(*b->sorted));
	b->digits = mem_alloc((sizeof(*b->digits) << MAX_DIGIT_BITS));
	for (uint32_t i = 0; b->stats && i < n_keys; i++)
		b->stats[i].key = i;
	if (b->stats && (b->families || !n_families) && b->pieces && b->spans && b->sorted &&
		b->digits && lengths_init(&b->lengths, n_keys) && lengths_init(&b->all_lengths, 1))
		return true;
	box_deinit(b);
	return false;
}

void box_deinit(struct box *b)
{
	mem_free(b->stats);
	mem_free(b->families);
	mem_free(b->pieces);
	mem_free(b->spans);
	mem_free(b->sorted);
	mem_free(b->digits);
	lengths_deinit(&b->lengths);
	lengths_deinit(&b->all_lengths);
	*b = (struct box){0};
}

void box_window(struct box *b, uint64_t from, uint64_t to)
{
	b->from = from;
	b->to = to;
	b->n_pieces = 0;
}

/* Adds the statistics of a piece that do not depend on order. */
static void box_count(struct box *b, const struct box_piece *p)
{
	struct box_stat *s = &b->stats[p->key];

	s->min = s->count == 0 || p->length < s->min ? p->length : s->min;
	s->max = p->length > s->max ? p->length : s->max;
	s->count++;
	s->sum += p->inside;
	s->length_sum += p->length;
	if (p->lost) {
		*(p->is_wait ? &s->wait : &s->stall) += p->lost;
		if (b->families)
			b->families[(size_t)p->key * b->n_families + p->family % b->n_families] +=
				p->lost;
	}
	lengths_add(&b->lengths, p->key, p->length);
	lengths_add(&b->all_lengths, 0, p->length);
}

/* One pass of a stable sort by a digit of the start. */
static void sort_digit(struct box *b, const struct box_span *from, struct box_span *to,
	unsigned shift, unsigned bits)
{
	uint32_t sum = 0, mask = (1u << bits) - 1, *at = b->digits;

	memset(at, 0, ((size_t)mask + 1) * sizeof(*at));
	for (uint32_t i = 0; i < b->n_pieces; i++)
		at[from[i].start >> shift & mask]++;
	for (uint32_t k = 0; k <= mask; k++) {
		uint32_t here = at[k];

		at[k] = sum;
		sum += here;
	}
	for (uint32_t i = 0; i < b->n_pieces; i++)
		to[at[from[i].start >> shift & mask]++] = from[i];
}

/* Sorts spans by start; returns the array that holds the result. */
static const struct box_span *box_sort_spans(struct box *b)
{
	unsigned bits = 1, half;

	while (bits < 2 * MAX_DIGIT_BITS && (b->to - b->from - 1) >> bits)
		bits++;
	if (bits <= ONE_PASS_BITS) {
		sort_digit(b, b->spans, b->sorted, 0, bits);
		return b->sorted;
	}
	half = (bits + 1) / 2;
	sort_digit(b, b->spans, b->sorted, 0, half);
	sort_digit(b, b->sorted, b->spans, half, half);
	return b->spans;
}

static inline uint64_t uncovered(uint64_t *cover, uint64_t start, uint64_t end)
{
	uint64_t from = start > *cover ? start : *cover;

	if (end <= from)
		return 0;
	*cover = end;
	return end - from;
}

void box_flush(struct box *b)
{
	const struct box_span *v;
	uint64_t all = 0, cover = b->total.cover;

	for (uint32_t i = 0; i < b->n_pieces; i++) {
		const struct box_piece *p = &b->pieces[i];

		box_count(b, p);
		b->spans[i] = (struct box_span){p->start, p->inside, p->key};
	}
	v = b->n_pieces ? box_sort_spans(b) : NULL;
	for (uint32_t i = 0; i < b->n_pieces; i++) {
		struct box_stat *s = &b->stats[v[i].key];
		uint64_t start = b->from + v[i].start, end = start + v[i].inside;

		s->union_cyc += uncovered(&s->cover, start, end);
		all += uncovered(&cover, start, end);
	}
	b->total.union_cyc += all;
	b->total.cover = cover;
	b->n_pieces = 0;
}

/* Counts only the lengths of the window again: for quantiles that did not fit. */
static void box_flush_lengths(struct box *b)
{
	for (uint32_t i = 0; i < b->n_pieces; i++)
		lengths_add(&b->lengths, b->pieces[i].key, b->pieces[i].length);
	b->n_pieces = 0;
}

static void set_quantiles(void *ctx, uint32_t key, struct quantiles q)
{
	struct box_stat *s = (struct box_stat *)ctx + key;

	s->median = q.median;
	s->p95 = q.p95;
}

/* Sets the quantiles of the keys that b->lengths counts; false: no memory. */
static bool box_take_quantiles(struct box *b)
{
	return lengths_quantiles(&b->lengths, set_quantiles, b->stats);
}

ORDER(by_sum, struct box_stat, DOWN(sum) UP(key))

/* Adds up all keys, except the union, which box_flush() computes. */
static void box_add_up(struct box *b)
{
	struct box_stat *t = &b->total;

	EACH (const struct box_stat, s, b->stats, b->n_keys) {
		if (!s->count)
			continue;
		t->min = t->count == 0 || s->min < t->min ? s->min : t->min;
		t->max = s->max > t->max ? s->max : t->max;
		t->count += s->count;
		t->sum += s->sum;
		t->length_sum += s->length_sum;
		t->stall += s->stall;
		t->wait += s->wait;
	}
}

bool box_finish(struct box *b)
{
	if (b->lengths.has_failed || b->all_lengths.has_failed)
		return false;
	box_add_up(b);
	b->has_quantiles = !b->lengths.has_spilled && !b->all_lengths.has_spilled;
	if (b->has_quantiles && (!box_take_quantiles(b) || !lengths_quantiles(&b->all_lengths,
								   set_quantiles, &b->total)))
		return false;
	for (uint32_t k = 0; k < b->n_keys; k++)
		if (b->stats[k].count)
			b->stats[b->n_stats++] = b->stats[k];
	SORT(b->stats, b->n_stats, by_sum);
	return true;
}

/* --- the walk --------------------------------------------------------------------------------- */

/*
 * The pieces of many lanes, window by window in time order, unsorted within one.
 */

#define MAX_PARTS 4096u

/* --- slices --- */

static inline uint32_t select_walk_key_of(
	const struct select_walk *w, const struct lane *l, uint32_t lane, uint32_t i)
{
	uint32_t n_code = w->v->trace->n_code, code;

	if (w->has_pieces)
		return w->causes[lane].keys[i] % w->box->n_keys;
	if (w->by == BY_CLASS)
		return class_plain(l->inst_class[i]) < CLASS_COUNT ? class_plain(l->inst_class[i])
								   : CLASS_OTHER;
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
		p.key = select_walk_key_of(w, l, k->lane, k->i);
		p.inside = (uint32_t)inside(b, start, end);
		if (!w->has_pieces)
			set_lost(w, l, k->lane, k->i, &p);
		if (!box_add(b, begin_of(b, start), p))
			return false;
	}
	return true;
}

/* --- causes --- */

struct select_walk_span {
	uint64_t from, to;
	uint8_t key;
};

/* The next span of a lane: the gap before slice i, its stall, its issue; after the last, the
 * tail. */
static struct select_walk_span select_walk_span_of(
	const struct select_walk *w, const struct lane_walk *k, uint32_t *end)
{
	const struct columns *c = w->columns;
	const struct lane *l = &c->lanes[k->lane];
	const struct lane_split *x = &w->causes[k->lane];
	uint32_t limit = lane_end(l);
	struct select_walk_span s = {k->cover, limit, x->tail_key};

	if (k->i < l->n) {
		struct pieces p = lane_pieces_after(l, k->i, k->cover);
		uint8_t key = x->keys[k->i];

		*end = (uint32_t)p.end;
		s = k->part == 0   ? (struct select_walk_span){p.gap, p.stall, key >> 4}
		    : k->part == 1 ? (struct select_walk_span){p.stall, p.issue, key & 15u}
				   : (struct select_walk_span){
					     p.issue, p.end, x->issue_key[l->inst_class[k->i]]};
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
		struct select_walk_span s = select_walk_span_of(w, k, &end);
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
	struct box_lengths *x = &w->box->lengths;

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

/* --- the answer ------------------------------------------------------------------------------- */

/*
 * Statistics of a box by class, code row, source line or cause.
 */

#define BY_WORDS "class|row|line|cause"

struct select {
	const struct view *v;
	struct select_walk walk;
	struct query_ranges tracks;
	struct box box;
	uint32_t *line_of;	     /* by code row, n_code + 1: key of its line */
	const struct frame **frames; /* by line key; NULL: no line */
	uint32_t n_lines;
};

/* --- keys --- */

static bool view_select_number_lines(struct select *s)
{
	const struct trace *t = s->v->trace;
	struct u64_map seen = {0};
	bool ok;

	s->line_of = mem_zalloc((size_t)t->n_code + 1, sizeof(*s->line_of));
	s->frames = mem_zalloc((size_t)t->n_code + 2, sizeof(*s->frames));
	ok = s->line_of && s->frames;
	s->n_lines = 1; /* key 0: rows without a line */
	for (uint32_t i = 0; ok && i < t->n_code; i++) {
		const struct code_row *r = &t->code[i];
		const struct frame *f = r->n_frames ? &t->frames[r->first_frame] : NULL;
		uint64_t *at;

		if (!f)
			continue;
		at = u64_map_at(&seen, (uint64_t)f->source << 32 | f->line);
		ok = at != NULL;
		if (ok && *at == 0) {
			s->frames[s->n_lines] = f;
			*at = s->n_lines++;
		}
		if (ok)
			s->line_of[i] = (uint32_t)*at;
	}
	u64_map_deinit(&seen);
	return ok;
}

static uint32_t n_keys(const struct select *s)
{
	switch (s->walk.by) {
	case BY_ROW:
		return s->v->trace->n_code + 1;
	case BY_LINE:
		return s->n_lines;
	case BY_CAUSE:
		return FAMILY_COUNT;
	default:
		return CLASS_COUNT;
	}
}

/* --- JSON --- */

static void put_known(struct json_writer *w, const char *key, bool is_known, uint64_t value)
{
	json_w_key(w, key);
	if (is_known)
		json_w_u64(w, value);
	else
		json_w_null(w);
}

/* Writes the lost cycles by cause, which add up to stall and wait. */
static void view_select_put_causes(const uint64_t *families, struct json_writer *w)
{
	json_w_kv_row_object(w, "causes");
	for (unsigned f = 0; f < FAMILY_COUNT; f++)
		if (families[f])
			json_w_kv_u64(w, family_name(f), families[f]);
	json_w_end(w);
}

static void put_stat(const struct select *s, const struct box_stat *x, const uint64_t *families,
	struct json_writer *w)
{
	bool is_known = s->box.has_quantiles && x->count;

	json_w_kv_u64(w, "count", x->count);
	json_w_kv_u64(w, "sum", x->sum);
	json_w_kv_u64(w, "union", x->union_cyc);
	json_w_kv_double(w, "mean", x->count ? (double)x->length_sum / (double)x->count : 0, 2);
	json_w_kv_u64(w, "min", x->min);
	put_known(w, "median", is_known, x->median);
	put_known(w, "p95", is_known, x->p95);
	json_w_kv_u64(w, "max", x->max);
	json_w_kv_u64(w, "stall", x->stall);
	json_w_kv_u64(w, "wait", x->wait);
	if (families)
		view_select_put_causes(families, w);
}

static const uint64_t *families_of(const struct box *b, uint32_t key)
{
	return b->families ? b->families + (size_t)key * b->n_families : NULL;
}

static void put_total(const struct select *s, struct json_writer *w)
{
	const struct box *b = &s->box;
	uint64_t all[FAMILY_COUNT] = {0};

	for (size_t i = 0; b->families && i < (size_t)b->n_keys * FAMILY_COUNT; i++)
		all[i % FAMILY_COUNT] += b->families[i];
	json_w_kv_row_object(w, "total");
	put_stat(s, &b->total, b->families ? all : NULL, w);
	json_w_end(w);
}

static void put_row_key(const struct trace *t, uint32_t code, struct json_writer *w)
{
	if (code < t->n_code) {
		json_w_kv_str(w, "key", (struct str){t->code[code].text, t->code[code].text_len});
		json_w_kv_cstr(w, "class", class_name(t->code[code].inst_class));
		json_w_kv_u64(w, "code", code);
	} else {
		json_w_kv_cstr(w, "key", "(unknown code)");
		json_w_kv_null(w, "class");
		json_w_kv_null(w, "code");
	}
}

static void put_line_key(const struct select *s, const struct frame *f, struct json_writer *w)
{
	struct strbuf name = {0};

	if (f)
		trace_put_frame(s->v->trace, f, &name);
	json_w_kv_cstr(w, "key", f && name.p ? name.p : "(no source line)");
	json_w_kv_null(w, "class");
	json_w_kv_null(w, "code");
	json_w_key(w, "source");
	if (f && f->source < s->v->trace->n_sources)
		json_w_u64(w, f->source);
	else
		json_w_null(w);
	json_w_key(w, "line");
	if (f)
		json_w_u64(w, f->line);
	else
		json_w_null(w);
	sb_free(&name);
}

static void view_select_put_key(const struct select *s, uint32_t key, struct json_writer *w)
{
	if (s->walk.by == BY_LINE) {
		put_line_key(s, s->frames[key], w);
		return;
	}
	if (s->walk.by == BY_ROW) {
		put_row_key(s->v->trace, key, w);
	} else {
		const char *name = s->walk.by == BY_CLASS ? class_name(key) : family_name(key);

		json_w_kv_cstr(w, "key", name);
		json_w_kv_cstr(w, "class", s->walk.by == BY_CLASS ? name : NULL);
		json_w_kv_null(w, "code");
	}
	json_w_kv_null(w, "source");
	json_w_kv_null(w, "line");
}

static uint64_t n_tracks(const struct select *s)
{
	uint64_t n = 0;

	for (unsigned r = 0; r < s->tracks.n; r++)
		n += s->tracks.v[r].last - s->tracks.v[r].first + 1;
	return n;
}

static void put_selection(const struct select *s, struct json_writer *w)
{
	static const char *const words[] = {"class", "row", "line", "cause"};
	const struct box *b = &s->box;
	uint64_t cycles = b->t1 - b->t0;

	json_w_object(w);
	json_w_kv_cstr(w, "schema", "incore.view.select/1");
	json_w_kv_u64(w, "t0", b->t0);
	json_w_kv_u64(w, "t1", b->t1);
	json_w_kv_u64(w, "tracks", n_tracks(s));
	json_w_kv_cstr(w, "by", words[s->walk.by]);
	json_w_kv_bool(w, "is_summary", !b->has_quantiles);
	put_total(s, w);
	json_w_kv_double(w, "concurrency", cycles ? (double)b->total.sum / (double)cycles : 0, 3);
	json_w_kv_array(w, "rows");
	for (uint32_t i = 0; i < b->n_stats && i < VIEW_MAX_ROWS; i++) {
		json_w_row_object(w);
		view_select_put_key(s, b->stats[i].key, w);
		put_stat(s, &b->stats[i], families_of(b, b->stats[i].key), w);
		json_w_kv_double(w, "share",
			b->total.sum ? (double)b->stats[i].sum / (double)b->total.sum : 0, 6);
		json_w_end(w);
	}
	json_w_end(w);
	json_w_kv_u64(w, "left_out", b->n_stats > VIEW_MAX_ROWS ? b->n_stats - VIEW_MAX_ROWS : 0);
	json_w_end(w);
}

static bool view_select_parse(
	const struct view *v, const struct query *q, struct select *s, struct incore_error *e)
{
	uint64_t t0, t1, causes, end = v->columns->end_cyc;
	unsigned by, n_families;

	if (!query_number(q, "t0", 0, INT64_MAX, &t0, e) ||
		!query_number(q, "t1", end, INT64_MAX, &t1, e) ||
		!query_number(q, "causes", 0, 1, &causes, e) ||
		!query_word(q, "by", BY_WORDS, &by, e) ||
		!query_set(q, "tracks", v->columns->n_tracks, &s->tracks, e))
		return false;
	if (t1 < t0)
		return err_set(e, INCORE_USAGE, "bad-query", "t1 must not come before t0");
	s->walk = (struct select_walk){
		.v = v, .columns = v->columns, .box = &s->box, .by = (enum select_by)by};
	if (by == BY_LINE && !view_select_number_lines(s))
		return err_nomem(e);
	s->walk.line_of = s->line_of;
	if (causes || by == BY_CAUSE)
		s->walk.causes = v->index->cause.splits;
	if (by == BY_CAUSE && v->has_pipes) {
		s->walk.causes = v->index->pieces.cause.splits;
		s->walk.columns = &v->index->pieces.columns;
		s->walk.has_pieces = true;
	}
	n_families = causes && by != BY_CAUSE ? FAMILY_COUNT : 0;
	return (box_init(&s->box, t0, t1, n_keys(s), n_families) &&
		       select_walk_init(&s->walk, &s->tracks)) ||
	       err_nomem(e);
}

bool view_select(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e)
{
	struct select s = {.v = v};
	struct json_writer w;
	bool ok = view_select_parse(v, q, &s, e) &&
		  ((select_walk_run(&s.walk) && box_finish(&s.box)) || err_nomem(e));

	if (ok) {
		json_w_buf(&w, out, 1);
		put_selection(&s, &w);
		ok = json_w_finish(&w, e);
	}
	select_walk_deinit(&s.walk);
	box_deinit(&s.box);
	mem_free(s.line_of);
	mem_free(s.frames);
	return ok;
}
