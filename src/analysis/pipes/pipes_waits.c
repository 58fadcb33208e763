/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipes_waits.c: what did each pipe wait for? By producer pipe, by pair of lanes, and by the
 * instruction whose flag was awaited: the last work that its pipe ended before it set the flag.
 */

#include "analysis/pipes/pipes_internal.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/search.h"

/* One executed wait with a known producer instruction. */
struct awaited {
	code_idx producer, wait;
	uint64_t cyc;	  /* exposed */
	uint64_t latency; /* from the producer's start to the end of the wait */
};

struct gather {
	struct pipes *p;
	VEC(struct awaited) list;
};

static track_idx producer_of(
	const struct pipes *p, const struct pipe_lane *l, const struct wait_instance *w)
{
	code_idx code = l->code[w->slice];
	enum pipe_kind kind =
		(enum pipe_kind)p->kinds[code < p->trace->n_code ? code : p->trace->n_code];

	if (kind == KIND_BARRIER)
		return PRODUCER_BARRIER;
	if (kind == KIND_BUFFER)
		return PRODUCER_BUFFER;
	return w->link == UINT32_MAX ? PRODUCER_NONE : p->private->links[w->link].from_track;
}

static bool add_to_row(struct pipe_row *r, track_idx producer, const struct wait_instance *w)
{
	EACH (struct pipe_wait, x, r->waits.v, r->waits.n) {
		if (x->producer != producer)
			continue;
		x->cyc += w->cyc;
		x->count += w->is_inside;
		x->blocked += w->is_inside && w->cyc > 0;
		return true;
	}
	return VEC_PUSH(&r->waits, (struct pipe_wait){.producer = producer,
					   .cyc = w->cyc,
					   .count = w->is_inside,
					   .blocked = w->is_inside && w->cyc > 0});
}

/* Adds the instruction behind a flag, barrier or pair; nothing if its pipe was not read. */
static bool add_awaited(struct gather *g, const struct pipe_lane *l, const struct wait_instance *w)
{
	const struct pipes *p = g->p;
	const struct link *k = &p->private->links[w->link];
	const struct pipe_lane *from = &p->private->lanes[k->from_track];
	uint32_t work, n;
	uint64_t end, start;

	if (k->from_slice >= from->n)
		return true;
	n = pipe_lane_ended(from, lane_end(from, k->from_slice), k->from_slice);
	work = n ? from->last_work[n - 1] : NO_SLICE;
	if (work == NO_SLICE || from->code[work] >= p->trace->n_code ||
		l->code[w->slice] >= p->trace->n_code)
		return true;
	end = lane_end(l, w->slice);
	start = from->start_cyc[work];
	return VEC_PUSH(&g->list, (struct awaited){from->code[work], l->code[w->slice], w->cyc,
					  end > start ? end - start : 0});
}

ORDER(compare_waits, struct pipe_wait, DOWN(cyc) UP(producer))

static bool visit_lane(struct gather *g, track_idx i)
{
	struct pipes *p = g->p;
	struct pipe_row *r = &p->rows[i];
	const struct pipe_lane *l = &p->private->lanes[i];

	EACH (const struct wait_instance, w, l->waits.v, l->waits.n) {
		track_idx producer = producer_of(p, l, w);

		p->n_unmatched += producer == PRODUCER_NONE && w->is_inside;
		if (!add_to_row(r, producer, w))
			return false;
		if (w->link != UINT32_MAX && w->is_inside && !add_awaited(g, l, w))
			return false;
	}
	SORT(r->waits.v, r->waits.n, compare_waits);
	return true;
}

/* --- edges ---------------------------------------------------------------------------------- */

ORDER(compare_awaited, struct awaited, UP(producer) UP(wait) UP(latency))

ORDER(compare_edges, struct producer_edge, DOWN(stall_cyc) UP(wait) UP(producer))

/* v: all executions of one edge, by latency. */
static struct producer_edge edge_of(const struct awaited *v, size_t n)
{
	struct producer_edge x = {.producer = v->producer, .wait = v->wait, .count = n};

	for (size_t i = 0; i < n; i++) {
		x.stall_cyc += v[i].cyc;
		x.n_blocked += v[i].cyc > 0;
	}
	x.latency = (struct distribution){.n = n,
		.min = v[0].latency,
		.median = v[n / 2].latency,
		.p95 = v[n * 95 / 100 < n ? n * 95 / 100 : n - 1].latency,
		.max = v[n - 1].latency};
	return x;
}

static bool make_edges(struct gather *g)
{
	struct pipes *p = g->p;
	size_t n = g->list.n;

	SORT(g->list.v, n, compare_awaited);
	for (size_t i = 0, end; i < n; i = end) {
		const struct awaited *v = &g->list.v[i];

		for (end = i + 1; end < n && g->list.v[end].producer == v->producer &&
				  g->list.v[end].wait == v->wait;)
			end++;
		if (!VEC_PUSH(&p->edges, edge_of(v, end - i)))
			return false;
	}
	SORT(p->edges.v, p->edges.n, compare_edges);
	return true;
}

/* --- pairs ---------------------------------------------------------------------------------- */

static int compare_names(const char *a, const char *b)
{
	if (!a || !b)
		return (b != NULL) - (a != NULL);
	return strcmp(a, b);
}

static int compare_pairs(const void *pa, const void *pb)
{
	const struct pipe_pair *a = pa, *b = pb;
	int order;

	RETURN_UNLESS_EQUAL(b->cyc, a->cyc);
	order = compare_names(a->producer, b->producer);
	if (!order)
		order = compare_names(a->consumer, b->consumer);
	return order ? order : a->is_cross_core - b->is_cross_core;
}

static bool is_cross(const struct trace *t, track_idx a, track_idx b)
{
	return a < t->n_tracks && (t->tracks[a].coord[0] != t->tracks[b].coord[0] ||
					  t->tracks[a].coord[1] != t->tracks[b].coord[1]);
}

static bool add_pair(struct pipes *p, track_idx consumer, const struct pipe_wait *w)
{
	struct pipe_pair x = {pipes_producer_name(p, w->producer),
		pipe_lane_name(&p->trace->tracks[consumer]),
		is_cross(p->trace, w->producer, consumer), w->cyc, w->count, w->blocked};

	EACH (struct pipe_pair, y, p->pairs.v, p->pairs.n) {
		if (y->is_cross_core != x.is_cross_core || compare_names(x.producer, y->producer) ||
			compare_names(x.consumer, y->consumer))
			continue;
		y->cyc += x.cyc;
		y->count += x.count;
		y->blocked += x.blocked;
		return true;
	}
	return VEC_PUSH(&p->pairs, x);
}

static bool make_pairs(struct pipes *p)
{
	for (track_idx i = 0; i < p->trace->n_tracks; i++)
		for (size_t k = 0; k < p->rows[i].waits.n; k++)
			if (!add_pair(p, i, &p->rows[i].waits.v[k]))
				return false;
	SORT(p->pairs.v, p->pairs.n, compare_pairs);
	return true;
}

ORDER(compare_from, struct link, UP(from_track) UP(from_slice))

/* Counts sets that nobody waited for, and flags in more than one pair. */
static bool count_sets(struct pipes *p)
{
	uint32_t n = p->trace->n_links, flags = 0, pairs = 0;
	struct link *v = mem_alloc(((size_t)n + 1) * sizeof(*v));
	uint64_t sets = 0;

	if (!v)
		return false;
	EACH (const struct link, x, p->private->links, n) {
		if (x->kind != LINK_FLAG && x->kind != LINK_CROSS_CORE)
			continue;
		if (flags && v[flags - 1].to_track == x->to_track &&
			v[flags - 1].to_slice == x->to_slice)
			p->n_reused++;
		v[flags++] = *x;
	}
	SORT(v, flags, compare_from);
	for (uint32_t i = 0; i < flags; i++) {
		bool is_again = i && !compare_from(&v[i - 1], &v[i]);

		p->n_reused += is_again;
		pairs += !is_again && p->rows[v[i].from_track].is_seen;
	}
	mem_free(v);
	for (track_idx i = 0; i < p->trace->n_tracks; i++)
		sets += p->rows[i].n_sets;
	p->n_unmatched_sets = sets > pairs ? sets - pairs : 0;
	return true;
}

bool pipes_find_waits(struct pipes *p, struct incore_error *e)
{
	struct gather g = {.p = p};
	bool ok = true;

	for (track_idx i = 0; ok && i < p->trace->n_tracks; i++)
		ok = !p->rows[i].is_seen || visit_lane(&g, i);
	ok = ok && make_edges(&g) && make_pairs(p) && count_sets(p);
	VEC_FREE(&g.list);
	return ok || err_nomem(e);
}
