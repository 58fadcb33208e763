/* SPDX-License-Identifier: Apache-2.0 */
/* hidden.c: lost cycles that other waves of the same SIMD covered. */
#include "analysis/waves/hidden.h"

#include "base/mem.h"
#include "isa/amd.h"
#include "trace/account.h"

struct hidden_gather {
	struct hidden_sum bucket[BUCKET_COUNT];
	struct hidden_sum recorded;
	struct hidden_sum *rows;
};

static void sum_add(struct hidden_sum *to, const struct hidden_sum *from)
{
	to->cyc += from->cyc;
	to->hidden_cyc += from->hidden_cyc;
	to->other_simd_cyc += from->other_simd_cyc;
}

/* Collects what the trace says about SIMDs without detail; waits, nops and messages hide
 * nothing. */
static bool gather_others(struct hidden *h)
{
	const struct trace *t = h->busy->trace;

	if (t->n_other_issues == 0)
		return true;
	h->others = mem_zalloc((size_t)t->n_clocks + 1, sizeof(*h->others));
	if (!h->others)
		return false;
	EACH (const struct other_issue, o, t->other_issues, t->n_other_issues) {
		if (o->clock >= t->n_clocks || o->category == AMD_CATEGORY_IMMED ||
			o->category == AMD_CATEGORY_MESSAGE)
			continue;
		if (!spans_add(&h->others[o->clock], o->time_cyc, o->time_cyc + o->dur_cyc))
			return false;
	}
	for (uint32_t i = 0; i < t->n_clocks; i++)
		if (!spans_index(&h->others[i]))
			return false;
	return true;
}

struct hidden *hidden_new(const struct busy *b, struct incore_error *e)
{
	struct hidden *h = mem_zalloc(1, sizeof(*h));

	if (h) {
		h->busy = b;
		h->rows = mem_zalloc((size_t)b->trace->n_code + 1, sizeof(*h->rows));
		h->tracks = mem_zalloc((size_t)b->trace->n_tracks + 1, sizeof(*h->tracks));
		if (h->rows && h->tracks && gather_others(h))
			return h;
	}
	hidden_free(h);
	return err_nomem_null(e);
}

void hidden_free(struct hidden *h)
{
	if (!h)
		return;
	for (uint32_t i = 0; h->others && i < h->busy->trace->n_clocks; i++)
		spans_deinit(&h->others[i]);
	mem_free(h->others);
	mem_free(h->rows);
	mem_free(h->tracks);
	mem_free(h);
}

static void hidden_worker_deinit(void *self, void *mine)
{
	struct hidden_gather *g = mine;

	(void)self;
	mem_free(g->rows);
}

static bool hidden_worker_init(void *self, void *mine)
{
	const struct hidden *h = self;
	struct hidden_gather *g = mine;

	g->rows = mem_zalloc((size_t)h->busy->trace->n_code + 1, sizeof(*g->rows));
	return g->rows != NULL;
}

struct hidden_look { /* one track being looked at */
	struct hidden_gather *g;
	struct busy_view view;
	struct span_cursor others;
	struct hidden_sum lost;
};

static uint64_t hidden_add_piece(
	struct hidden_look *l, struct hidden_sum *row, enum bucket b, uint64_t start, uint64_t cyc)
{
	struct hidden_sum s = {cyc, busy_hidden(&l->view, start, cyc), 0};

	if (l->others.list)
		s.other_simd_cyc = span_cursor_between(&l->others, start, start + cyc);
	sum_add(&l->g->bucket[b], &s);
	sum_add(row, &s);
	sum_add(&l->lost, &s);
	return s.hidden_cyc;
}

/*
 * Hidden cycles in [time, from), the part of a recorded stall that the accounting removed because
 * the wave had not finished the previous record. Where the wave itself issued (own), two issuers
 * are needed.
 */
static uint64_t overlap_hidden(
	struct hidden_look *l, uint64_t time, uint64_t from, const struct span *own)
{
	uint64_t a = own->start > time ? own->start : time, b = own->end < from ? own->end : from;

	if (!l->view.once.list)
		return 0;
	if (b <= a)
		return span_cursor_between(&l->view.once, time, from);
	return span_cursor_between(&l->view.once, time, a) +
	       span_cursor_between(&l->view.twice, a, b) +
	       span_cursor_between(&l->view.once, b, from);
}

static void hidden_look_at(
	struct hidden_look *l, const struct account *a, uint32_t n_code, struct span *own)
{
	const struct track_data *d = a->d;
	enum inst_class k = d->inst_class[a->i];
	struct hidden_sum *row = &l->g->rows[d->code[a->i] < n_code ? d->code[a->i] : n_code];
	uint64_t hidden = 0, time = d->start_cyc[a->i], end = time + d->stall_cyc[a->i];

	if (a->gap_cyc)
		hidden_add_piece(l, row, BUCKET_IDLE, a->at.gap, a->gap_cyc);
	if (a->stall_cyc)
		hidden = hidden_add_piece(l, row, class_stall_bucket(k), a->at.stall, a->stall_cyc);
	if (a->is_hit) {
		uint64_t from = end < a->raw.stall ? end : a->raw.stall;

		l->g->recorded.cyc += d->stall_cyc[a->i];
		l->g->recorded.hidden_cyc += hidden;
		if (from > time)
			l->g->recorded.hidden_cyc += overlap_hidden(l, time, from, own);
	}
	if (a->issue_cyc && class_issue_bucket(k) == BUCKET_ISSUE)
		l->g->bucket[BUCKET_ISSUE].cyc += a->issue_cyc;
	else if (a->issue_cyc)
		hidden_add_piece(l, row, BUCKET_DRAIN, a->at.issue, a->issue_cyc);
	if (a->tail_cyc)
		hidden_add_piece(l, row, BUCKET_IDLE, a->at.end, a->tail_cyc);
	if (a->issue_cyc && class_is_busy(k))
		*own = (struct span){a->at.issue, a->at.end};
}

static bool hidden_track(void *self, void *mine, const struct walk_track *w, struct incore_error *e)
{
	struct hidden *h = self;
	struct hidden_look l = {.g = mine};
	struct span own = {0, 0};
	struct account a;

	(void)e;
	busy_view_init(&l.view, h->busy, w->idx);
	if (h->others && w->track->clock < w->trace->n_clocks)
		l.others.list = &h->others[w->track->clock].once;
	account_begin(&a, w->data, w->from_cyc, w->to_cyc);
	if (w->data->n == 0 && a.tail_cyc)
		hidden_add_piece(
			&l, &l.g->rows[w->trace->n_code], BUCKET_IDLE, a.at.end, a.tail_cyc);
	while (account_next(&a))
		hidden_look_at(&l, &a, w->trace->n_code, &own);
	h->tracks[w->idx] = l.lost;
	return true;
}

static bool hidden_merge(void *self, void *mine, struct incore_error *e)
{
	struct hidden *h = self;
	const struct hidden_gather *g = mine;

	(void)e;
	for (unsigned b = 0; b < BUCKET_COUNT; b++)
		sum_add(&h->bucket[b], &g->bucket[b]);
	sum_add(&h->recorded, &g->recorded);
	for (uint32_t i = 0; i <= h->busy->trace->n_code; i++)
		sum_add(&h->rows[i], &g->rows[i]);
	return true;
}

struct collector hidden_collector(struct hidden *h)
{
	return (struct collector){h, sizeof(struct hidden_gather), hidden_worker_init, hidden_track,
		hidden_merge, hidden_worker_deinit};
}

struct hidden_sum hidden_lost(const struct hidden *h)
{
	struct hidden_sum s = {0};

	for (unsigned b = 0; b < BUCKET_COUNT; b++)
		if (b != BUCKET_ISSUE)
			sum_add(&s, &h->bucket[b]);
	return s;
}
