/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipes_path.c: which chain of instructions made the kernel this long? From the last end of a work
 * pipe it goes back to the latest-ending predecessor: the previous slice on the same pipe, or the
 * slice at the other end of a flag, barrier or cross-core pair. If a pipe has no earlier slice and
 * no flag says more, the path continues with what ended last on the core: an inference, counted as
 * such. Each cycle of the span is given to the slice on the path, or to the gap before it.
 */

#include "analysis/pipes/pipes_internal.h"
#include "base/mem.h"
#include "base/search.h"

struct place {
	track_idx track;
	uint32_t slice; /* NO_SLICE: the beginning of the path */
};

struct walker {
	struct pipes *p;
	uint64_t *row_cyc; /* by code row, one more for unknown ones */
	uint64_t now_cyc;  /* the time after it is explained */
	uint64_t steps_left;
};

static const struct pipe_lane *lane_of(const struct walker *w, track_idx i)
{
	return &w->p->private->lanes[i];
}

static uint64_t end_of(const struct walker *w, struct place x)
{
	return x.slice == NO_SLICE ? 0 : lane_end(lane_of(w, x.track), x.slice);
}

/* The last slice to end on a work pipe, else on any lane except marks. */
static struct place find_last(const struct walker *w)
{
	struct place best = {NO_TRACK, NO_SLICE};
	uint64_t end = 0;

	for (unsigned pass = 0; pass < 2 && best.track == NO_TRACK; pass++)
		for (track_idx i = 0; i < w->p->trace->n_tracks; i++) {
			const struct pipe_lane *l = lane_of(w, i);
			enum pipe_role role = w->p->rows[i].role;

			if (!w->p->rows[i].is_seen || role == ROLE_MARK ||
				(pass == 0 && !pipe_role_is_work(role)))
				continue;
			for (uint32_t k = 0; k < l->n; k++)
				if (best.track == NO_TRACK || lane_end(l, k) > end) {
					best = (struct place){i, k};
					end = lane_end(l, k);
				}
		}
	return best;
}

/* Adds a slice's cycles [from, now) to the path; its head cost is at its front. */
static void give(struct walker *w, struct place x, uint64_t from)
{
	const struct pipe_lane *l = lane_of(w, x.track);
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
static struct place before(const struct walker *w, struct place x)
{
	const struct pipe_lane *l = lane_of(w, x.track);
	uint64_t start = l->start_cyc[x.slice];
	uint32_t n = pipe_lane_ended(l, start, x.slice), in_flight, best;

	best = !n ? NO_SLICE : l->by_end ? l->by_end[n - 1] : n - 1;
	in_flight = x.slice ? l->latest[x.slice - 1] : NO_SLICE;
	if (in_flight != NO_SLICE && lane_end(l, in_flight) > start &&
		(best == NO_SLICE || lane_end(l, best) < start))
		best = in_flight;
	return (struct place){x.track, best};
}

/* The predecessor that ends last; ties: the one on the same pipe. */
static struct place predecessor(const struct walker *w, struct place x, bool *is_hop)
{
	const struct trace *t = w->p->trace;
	const struct link *links = w->p->private->links;
	struct place best = before(w, x);
	uint64_t end = end_of(w, best);

	*is_hop = false;
	for (uint32_t k = pipes_find_link(w->p, x.track, x.slice);
		k < t->n_links && links[k].to_track == x.track && links[k].to_slice == x.slice;
		k++) {
		struct place y = {links[k].from_track, links[k].from_slice};

		if (!w->p->rows[y.track].is_seen || y.slice >= lane_of(w, y.track)->n)
			continue;
		/* a slice that ends later released nothing on the path */
		if (end_of(w, y) > w->now_cyc || (best.slice != NO_SLICE && end_of(w, y) <= end))
			continue;
		best = y;
		end = end_of(w, y);
		*is_hop = true;
	}
	return best;
}

/* The slice on another pipe of x's core that ended last before x started. */
static struct place infer(const struct walker *w, struct place x)
{
	const struct trace *t = w->p->trace;
	const uint32_t *core = t->tracks[x.track].coord;
	uint64_t start = lane_of(w, x.track)->start_cyc[x.slice], end = 0;
	struct place best = {x.track, NO_SLICE};

	for (track_idx i = 0; i < t->n_tracks; i++) {
		const struct pipe_lane *l = lane_of(w, i);
		const uint32_t *at = t->tracks[i].coord;

		if (i == x.track || at[0] != core[0] || at[1] != core[1] ||
			!w->p->rows[i].is_seen || w->p->rows[i].role == ROLE_MARK)
			continue;
		for (uint32_t k = 0; k < l->n && l->start_cyc[k] <= start; k++)
			if (lane_end(l, k) <= start && lane_end(l, k) > end) {
				best = (struct place){i, k};
				end = lane_end(l, k);
			}
	}
	return best;
}

static void walk_back(struct walker *w, struct place x)
{
	struct pipe_path *path = &w->p->path;

	while (x.slice != NO_SLICE && w->steps_left--) {
		const struct pipe_lane *l = lane_of(w, x.track);
		bool is_hop;
		struct place y = predecessor(w, x, &is_hop);
		uint64_t from = l->start_cyc[x.slice], end;

		if (y.slice == NO_SLICE) {
			y = infer(w, x);
			path->n_inferred += y.slice != NO_SLICE;
		}
		end = end_of(w, y);
		path->n_slices++;
		path->n_hops += is_hop;
		if (is_hop && end > from)
			from = end;
		if (from < path->begin_cyc)
			from = path->begin_cyc;
		if (end < path->begin_cyc)
			end = path->begin_cyc;
		give(w, x, from);
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

static bool list_rows(struct walker *w)
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

static bool find_span(struct pipes *p)
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
	struct walker w = {.p = p, .steps_left = p->n_instructions + p->n_sync + 1};
	struct place last;
	bool ok;

	path->of_track =
		arena_zalloc(&p->arena, (size_t)p->trace->n_tracks + 1, sizeof(*path->of_track));
	if (!path->of_track)
		return err_nomem(e);
	if (!find_span(p))
		return true;
	last = find_last(&w);
	if (last.track == NO_TRACK)
		return true;
	w.row_cyc = mem_zalloc((size_t)p->trace->n_code + 1, sizeof(*w.row_cyc));
	if (!w.row_cyc)
		return err_nomem(e);
	w.now_cyc = end_of(&w, last) < path->end_cyc ? end_of(&w, last) : path->end_cyc;
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
