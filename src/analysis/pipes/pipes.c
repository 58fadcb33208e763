/* SPDX-License-Identifier: Apache-2.0 */
/* pipes.c: one walk over the pipes: accounting, gaps and waits of each, and what is kept for later
 * questions. */
#include "analysis/pipes/pipes.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/pipes/pipes_internal.h"
#include "base/mem.h"
#include "base/search.h"
#include "isa/ascend.h"

struct worker {
	struct pipe_sweep sweep;
	VEC(uint64_t) gaps;
	struct code_totals *totals; /* by code row */
	uint64_t *hits;		    /* by code row, for the current track */
};

/* State of one sweep. */
struct visit {
	struct pipes *p;
	struct pipe_row *row;
	struct pipe_lane *lane;
	const struct walk_track *w;
	struct worker *m;
	enum bucket last; /* bucket of the previous piece */
	uint32_t head;	  /* index into trace.heads: first one of this track not yet passed */
};

/* --- making and freeing --------------------------------------------------------------------- */

ORDER(compare_links, struct link, UP(to_track) UP(to_slice) UP(from_track) UP(from_slice))

static bool take_links(struct pipes *p, struct incore_error *e)
{
	const struct trace *t = p->trace;
	struct pipes_private *x = p->private;

	x->links = t->links;
	for (uint32_t i = 1; i < t->n_links; i++) {
		if (compare_links(&t->links[i - 1], &t->links[i]) <= 0)
			continue;
		x->own_links = mem_alloc((size_t)t->n_links * sizeof(*t->links));
		if (!x->own_links)
			return err_nomem(e);
		memcpy(x->own_links, t->links, (size_t)t->n_links * sizeof(*t->links));
		qsort(x->own_links, t->n_links, sizeof(*t->links), compare_links);
		x->links = x->own_links;
		break;
	}
	return true;
}

uint32_t pipes_find_link(const struct pipes *p, track_idx to_track, uint32_t to_slice)
{
	const struct link *v = p->private->links;
	uint32_t lo = 0, hi = p->trace->n_links;

	BISECT(lo, hi, i,
		v[i].to_track < to_track ||
			(v[i].to_track == to_track && v[i].to_slice < to_slice));
	if (lo < p->trace->n_links && v[lo].to_track == to_track && v[lo].to_slice == to_slice)
		return lo;
	return UINT32_MAX;
}

struct pipes *pipes_new(const struct trace *t, struct incore_error *e)
{
	struct pipes *p = mem_zalloc(1, sizeof(*p));

	if (!p)
		return err_nomem_null(e);
	arena_init(&p->arena);
	p->trace = t;
	p->n_tracks = t->n_tracks;
	p->bound.track = NO_TRACK;
	p->kinds = pipe_kinds_new(t);
	p->rows = mem_zalloc((size_t)t->n_tracks + 1, sizeof(*p->rows));
	p->row_totals = mem_zalloc((size_t)t->n_code + 1, sizeof(*p->row_totals));
	p->private = mem_zalloc(1, sizeof(*p->private));
	if (p->private)
		p->private->lanes = mem_zalloc((size_t)t->n_tracks + 1, sizeof(struct pipe_lane));
	if (!p->kinds || !p->rows || !p->row_totals || !p->private || !p->private->lanes)
		err_nomem(e);
	else if (take_links(p, e))
		return p;
	pipes_free(p);
	return NULL;
}

/* Frees what only the questions across pipes need. */
static void free_lanes(struct pipes *p)
{
	struct pipes_private *x = p->private;

	for (track_idx i = 0; x && x->lanes && i < p->n_tracks; i++)
		pipe_lane_deinit(&x->lanes[i]);
	if (!x)
		return;
	mem_free(x->lanes);
	mem_free(x->own_links);
	mem_free(x);
	p->private = NULL;
}

void pipes_free(struct pipes *p)
{
	if (!p)
		return;
	free_lanes(p);
	for (track_idx i = 0; p->rows && i < p->n_tracks; i++) {
		VEC_FREE(&p->rows[i].waits);
		VEC_FREE(&p->rows[i].busy);
	}
	mem_free(p->rows);
	mem_free(p->row_totals);
	mem_free(p->kinds);
	VEC_FREE(&p->pairs);
	VEC_FREE(&p->edges);
	arena_deinit(&p->arena);
	mem_free(p);
}

/* --- one pipe ------------------------------------------------------------------------------- */

static void worker_deinit(void *self, void *mine)
{
	struct worker *m = mine;

	(void)self;
	pipe_sweep_deinit(&m->sweep);
	VEC_FREE(&m->gaps);
	mem_free(m->totals);
	mem_free(m->hits);
}

static bool worker_init(void *self, void *mine)
{
	const struct pipes *p = self;
	size_t n = (size_t)p->trace->n_code + 1;
	struct worker *m = mine;

	m->totals = mem_zalloc(n, sizeof(*m->totals));
	m->hits = mem_zalloc(n, sizeof(*m->hits));
	return m->totals && m->hits;
}

static bool pipes_merge(void *self, void *mine, struct incore_error *e)
{
	struct pipes *p = self;
	const struct worker *m = mine;

	(void)e;
	for (uint32_t i = 0; i <= p->trace->n_code; i++) {
		p->row_totals[i].hit += m->totals[i].hit;
		p->row_totals[i].latency += m->totals[i].latency;
		p->row_totals[i].stall += m->totals[i].stall;
	}
	return true;
}

/* Counts executions by row: over the whole walk, and the maximum for this track. */
static void count_rows(struct visit *v)
{
	const struct walk_track *w = v->w;
	const struct track_data *d = w->data;
	uint32_t n_code = w->trace->n_code;

	for (uint32_t i = 0; i < d->n; i++) {
		code_idx row = d->code[i] < n_code ? d->code[i] : n_code;

		if (d->start_cyc[i] < w->from_cyc || d->start_cyc[i] >= w->to_cyc)
			continue;
		v->m->totals[row].hit++;
		v->m->totals[row].latency += d->dur_cyc[i] - d->stall_cyc[i];
		v->m->totals[row].stall += d->stall_cyc[i];
		if (v->p->kinds[row] == KIND_WORK && ++v->m->hits[row] > v->row->row_hits_max)
			v->row->row_hits_max = v->m->hits[row];
	}
	for (uint32_t i = 0; i < d->n; i++)
		v->m->hits[d->code[i] < n_code ? d->code[i] : n_code] = 0;
}

static void count_work(struct pipe_row *r, uint64_t start, uint64_t end, bool is_inside)
{
	if ((r->last_cyc == 0 && r->first_cyc == 0) || start < r->first_cyc)
		r->first_cyc = start;
	if (end > r->last_cyc)
		r->last_cyc = end;
	r->n_work += is_inside;
	r->latency_cyc += is_inside ? end - start : 0;
}

/* Counts slices and lists the waits. */
static bool count_slices(struct visit *v)
{
	const struct track_data *d = v->w->data;
	struct pipe_row *r = v->row;
	uint64_t last = 0;

	r->last_code = NO_CODE;
	for (uint32_t i = 0; i < d->n; i++) {
		enum pipe_kind kind = pipe_kind_of(v->p->kinds, v->w->trace, d, i);
		uint64_t end = d->start_cyc[i] + d->dur_cyc[i];
		bool is_inside =
			d->start_cyc[i] >= v->w->from_cyc && d->start_cyc[i] < v->w->to_cyc;
		uint32_t link = kind == KIND_WAIT || kind == KIND_BARRIER
					? pipes_find_link(v->p, v->w->idx, i)
					: UINT32_MAX;

		if (end >= last) {
			last = end;
			r->last_code = d->code[i];
			r->is_last_unmatched = kind == KIND_WAIT && link == UINT32_MAX;
		}
		r->n_config += kind == KIND_CONFIG && is_inside;
		r->n_sets += kind == KIND_SET && is_inside;
		if (pipe_kind_is_work(kind)) {
			count_work(r, d->start_cyc[i] + d->stall_cyc[i], end, is_inside);
			continue;
		}
		r->n_sync += is_inside;
		if (pipe_kind_is_wait(kind) &&
			!VEC_PUSH(&v->lane->waits,
				(struct wait_instance){
					.slice = i, .link = link, .is_inside = is_inside}))
			return false;
	}
	return true;
}

static void add_wait(struct visit *v, const struct pipe_piece *piece)
{
	struct wait_instance *w = v->lane->waits.v;
	size_t after = 1, n = v->lane->waits.n;

	BISECT(after, n, i, w[i].slice <= piece->slice);
	w[after - 1].cyc += piece->to_cyc - piece->from_cyc;
}

/* The cache-miss part of a head cost comes first. */
static void add_stall(struct visit *v, const struct pipe_piece *piece)
{
	const struct trace *t = v->w->trace;
	uint32_t lo = v->head, hi = t->n_heads;
	uint64_t end;

	BISECT(lo, hi, i, t->heads[i].track == v->w->idx && t->heads[i].slice < piece->slice);
	if (lo >= t->n_heads || t->heads[lo].track != v->w->idx ||
		t->heads[lo].slice != piece->slice)
		return;
	end = v->w->data->start_cyc[piece->slice] + t->heads[lo].cache_cyc;
	end = end < piece->to_cyc ? end : piece->to_cyc;
	if (end > piece->from_cyc)
		v->row->cache_cyc += end - piece->from_cyc;
}

static bool add_busy(struct visit *v, const struct pipe_piece *piece)
{
	struct pipe_row *r = v->row;

	if (r->busy.n) {
		struct busy_span *last = &r->busy.v[r->busy.n - 1];
		enum gap_end end = v->last == BUCKET_WAIT    ? GAP_WAIT
				   : v->last == BUCKET_STALL ? GAP_STALL
							     : GAP_IDLE;

		if (last->to_cyc == piece->from_cyc) {
			last->to_cyc = piece->to_cyc;
			return true;
		}
		r->gaps.ended_by[end]++;
		r->gaps.sum += piece->from_cyc - last->to_cyc;
		if (!VEC_PUSH(&v->m->gaps, piece->from_cyc - last->to_cyc))
			return false;
	}
	return VEC_PUSH(&r->busy, (struct busy_span){piece->from_cyc, piece->to_cyc});
}

static bool take_piece(void *ctx, const struct pipe_piece *piece)
{
	struct visit *v = ctx;
	bool ok = true;

	v->row->bucket[piece->bucket] += piece->to_cyc - piece->from_cyc;
	if (piece->bucket == BUCKET_ISSUE)
		ok = add_busy(v, piece);
	else if (piece->bucket == BUCKET_WAIT)
		add_wait(v, piece);
	else if (piece->bucket == BUCKET_STALL)
		add_stall(v, piece);
	v->last = piece->bucket;
	return ok;
}

static void measure_gaps(struct pipe_gaps *g, uint64_t *v, size_t n)
{
	g->n = n;
	if (!n)
		return;
	SORT(v, n, compare_u64);
	g->p50 = quantile_u64(v, n, 50);
	g->p90 = quantile_u64(v, n, 90);
	g->p99 = quantile_u64(v, n, 99);
	g->max = v[n - 1];
}

/* First head cost of a track. */
static uint32_t first_head(const struct trace *t, track_idx track)
{
	uint32_t lo = 0, hi = t->n_heads;

	BISECT(lo, hi, i, t->heads[i].track < track);
	return lo;
}

static bool pipes_track(void *self, void *mine, const struct walk_track *w, struct incore_error *e)
{
	struct pipes *p = self;
	struct worker *m = mine;
	struct pipe_row *r = &p->rows[w->idx];
	struct visit v = {
		p, r, &p->private->lanes[w->idx], w, m, BUCKET_IDLE, first_head(w->trace, w->idx)};

	m->gaps.n = 0;
	*r = (struct pipe_row){.is_seen = true,
		.is_cut = w->from_cyc > 0 || w->to_cyc < UINT64_MAX,
		.role = pipe_role(w->track)};
	if (!pipe_lane_keep(v.lane, w, p->kinds) || !count_slices(&v))
		return err_nomem(e);
	count_rows(&v);
	if (!pipe_sweep_track(&m->sweep, w, p->kinds, take_piece, &v, e))
		return false;
	r->begin_cyc = m->sweep.lo;
	r->duration_cyc = m->sweep.hi - m->sweep.lo;
	r->busy_cyc = r->bucket[BUCKET_ISSUE];
	measure_gaps(&r->gaps, m->gaps.v, m->gaps.n);
	return pipes_measure_depth(r, w, p->kinds, e);
}

struct collector pipes_collector(struct pipes *p)
{
	return (struct collector){
		p, sizeof(struct worker), worker_init, pipes_track, pipes_merge, worker_deinit};
}

/* --- all pipes ------------------------------------------------------------------------------ */

static void add_up(struct pipes *p)
{
	uint64_t sum = 0;

	EACH (const struct pipe_row, r, p->rows, p->trace->n_tracks) {
		if (!r->is_seen || r->role == ROLE_MARK)
			continue;
		p->n_pipes++;
		p->n_instructions += r->n_work;
		p->n_sync += r->n_sync;
		p->duration_cyc += r->duration_cyc;
		for (unsigned b = 0; b < BUCKET_COUNT; b++) {
			p->bucket[b] += r->bucket[b];
			sum += r->bucket[b];
		}
	}
	p->residue_cyc = (int64_t)(p->duration_cyc - sum);
}

static bool is_same_core(const struct track *a, const struct track *b)
{
	return a->coord[0] == b->coord[0] && a->coord[1] == b->coord[1];
}

static bool find_cores(struct pipes *p, struct incore_error *e)
{
	const struct trace *t = p->trace;
	struct pipe_core *c = NULL;

	p->cores = arena_zalloc(&p->arena, (size_t)t->n_tracks + 1, sizeof(*p->cores));
	if (!p->cores)
		return err_nomem(e);
	for (track_idx i = 0; i < t->n_tracks; i++) {
		const struct pipe_row *r = &p->rows[i];

		if (!c || !is_same_core(&t->tracks[c->first], &t->tracks[i])) {
			c = &p->cores[p->n_cores++];
			*c = (struct pipe_core){.first = i, .begin_cyc = UINT64_MAX};
		}
		c->n++;
		if (!r->is_seen)
			continue;
		if (r->begin_cyc < c->begin_cyc)
			c->begin_cyc = r->begin_cyc;
		if (r->begin_cyc + r->duration_cyc > c->end_cyc)
			c->end_cyc = r->begin_cyc + r->duration_cyc;
	}
	return true;
}

bool pipes_finish(struct pipes *p, struct incore_error *e)
{
	add_up(p);
	if (!find_cores(p, e) || !pipes_find_overlap(p, e) || !pipes_find_waits(p, e) ||
		!pipes_find_path(p, e) || !pipes_find_bound(p, e))
		return false;
	free_lanes(p);
	return true;
}

bool pipes_collect(struct pipes *p, const struct walk_options *o, struct walk_result *r,
	struct incore_error *e)
{
	struct collector one = pipes_collector(p);
	const struct collector *list[] = {&one};

	return walk_tracks(p->trace, o, list, 1, r, e) && pipes_finish(p, e);
}

const char *pipes_producer_name(const struct pipes *p, track_idx producer)
{
	if (producer == PRODUCER_BARRIER)
		return "BAR";
	if (producer == PRODUCER_BUFFER)
		return "BUF";
	return producer < p->trace->n_tracks ? pipe_lane_name(&p->trace->tracks[producer]) : NULL;
}

static unsigned dataflow_of(const struct trace *t, track_idx i)
{
	return ascend_lane(t->tracks[i].coord[2])->dataflow;
}

bool pipes_sorted(const struct pipes *p, struct arena *a, track_idx **out, uint32_t *n,
	struct incore_error *e)
{
	const struct trace *t = p->trace;
	track_idx *v = arena_zalloc(a, (size_t)t->n_tracks + 1, sizeof(*v));
	uint32_t count = 0;

	if (!v)
		return err_nomem(e);
	for (uint32_t c = 0; c < p->n_cores; c++) {
		uint32_t first = count;

		for (track_idx i = p->cores[c].first; i < p->cores[c].first + p->cores[c].n; i++) {
			uint32_t at = count;

			if (!p->rows[i].is_seen)
				continue;
			for (; at > first && dataflow_of(t, v[at - 1]) > dataflow_of(t, i); at--)
				v[at] = v[at - 1];
			v[at] = i;
			count++;
		}
	}
	*out = v;
	*n = count;
	return true;
}
