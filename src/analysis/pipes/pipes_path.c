/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipes_path.c: which chain of instructions made the kernel this long? From the last end of a work
 * pipe it goes back to the latest-ending predecessor: the previous slice on the same pipe, or the
 * slice at the other end of a flag, barrier or cross-core pair. If a pipe has no earlier slice and
 * no flag says more, the path continues with what ended last on the core: an inference, counted as
 * such. Each cycle of the span is given to the slice on the path, or to the gap before it.
 */
#include "analysis/pipes/pipes_internal.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/search.h"

/* --- waits ------------------------------------------------------------------------------------ */

/*
 * What did each pipe wait for? By producer pipe, by pair of lanes, and by the
 * instruction whose flag was awaited: the last work that its pipe ended before it set the flag.
 */

/* One executed wait with a known producer instruction. */
struct awaited {
	code_idx producer, wait;
	uint64_t cyc;	  /* exposed */
	uint64_t latency; /* from the producer's start to the end of the wait */
};

struct pipes_path_gather {
	struct pipes *p;
	VEC(struct awaited) list;
};

static track_idx pipes_path_producer_of(
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
static bool add_awaited(
	struct pipes_path_gather *g, const struct pipe_lane *l, const struct wait_instance *w)
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

static bool visit_lane(struct pipes_path_gather *g, track_idx i)
{
	struct pipes *p = g->p;
	struct pipe_row *r = &p->rows[i];
	const struct pipe_lane *l = &p->private->lanes[i];

	EACH (const struct wait_instance, w, l->waits.v, l->waits.n) {
		track_idx producer = pipes_path_producer_of(p, l, w);

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

static bool make_edges(struct pipes_path_gather *g)
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

static int pipes_path_compare_names(const char *a, const char *b)
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
	order = pipes_path_compare_names(a->producer, b->producer);
	if (!order)
		order = pipes_path_compare_names(a->consumer, b->consumer);
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
		if (y->is_cross_core != x.is_cross_core ||
			pipes_path_compare_names(x.producer, y->producer) ||
			pipes_path_compare_names(x.consumer, y->consumer))
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
static bool pipes_path_count_sets(struct pipes *p)
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
	struct pipes_path_gather g = {.p = p};
	bool ok = true;

	for (track_idx i = 0; ok && i < p->trace->n_tracks; i++)
		ok = !p->rows[i].is_seen || visit_lane(&g, i);
	ok = ok && make_edges(&g) && make_pairs(p) && pipes_path_count_sets(p);
	VEC_FREE(&g.list);
	return ok || err_nomem(e);
}

/* --- the critical path ------------------------------------------------------------------------ */

struct pipes_path_place {
	track_idx track;
	uint32_t slice; /* NO_SLICE: the beginning of the path */
};

struct pipes_path_walker {
	struct pipes *p;
	uint64_t *row_cyc; /* by code row, one more for unknown ones */
	uint64_t now_cyc;  /* the time after it is explained */
	uint64_t steps_left;
};

static const struct pipe_lane *pipes_path_lane_of(const struct pipes_path_walker *w, track_idx i)
{
	return &w->p->private->lanes[i];
}

static uint64_t pipes_path_end_of(const struct pipes_path_walker *w, struct pipes_path_place x)
{
	return x.slice == NO_SLICE ? 0 : lane_end(pipes_path_lane_of(w, x.track), x.slice);
}

/* The last slice to end on a work pipe, else on any lane except marks. */
static struct pipes_path_place find_last(const struct pipes_path_walker *w)
{
	struct pipes_path_place best = {NO_TRACK, NO_SLICE};
	uint64_t end = 0;

	for (unsigned pass = 0; pass < 2 && best.track == NO_TRACK; pass++)
		for (track_idx i = 0; i < w->p->trace->n_tracks; i++) {
			const struct pipe_lane *l = pipes_path_lane_of(w, i);
			enum pipe_role role = w->p->rows[i].role;

			if (!w->p->rows[i].is_seen || role == ROLE_MARK ||
				(pass == 0 && !pipe_role_is_work(role)))
				continue;
			for (uint32_t k = 0; k < l->n; k++)
				if (best.track == NO_TRACK || lane_end(l, k) > end) {
					best = (struct pipes_path_place){i, k};
					end = lane_end(l, k);
				}
		}
	return best;
}

/* Adds a slice's cycles [from, now) to the path; its head cost is at its front. */
static void pipes_path_give(struct pipes_path_walker *w, struct pipes_path_place x, uint64_t from)
{
	const struct pipe_lane *l = pipes_path_lane_of(w, x.track);
	struct pipe_path *path = &w->p->path;
	uint32_t n_code = w->p->trace->n_code;
	code_idx row = l->code[x.slice] < n_code ? l->code[x.slice] : n_code;
	enum pipe_kind kind = (enum pipe_kind)w->p->kinds[row];
	enum path_part part = pipe_kind_is_work(kind) ? PATH_WORK : PATH_WAIT;
	uint64_t head = l->start_cyc[x.slice] + l->stall_cyc[x.slice];

	if (from >= w->now_cyc)
		return;
	w->row_cyc[row] += w->now_cyc - from;
	if (from < head) {
		uint64_t stop = head < w->now_cyc ? head : w->now_cyc;

		path->of_track[x.track][PATH_STALL] += stop - from;
		from = stop;
	}
	path->of_track[x.track][part] += w->now_cyc - from;
}

/* On the same pipe: the slice that ended last before x began, or, if a slice still in flight covers
 * the gap after it, that one. */
static struct pipes_path_place before(const struct pipes_path_walker *w, struct pipes_path_place x)
{
	const struct pipe_lane *l = pipes_path_lane_of(w, x.track);
	uint64_t start = l->start_cyc[x.slice];
	uint32_t n = pipe_lane_ended(l, start, x.slice), in_flight, best;

	best = !n ? NO_SLICE : l->by_end ? l->by_end[n - 1] : n - 1;
	in_flight = x.slice ? l->latest[x.slice - 1] : NO_SLICE;
	if (in_flight != NO_SLICE && lane_end(l, in_flight) > start &&
		(best == NO_SLICE || lane_end(l, best) < start))
		best = in_flight;
	return (struct pipes_path_place){x.track, best};
}

/* The predecessor that ends last; ties: the one on the same pipe. */
static struct pipes_path_place predecessor(
	const struct pipes_path_walker *w, struct pipes_path_place x, bool *is_hop)
{
	const struct trace *t = w->p->trace;
	const struct link *links = w->p->private->links;
	struct pipes_path_place best = before(w, x);
	uint64_t end = pipes_path_end_of(w, best);

	*is_hop = false;
	for (uint32_t k = pipes_find_link(w->p, x.track, x.slice);
		k < t->n_links && links[k].to_track == x.track && links[k].to_slice == x.slice;
		k++) {
		struct pipes_path_place y = {links[k].from_track, links[k].from_slice};

		if (!w->p->rows[y.track].is_seen || y.slice >= pipes_path_lane_of(w, y.track)->n)
			continue;
		/* a slice that ends later released nothing on the path */
		if (pipes_path_end_of(w, y) > w->now_cyc ||
			(best.slice != NO_SLICE && pipes_path_end_of(w, y) <= end))
			continue;
		best = y;
		end = pipes_path_end_of(w, y);
		*is_hop = true;
	}
	return best;
}

/* The slice on another pipe of x's core that ended last before x started. */
static struct pipes_path_place infer(const struct pipes_path_walker *w, struct pipes_path_place x)
{
	const struct trace *t = w->p->trace;
	const uint32_t *core = t->tracks[x.track].coord;
	uint64_t start = pipes_path_lane_of(w, x.track)->start_cyc[x.slice], end = 0;
	struct pipes_path_place best = {x.track, NO_SLICE};

	for (track_idx i = 0; i < t->n_tracks; i++) {
		const struct pipe_lane *l = pipes_path_lane_of(w, i);
		const uint32_t *at = t->tracks[i].coord;

		if (i == x.track || at[0] != core[0] || at[1] != core[1] ||
			!w->p->rows[i].is_seen || w->p->rows[i].role == ROLE_MARK)
			continue;
		for (uint32_t k = 0; k < l->n && l->start_cyc[k] <= start; k++)
			if (lane_end(l, k) <= start && lane_end(l, k) > end) {
				best = (struct pipes_path_place){i, k};
				end = lane_end(l, k);
			}
	}
	return best;
}

static void walk_back(struct pipes_path_walker *w, struct pipes_path_place x)
{
	struct pipe_path *path = &w->p->path;

	while (x.slice != NO_SLICE && w->steps_left--) {
		const struct pipe_lane *l = pipes_path_lane_of(w, x.track);
		bool is_hop;
		struct pipes_path_place y = predecessor(w, x, &is_hop);
		uint64_t from = l->start_cyc[x.slice], end;

		if (y.slice == NO_SLICE) {
			y = infer(w, x);
			path->n_inferred += y.slice != NO_SLICE;
		}
		end = pipes_path_end_of(w, y);
		path->n_slices++;
		path->n_hops += is_hop;
		if (is_hop && end > from)
			from = end;
		if (from < path->begin_cyc)
			from = path->begin_cyc;
		if (end < path->begin_cyc)
			end = path->begin_cyc;
		pipes_path_give(w, x, from);
		if (from < w->now_cyc)
			w->now_cyc = from;
		if (y.slice != NO_SLICE && end < w->now_cyc) {
			path->of_track[x.track][PATH_GAP] += w->now_cyc - end;
			w->now_cyc = end;
		}
		x = y;
	}
}

ORDER(compare_rows, struct path_row, DOWN(cyc) UP(code))

static bool list_rows(struct pipes_path_walker *w)
{
	struct pipe_path *path = &w->p->path;
	uint32_t n_code = w->p->trace->n_code;

	path->rows = arena_zalloc(&w->p->arena, (size_t)n_code + 2, sizeof(*path->rows));
	if (!path->rows)
		return false;
	for (uint32_t i = 0; i <= n_code; i++)
		if (w->row_cyc[i])
			path->rows[path->n_rows++] =
				(struct path_row){i < n_code ? i : NO_CODE, w->row_cyc[i]};
	SORT(path->rows, path->n_rows, compare_rows);
	return true;
}

static bool pipes_path_find_span(struct pipes *p)
{
	struct pipe_path *path = &p->path;

	path->begin_cyc = UINT64_MAX;
	EACH (const struct pipe_row, r, p->rows, p->trace->n_tracks) {
		if (!r->is_seen)
			continue;
		if (r->is_cut)
			return false; /* a path inside a window is not the kernel's path */
		if (r->begin_cyc < path->begin_cyc)
			path->begin_cyc = r->begin_cyc;
		if (r->begin_cyc + r->duration_cyc > path->end_cyc)
			path->end_cyc = r->begin_cyc + r->duration_cyc;
	}
	return path->begin_cyc < path->end_cyc;
}

bool pipes_find_path(struct pipes *p, struct incore_error *e)
{
	struct pipe_path *path = &p->path;
	struct pipes_path_walker w = {.p = p, .steps_left = p->n_instructions + p->n_sync + 1};
	struct pipes_path_place last;
	bool ok;

	path->of_track =
		arena_zalloc(&p->arena, (size_t)p->trace->n_tracks + 1, sizeof(*path->of_track));
	if (!path->of_track)
		return err_nomem(e);
	if (!pipes_path_find_span(p))
		return true;
	last = find_last(&w);
	if (last.track == NO_TRACK)
		return true;
	w.row_cyc = mem_zalloc((size_t)p->trace->n_code + 1, sizeof(*w.row_cyc));
	if (!w.row_cyc)
		return err_nomem(e);
	w.now_cyc = pipes_path_end_of(&w, last) < path->end_cyc ? pipes_path_end_of(&w, last)
								: path->end_cyc;
	path->is_known = true;
	path->tail_cyc = path->end_cyc - w.now_cyc;
	walk_back(&w, last);
	path->lead_cyc = w.now_cyc > path->begin_cyc ? w.now_cyc - path->begin_cyc : 0;
	for (track_idx i = 0; i < p->trace->n_tracks; i++)
		for (unsigned k = 0; k < PATH_PARTS; k++)
			path->part[k] += path->of_track[i][k];
	ok = list_rows(&w);
	mem_free(w.row_cyc);
	return ok || err_nomem(e);
}
