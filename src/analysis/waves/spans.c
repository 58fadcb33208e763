/* SPDX-License-Identifier: Apache-2.0 */
/* spans.c: unions of intervals with depth: a window of bits where they are dense, else lists. */
#include "analysis/waves/spans.h"

#include <string.h>

#include "base/mem.h"
#include "base/search.h"

#define PENDING_MIN 256
#define PAINT_MOST 4096u /* longest interval that is painted at once */
#define WINDOW_MIN 64u	 /* words that a window may always have */
#define WORDS_OF_TIME (UINT64_C(1) << 58)
#define WINDOW_MOST (1u << 25) /* words: 32 bits can count its cycles */

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void list_deinit(struct span_list *l)
{
	mem_free(l->words);
	mem_free(l->before);
	mem_free(l->lengths);
	VEC_FREE(&l->v);
	*l = (struct span_list){0};
}

void spans_deinit(struct spans *s)
{
	bool is_flat = s->is_flat;

	list_deinit(&s->once);
	list_deinit(&s->twice);
	VEC_FREE(&s->pending);
	*s = (struct spans){.is_flat = is_flat};
}

/* --- the window --- */

static size_t window_words(const struct span_list *l)
{
	return l->words ? (size_t)(l->n_cyc / 64) + 1 : 0;
}

static void window_drop(struct span_list *l)
{
	mem_free(l->words);
	l->words = NULL;
	l->first = l->n_cyc = 0;
}

static void window_take(struct span_list *l, uint64_t *words, uint64_t first, uint64_t n)
{
	if (l->words)
		memcpy(words + (l->first / 64 - first), l->words, window_words(l) * sizeof(*words));
	mem_free(l->words);
	l->words = words;
	l->first = first * 64;
	l->n_cyc = n * 64;
}

/* Makes the window n words plus an extra one, starting at word `first` of absolute time; its
 * content is kept. On lack of memory it stays unchanged, since other workers may continue with the
 * set. */
static bool window_move(struct spans *s, uint64_t first, uint64_t n)
{
	uint64_t *once = mem_zalloc((size_t)n + 1, sizeof(*once));
	uint64_t *twice = s->is_flat ? NULL : mem_zalloc((size_t)n + 1, sizeof(*twice));

	if (!once || (!s->is_flat && !twice)) {
		mem_free(once);
		mem_free(twice);
		return false;
	}
	window_take(&s->once, once, first, n);
	if (twice)
		window_take(&s->twice, twice, first, n);
	return true;
}

/*
 * Makes the window hold [start, end). *has_room: whether it may. It grows at least to twice its
 * size, so that additions at either end cost the same. False on lack of memory.
 */
static bool window_reach(struct spans *s, uint64_t start, uint64_t end, bool *has_room)
{
	const struct span_list *l = &s->once;
	uint64_t most = least(WINDOW_MIN + 2 * s->n_added, WINDOW_MOST), old = l->n_cyc / 64;
	uint64_t low = start / 64, high = (end - 1) / 64 + 1, more;

	if (old && l->first / 64 <= low && high <= l->first / 64 + old) {
		*has_room = true;
		return true;
	}
	if (old) {
		low = least(low, l->first / 64);
		high = high > l->first / 64 + old ? high : l->first / 64 + old;
	}
	*has_room = high - low <= most;
	if (!*has_room)
		return true;
	more = least(most - (high - low), old);
	if (old && low < l->first / 64)
		low -= least(more, low);
	else
		high = least(high + more, WORDS_OF_TIME);
	return window_move(s, low, high - low);
}

/* Paints the part inside the window. */
static void paint(struct spans *s, uint64_t start, uint64_t end)
{
	uint64_t at = start - s->once.first, left = end - start;

	for (; left > 64; at += 64, left -= 64)
		spans_paint(s, at, 64);
	spans_paint(s, at, left);
}

/* --- lists --- */

/* A sorted list as a sequence of alternating start and end edges; the last edge is UINT64_MAX. */
struct edges {
	const struct span *now, *end;
	uint64_t next;
	bool is_inside;
};

static void edges_step(struct edges *e)
{
	e->is_inside = !e->is_inside;
	if (!e->is_inside)
		e->now++;
	e->next = e->now == e->end ? UINT64_MAX : e->is_inside ? e->now->end : e->now->start;
}

static struct edges edges_of(const struct span_list *l)
{
	struct edges e = {.next = UINT64_MAX};

	if (l->v.n) /* an empty list may have no array */
		e = (struct edges){.now = l->v.v, .end = l->v.v + l->v.n, .next = l->v.v->start};
	return e;
}

struct pending_edges { /* all starts and all ends, each sorted, UINT64_MAX after the last */
	uint64_t *start, *end;
};

static bool pending_sort(const struct spans *s, struct pending_edges *p)
{
	size_t n = s->pending.n;

	p->start = mem_alloc(2 * (n + 1) * sizeof(*p->start));
	if (!p->start)
		return false;
	p->end = p->start + n + 1;
	for (size_t i = 0; i < n; i++) {
		p->start[i] = s->pending.v[i].start;
		p->end[i] = s->pending.v[i].end;
	}
	p->start[n] = p->end[n] = UINT64_MAX;
	sort_u64_in_order(p->start, n);
	sort_u64_in_order(p->end, n);
	return true;
}

/* Grows a union from the left; touching pieces become one span. */
static bool grow(struct span_list *l, uint64_t start, uint64_t end)
{
	if (l->v.n && l->v.v[l->v.n - 1].end == start) {
		l->v.v[l->v.n - 1].end = end;
		return true;
	}
	return VEC_PUSH(&l->v, (struct span){start, end});
}

/* Walks all edges in time; between two edges the depth is constant. */
static bool spans_sweep(
	const struct spans *s, const struct pending_edges *p, struct span_list out[2])
{
	struct edges once = edges_of(&s->once), twice = edges_of(&s->twice);
	size_t i = 0, k = 0;
	uint64_t now = 0;

	for (;;) {
		size_t depth = i - k + once.is_inside + twice.is_inside;
		uint64_t next = least(least(p->start[i], p->end[k]), least(once.next, twice.next));

		if (next > now && ((depth >= 1 && !grow(&out[0], now, next)) ||
					  (depth >= 2 && !s->is_flat && !grow(&out[1], now, next))))
			return false;
		if (next == UINT64_MAX)
			return true;
		now = next;
		for (; p->start[i] == now;)
			i++;
		for (; p->end[k] == now;)
			k++;
		if (once.next == now)
			edges_step(&once);
		if (twice.next == now)
			edges_step(&twice);
	}
}

static void list_replace(struct span_list *l, struct span_list *by)
{
	VEC_FREE(&l->v);
	l->v.v = by->v.v;
	l->v.n = by->v.n;
	l->v.cap = by->v.cap;
}

static bool fold_pending(struct spans *s)
{
	struct pending_edges p;
	struct span_list out[2] = {0};

	if (s->pending.n == 0)
		return true;
	if (!pending_sort(s, &p))
		return false;
	if (!spans_sweep(s, &p, out)) {
		mem_free(p.start);
		list_deinit(&out[0]);
		list_deinit(&out[1]);
		return false;
	}
	mem_free(p.start);
	list_replace(&s->once, &out[0]);
	list_replace(&s->twice, &out[1]);
	s->pending.n = 0;
	return true;
}

static bool add_pending(struct spans *s, uint64_t start, uint64_t end)
{
	size_t n = s->pending.n;

	if (n && s->pending.v[n - 1].end == start) {
		s->pending.v[n - 1].end = end;
		return true;
	}
	if (n >= PENDING_MIN + s->once.v.n / 2 && !fold_pending(s))
		return false;
	return VEC_PUSH(&s->pending, (struct span){start, end});
}

bool spans_add_slowly(struct spans *s, uint64_t start, uint64_t end)
{
	bool has_room = false;

	if (end - start <= PAINT_MOST && !window_reach(s, start, end, &has_room))
		return false;
	if (!has_room)
		return add_pending(s, start, end);
	paint(s, start, end);
	return true;
}

/* --- both --- */

/* Adds the runs of bits of a window to lists. */
static bool add_runs(struct spans *to, const struct span_list *l)
{
	size_t n = window_words(l);
	struct span run = {0, 0};

	for (size_t i = 0; i < n; i++) {
		uint64_t left = l->words[i], at = l->first + i * 64;

		while (left) {
			unsigned from = (unsigned)__builtin_ctzll(left);
			uint64_t rest = ~left >> from;
			unsigned len = rest ? (unsigned)__builtin_ctzll(rest) : 64 - from;

			if (at + from != run.end || run.end == run.start) {
				if (run.end > run.start && !add_pending(to, run.start, run.end))
					return false;
				run.start = at + from;
			}
			run.end = at + from + len;
			left = from + len < 64 ? left >> (from + len) << (from + len) : 0;
		}
	}
	return run.end == run.start || add_pending(to, run.start, run.end);
}

static bool spans_add_list(struct spans *to, const struct span_list *l)
{
	for (size_t i = 0; i < l->v.n; i++)
		if (!add_pending(to, l->v.v[i].start, l->v.v[i].end))
			return false;
	return true;
}

/* Moves the lists into the window, or the window into the lists. */
static bool unite(struct spans *s)
{
	struct span_list *l[] = {&s->once, &s->twice};
	bool has_room;

	if (!s->once.words || !s->once.v.n)
		return true;
	if (!window_reach(s, s->once.v.v[0].start, s->once.v.v[s->once.v.n - 1].end, &has_room))
		return false;
	for (unsigned k = 0; k < 2; k++) {
		for (size_t i = 0; has_room && i < l[k]->v.n; i++)
			paint(s, l[k]->v.v[i].start, l[k]->v.v[i].end);
		if (has_room)
			VEC_FREE(&l[k]->v);
		else if (!add_runs(s, l[k]))
			return false;
	}
	if (has_room)
		return true;
	window_drop(&s->once);
	window_drop(&s->twice);
	return fold_pending(s);
}

bool spans_fold(struct spans *s)
{
	if (!fold_pending(s) || !unite(s))
		return false;
	VEC_FREE(&s->pending);
	return true;
}

/* Merges the window of `from` into that of s, if that may grow so far. */
static bool merge_windows(struct spans *s, const struct spans *from)
{
	const struct span_list *l = &from->once;
	uint64_t *once, *twice;
	bool has_room;
	size_t n = window_words(l);

	if (!n)
		return true;
	if (!window_reach(s, l->first, l->first + l->n_cyc, &has_room))
		return false;
	if (!has_room)
		return add_runs(s, l) && add_runs(s, &from->twice);
	once = s->once.words + (l->first - s->once.first) / 64;
	twice = s->is_flat ? NULL : s->twice.words + (l->first - s->once.first) / 64;
	for (size_t i = 0; i < n; i++) {
		if (twice)
			twice[i] |= from->twice.words[i] | (once[i] & l->words[i]);
		once[i] |= l->words[i];
	}
	return true;
}

bool spans_merge(struct spans *s, struct spans *from)
{
	if (!fold_pending(from))
		return false;
	VEC_FREE(&from->pending);
	if (s->n_added == 0) {
		spans_deinit(s);
		*s = *from;
		*from = (struct spans){.is_flat = s->is_flat};
		return true;
	}
	s->n_added += from->n_added;
	if (!merge_windows(s, from) || !spans_add_list(s, &from->once) ||
		!spans_add_list(s, &from->twice) || !spans_fold(s))
		return false;
	spans_deinit(from);
	return true;
}

/* --- reading at any place --- */

static bool list_index(struct span_list *l)
{
	size_t n = window_words(l);
	uint64_t covered = 0;

	l->before = n ? mem_alloc(n * sizeof(*l->before)) : NULL;
	l->lengths = mem_alloc((l->v.n + 1) * sizeof(*l->lengths));
	if ((n && !l->before) || !l->lengths)
		return false;
	for (size_t i = 0; i < n; i++) {
		l->before[i] = (uint32_t)covered;
		covered += span_bits(l->words[i]);
	}
	for (size_t i = 0; i < l->v.n; i++) {
		l->lengths[i] = covered;
		covered += l->v.v[i].end - l->v.v[i].start;
	}
	l->lengths[l->v.n] = covered;
	return true;
}

bool spans_index(struct spans *s)
{
	return spans_fold(s) && list_index(&s->once) && list_index(&s->twice);
}

uint64_t span_list_length(const struct span_list *l)
{
	uint64_t n = 0;

	for (size_t i = 0; i < window_words(l); i++)
		n += span_bits(l->words[i]);
	for (size_t i = 0; i < l->v.n; i++)
		n += l->v.v[i].end - l->v.v[i].start;
	return n;
}

/* The first span that ends after x, or the number of spans. Tries a few spans from `near` on
 * first. */
static size_t span_after(const struct span_list *l, size_t near, uint64_t x)
{
	size_t low = 0, high = l->v.n;

	if (near < l->v.n && (near == 0 || l->v.v[near - 1].end <= x)) {
		for (unsigned steps = 0; near < l->v.n && steps < 8; steps++, near++)
			if (l->v.v[near].end > x)
				return near;
		low = near;
	}
	BISECT(low, high, i, l->v.v[i].end <= x);
	return low;
}

uint64_t span_cursor_at(struct span_cursor *c, uint64_t x)
{
	const struct span_list *l = c->list;
	uint64_t at = x - l->first;
	size_t i;

	if (l->words) {
		if (x <= l->first)
			return 0;
		if (at >= l->n_cyc + 64)
			return l->lengths[0];
		return l->before[at / 64] + span_bits(l->words[at / 64] & ~(UINT64_MAX << at % 64));
	}
	i = c->near = span_after(l, c->near, x);
	if (i == l->v.n)
		return l->lengths[i];
	return l->lengths[i] + (x > l->v.v[i].start ? x - l->v.v[i].start : 0);
}
