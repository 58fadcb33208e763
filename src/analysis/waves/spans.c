/* SPDX-License-Identifier: Apache-2.0 */
/* spans.c: unions of intervals with depth, folded piece by piece; cumulative length by cursor. */
#include "analysis/waves/spans.h"

#include <string.h>

#include "base/mem.h"
#include "base/search.h"

#define PENDING_MIN 256
#define MARK_EVERY 64 /* spans between two places where reading may start */
#define VARINT_MAX 10

struct span_mark {
	uint64_t start;	  /* of the span that is read first */
	uint64_t covered; /* before it */
	uint64_t at;	  /* end of the span before it */
	size_t offset;	  /* in bytes */
};

/* --- a union as bytes --- */

static bool put_varint(struct span_list *l, uint64_t v)
{
	if (!VEC_RESERVE(&l->bytes, l->bytes.n + VARINT_MAX))
		return false;
	for (; v >= 0x80; v >>= 7)
		l->bytes.v[l->bytes.n++] = (uint8_t)(v | 0x80);
	l->bytes.v[l->bytes.n++] = (uint8_t)v;
	return true;
}

/* Our own bytes: they end where a number ends. */
static uint64_t get_varint(struct span_iter *i)
{
	uint64_t v = *i->p & 0x7f;

	for (unsigned shift = 7; *i->p++ & 0x80; shift += 7)
		v |= (uint64_t)(*i->p & 0x7f) << shift;
	return v;
}

struct span_iter span_iter_of(const struct span_list *l)
{
	if (l->n == 0)
		return (struct span_iter){NULL, NULL, 0};
	return (struct span_iter){l->bytes.v, l->bytes.v + l->bytes.n, 0};
}

bool span_iter_next(struct span_iter *i, struct span *out)
{
	if (i->p == i->end)
		return false;
	out->start = i->at + get_varint(i);
	out->end = i->at = out->start + get_varint(i);
	return true;
}

static bool list_put(struct span_list *l, const struct span *s)
{
	if (!put_varint(l, s->start - l->end) || !put_varint(l, s->end - s->start))
		return false;
	l->n++;
	l->length += s->end - s->start;
	l->end = s->end;
	return true;
}

static void list_deinit(struct span_list *l)
{
	VEC_FREE(&l->bytes);
	mem_free(l->marks);
	*l = (struct span_list){0};
}

void spans_deinit(struct spans *s)
{
	list_deinit(&s->once);
	list_deinit(&s->twice);
	VEC_FREE(&s->pending);
}

/* --- folding --- */

/* A sorted list seen as edges, in and out by turns; the last edge is UINT64_MAX. */
struct edges {
	struct span_iter iter;
	struct span now;
	uint64_t next;
	bool is_inside;
};

static void edges_step(struct edges *e)
{
	e->is_inside = !e->is_inside;
	if (e->is_inside)
		e->next = e->now.end;
	else
		e->next = span_iter_next(&e->iter, &e->now) ? e->now.start : UINT64_MAX;
}

static void edges_init(struct edges *e, const struct span_list *l)
{
	*e = (struct edges){.iter = span_iter_of(l), .is_inside = true};
	edges_step(e);
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
	SORT(p->start, n, compare_u64);
	SORT(p->end, n, compare_u64);
	return true;
}

/* Grows a union from the left; touching pieces become one span. */
struct grower {
	struct span_list list;
	struct span open; /* not yet in the list; empty: none */
};

static bool grow(struct grower *g, uint64_t start, uint64_t end)
{
	if (g->open.end == start && g->open.end > g->open.start) {
		g->open.end = end;
		return true;
	}
	if (g->open.end > g->open.start && !list_put(&g->list, &g->open))
		return false;
	g->open = (struct span){start, end};
	return true;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Walks all edges in time; between two edges the depth is constant. */
static bool sweep(const struct spans *s, const struct pending_edges *p, struct grower out[2])
{
	struct edges once, twice;
	size_t i = 0, k = 0;
	uint64_t now = 0;

	edges_init(&once, &s->once);
	edges_init(&twice, &s->twice);
	for (;;) {
		size_t depth = i - k + once.is_inside + twice.is_inside;
		uint64_t next = least(least(p->start[i], p->end[k]), least(once.next, twice.next));

		if (next > now && ((depth >= 1 && !grow(&out[0], now, next)) ||
					  (depth >= 2 && !grow(&out[1], now, next))))
			return false;
		if (next == UINT64_MAX)
			break;
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
	return grow(&out[0], UINT64_MAX, UINT64_MAX) && grow(&out[1], UINT64_MAX, UINT64_MAX);
}

bool spans_fold(struct spans *s)
{
	struct pending_edges p;
	struct grower out[2] = {0};

	if (s->pending.n == 0)
		return true;
	if (!pending_sort(s, &p))
		return false;
	if (!sweep(s, &p, out)) {
		mem_free(p.start);
		list_deinit(&out[0].list);
		list_deinit(&out[1].list);
		return false;
	}
	mem_free(p.start);
	list_deinit(&s->once);
	list_deinit(&s->twice);
	s->once = out[0].list;
	s->twice = out[1].list;
	s->pending.n = 0;
	return true;
}

bool spans_add(struct spans *s, uint64_t start, uint64_t end)
{
	size_t n = s->pending.n;

	if (end <= start)
		return true;
	if (n && s->pending.v[n - 1].end == start) {
		s->pending.v[n - 1].end = end;
		return true;
	}
	if (s->pending.n >= PENDING_MIN + s->once.n / 2 && !spans_fold(s))
		return false;
	return VEC_PUSH(&s->pending, (struct span){start, end});
}

static bool add_list(struct spans *s, const struct span_list *l)
{
	struct span_iter i = span_iter_of(l);
	struct span x;

	while (span_iter_next(&i, &x))
		if (!spans_add(s, x.start, x.end))
			return false;
	return true;
}

bool spans_merge(struct spans *s, struct spans *from)
{
	if (!spans_fold(from))
		return false;
	VEC_FREE(&from->pending);
	if (s->once.n == 0 && s->pending.n == 0) {
		spans_deinit(s);
		*s = *from;
		*from = (struct spans){0};
		return true;
	}
	if (!add_list(s, &from->once) || !add_list(s, &from->twice) || !spans_fold(s))
		return false;
	spans_deinit(from);
	VEC_FREE(&s->pending);
	return true;
}

/* --- reading at any place --- */

static bool list_index(struct span_list *l)
{
	struct span_iter i = span_iter_of(l), before = i;
	uint64_t covered = 0;
	struct span x;

	mem_free(l->marks);
	l->marks = mem_zalloc(l->n / MARK_EVERY + 1, sizeof(*l->marks));
	l->n_marks = 0;
	if (!l->marks)
		return false;
	for (size_t n = 0; span_iter_next(&i, &x); n++) {
		if (n % MARK_EVERY == 0)
			l->marks[l->n_marks++] = (struct span_mark){
				x.start, covered, before.at, (size_t)(before.p - l->bytes.v)};
		covered += x.end - x.start;
		before = i;
	}
	return true;
}

bool spans_index(struct spans *s)
{
	return spans_fold(s) && list_index(&s->once) && list_index(&s->twice);
}

/* Reads the next span; at the end `now` is an empty one behind all. */
static void cursor_step(struct span_cursor *c)
{
	c->covered += c->now.end - c->now.start;
	c->floor = c->iter.at;
	if (!span_iter_next(&c->iter, &c->now)) {
		c->now = (struct span){UINT64_MAX, UINT64_MAX};
		c->is_done = true;
	}
}

/* To the last mark that starts at or before x. */
static void cursor_seek(struct span_cursor *c, uint64_t x)
{
	const struct span_list *l = c->list;
	size_t after = 1, n = l->n_marks;
	const struct span_mark *m;

	BISECT(after, n, i, l->marks[i].start <= x);
	c->is_started = true;
	c->is_done = l->n_marks == 0;
	c->now = (struct span){0, 0};
	c->covered = c->floor = 0;
	if (c->is_done) {
		c->now = (struct span){UINT64_MAX, UINT64_MAX};
		return;
	}
	m = &l->marks[after - 1];
	c->iter = (struct span_iter){l->bytes.v + m->offset, l->bytes.v + l->bytes.n, m->at};
	c->covered = m->covered;
	cursor_step(c);
}

uint64_t span_cursor_at(struct span_cursor *c, uint64_t x)
{
	unsigned steps = 0;

	if (!c->is_started || x < c->floor)
		cursor_seek(c, x);
	while (c->now.end <= x && !c->is_done) {
		if (++steps == 2 * MARK_EVERY)
			cursor_seek(c, x);
		else
			cursor_step(c);
	}
	return c->covered + (x > c->now.start ? x - c->now.start : 0);
}
