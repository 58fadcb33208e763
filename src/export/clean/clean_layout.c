/* SPDX-License-Identifier: Apache-2.0 */
/* clean_layout.c: assigns each slice a row of its lane, and sums up each lane. */
#include <stdlib.h>

#include "base/mem.h"
#include "export/clean/clean.h"

/* Times were stored as float32: the end of a slice may be later than the start of the next adjacent
 * one by less than half a cycle (microseconds; 0.27 ns at 1.85 GHz). The older form compares
 * exactly. */
#define TOUCH_SLACK 0.00025

static int compare_pids(const void *pa, const void *pb)
{
	const struct clean_lane *const *a = pa, *const *b = pb;

	return str_cmp((*a)->pid, (*b)->pid);
}

/* Numbers the pids in string order. */
static bool number_groups(struct clean *c)
{
	size_t n = c->lanes.n;
	struct clean_lane **order = mem_resize(NULL, n ? n : 1, sizeof(struct clean_lane *));
	uint32_t group = 0;

	if (!order)
		return false;
	for (size_t i = 0; i < n; i++)
		order[i] = &c->lanes.v[i];
	qsort(order, n, sizeof(struct clean_lane *), compare_pids);
	for (size_t i = 0; i < n; i++) {
		group += i && !str_eq(order[i]->pid, order[i - 1]->pid);
		order[i]->group = group;
	}
	mem_free(order);
	return true;
}

/* The spans of all lanes in one array, lane after lane, in the order they were read. */
static bool gather_spans(struct clean *c)
{
	size_t n = c->slices.n, at = 0;

	if (!VEC_RESERVE(&c->span_pool, n + 1))
		return false;
	c->span_pool.n = n;
	for (size_t i = 0; i < c->lanes.n; i++)
		c->lanes.v[i].n_spans = 0;
	for (size_t i = 0; i < n; i++) {
		mem_step(i);
		c->lanes.v[c->slices.v[i].lane].n_spans++;
	}
	for (size_t i = 0; i < c->lanes.n; i++) {
		c->lanes.v[i].spans = c->span_pool.v + at;
		at += c->lanes.v[i].n_spans;
		c->lanes.v[i].n_spans = 0;
	}
	for (size_t i = 0; i < n; i++) {
		const struct clean_slice *s = &c->slices.v[i];
		struct clean_lane *k = &c->lanes.v[s->lane];

		mem_step(i);
		k->spans[k->n_spans++] = (struct clean_span){s->ts, s->dur, (uint32_t)i};
	}
	return true;
}

/* Cuts the slice of a span at the start of the next one on its row; the span stays unchanged. */
static void cut_before(struct clean *c, const struct clean_span *x, double start)
{
	struct clean_slice *p;

	if (!(x->start + x->length > start))
		return;
	p = &c->slices.v[x->index];
	p->dur = start > p->ts ? start - p->ts : 0;
	p->is_cut = true;
	c->n_clipped++;
}

static bool put_rows(struct clean *c, struct clean_lane *k, struct clean_rows *rows)
{
	double slack = c->options.is_legacy ? 0 : TOUCH_SLACK * c->ticks_per_unit;
	VEC(size_t) last = {0}; /* last span on each row */
	bool ok = true;

	if (c->ticks_per_unit != 1)
		slack = 0; /* times are whole cycles */
	clean_rows_clear(rows);
	for (size_t i = 0; ok && i < k->n_spans; i++) {
		const struct clean_span *s = &k->spans[i];
		uint32_t row = clean_rows_put(rows, s->start, s->start + s->length, slack);

		mem_step(i);
		if (row == CLEAN_NO_ROW || (row >= last.n && !VEC_PUSH(&last, 0))) {
			ok = false;
			break;
		}
		if (rows->n_rows > k->n_rows)
			k->n_rows = rows->n_rows;
		else if (slack > 0)
			cut_before(c, &k->spans[last.v[row]], s->start);
		c->row_of[s->index] = row;
		last.v[row] = i;
	}
	VEC_FREE(&last);
	return ok;
}

bool clean_layout(struct clean *c, struct incore_error *e)
{
	struct clean_rows rows;
	bool ok;

	c->row_of = mem_resize(NULL, c->slices.n + 1, sizeof(*c->row_of));
	ok = c->row_of && number_groups(c) && gather_spans(c);
	clean_rows_init(&rows);
	progress_begin(c->options.progress, "lanes", c->lanes.n);
	for (size_t i = 0; ok && i < c->lanes.n; i++) {
		struct clean_lane *k = &c->lanes.v[i];

		ok = clean_sort(k->spans, k->n_spans) && put_rows(c, k, &rows) &&
		     clean_sum(k->spans, k->n_spans, &k->sum);
		progress_add(c->options.progress, 1);
	}
	progress_end(c->options.progress);
	clean_rows_deinit(&rows);
	return ok || err_nomem(e);
}
