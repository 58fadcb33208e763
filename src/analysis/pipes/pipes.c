/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipes.c: one walk over the pipes: accounting, gaps and waits of each, and what is kept for later
 * questions. Divisions: depth; overlap; one lane; the verdict; causes and producers; the analysis.
 */
#include "analysis/pipes/pipes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/pipes/pipes_internal.h"
#include "analysis/place.h"
#include "base/mem.h"
#include "base/search.h"
#include "isa/ascend.h"

/* --- depth ------------------------------------------------------------------------------------ */

/* Starts and ends of the work slices that have a length, cut to [lo, hi). */
static size_t pipes_gather(const struct walk_track *w, const uint8_t *kinds, bool with_config,
	uint64_t *from, uint64_t *to)
{
	const struct track_data *d = w->data;
	uint64_t lo = d->begin_cyc > w->from_cyc ? d->begin_cyc : w->from_cyc;
	uint64_t hi = d->end_cyc < w->to_cyc ? d->end_cyc : w->to_cyc;
	size_t n = 0;

	for (uint32_t i = 0; i < d->n; i++) {
		enum pipe_kind kind = pipe_kind_of(kinds, w->trace, d, i);
		uint64_t start = d->start_cyc[i] + d->stall_cyc[i];
		uint64_t end = d->start_cyc[i] + d->dur_cyc[i];

		if (kind != KIND_WORK && !(with_config && kind == KIND_CONFIG))
			continue;
		from[n] = start > lo ? start : lo;
		to[n] = end < hi ? end : hi;
		n += to[n] > from[n];
	}
	sort_u64_in_order(from, n);
	sort_u64_in_order(to, n);
	return n;
}

/* Returns the cycles with anything in flight; also fills the depths if a row is given. */
static uint64_t pipes_sweep(const uint64_t *from, const uint64_t *to, size_t n, struct pipe_row *r)
{
	uint64_t depth = 0, pos = 0, busy = 0;

	for (size_t i = 0, k = 0; k < n;) {
		uint64_t at = i < n && from[i] < to[k] ? from[i] : to[k];

		if (depth) {
			busy += at - pos;
			if (r)
				r->depth_cyc[(depth < PIPE_DEPTHS ? depth : PIPE_DEPTHS) - 1] +=
					at - pos;
		}
		pos = at;
		if (i < n && from[i] < to[k]) {
			depth++;
			i++;
		} else {
			depth--;
			k++;
		}
		if (r && depth > r->depth_max)
			r->depth_max = depth;
	}
	return busy;
}

static bool has_config(const struct walk_track *w, const uint8_t *kinds)
{
	for (uint32_t i = 0; i < w->data->n; i++)
		if (pipe_kind_of(kinds, w->trace, w->data, i) == KIND_CONFIG)
			return true;
	return false;
}

/* One question per file. */
static bool pipes_measure_depth(struct pipe_row *r, const struct walk_track *w,
	const uint8_t *kinds, struct incore_error *e)
{
	size_t room = (size_t)w->data->n + 1;
	uint64_t *from = mem_alloc(room * sizeof(*from)), *to = mem_alloc(room * sizeof(*to));
	bool ok = from && to;

	if (ok)
		pipes_sweep(from, to, pipes_gather(w, kinds, true, from, to), r);
	if (ok && has_config(w, kinds))
		r->config_cyc =
			r->busy_cyc -
			pipes_sweep(from, to, pipes_gather(w, kinds, false, from, to), NULL);
	mem_free(from);
	mem_free(to);
	return ok || err_nomem(e);
}

/* --- overlap ---------------------------------------------------------------------------------- */

struct pipes_cursor {
	const struct pipe_row *row;
	size_t at; /* index into its busy spans */
	bool is_on;
};

/* The next time after pos at which a pipe starts or stops, or UINT64_MAX. */
static uint64_t next_time(struct pipes_cursor *v, uint32_t n, uint64_t pos)
{
	uint64_t next = UINT64_MAX;

	for (uint32_t k = 0; k < n; k++) {
		struct pipes_cursor *c = &v[k];
		const struct busy_span *s;

		while (c->at < c->row->busy.n && c->row->busy.v[c->at].to_cyc <= pos)
			c->at++;
		c->is_on = false;
		if (c->at == c->row->busy.n)
			continue;
		s = &c->row->busy.v[c->at];
		c->is_on = s->from_cyc <= pos;
		if (c->is_on && s->to_cyc < next)
			next = s->to_cyc;
		if (!c->is_on && s->from_cyc < next)
			next = s->from_cyc;
	}
	return next;
}

/* Adds a stretch of `cyc` cycles in which exactly the pipes that are on were busy. */
static void add_stretch(
	struct pipes *p, struct pipe_core *c, const struct pipes_cursor *v, uint64_t cyc)
{
	uint32_t n_work = 0, work = 0;
	bool is_computing = false;

	for (uint32_t i = 0; i < c->n; i++) {
		if (!v[i].is_on)
			continue;
		for (uint32_t k = i; k < c->n; k++)
			if (v[k].is_on)
				c->overlap[(size_t)i * c->n + k] += cyc;
		if (!pipe_role_is_work(v[i].row->role))
			continue;
		n_work++;
		work = i;
		is_computing |= v[i].row->role == ROLE_COMPUTE;
	}
	c->busy_cyc += n_work ? cyc : 0;
	c->compute_cyc += is_computing ? cyc : 0;
	if (n_work == 1)
		p->rows[c->first + work].exposed_cyc += cyc;
}

static bool overlap_core(struct pipes *p, struct pipe_core *c, struct pipes_cursor *v)
{
	uint64_t pos = 0;

	c->overlap = arena_zalloc(&p->arena, (size_t)c->n * c->n, sizeof(*c->overlap));
	if (!c->overlap)
		return false;
	for (uint32_t i = 0; i < c->n; i++)
		v[i] = (struct pipes_cursor){.row = &p->rows[c->first + i]};
	for (;;) {
		uint64_t next = next_time(v, c->n, pos);

		if (next == UINT64_MAX)
			break;
		add_stretch(p, c, v, next - pos);
		pos = next;
	}
	for (uint32_t i = 0; i < c->n; i++)
		for (uint32_t k = 0; k < i; k++)
			c->overlap[(size_t)i * c->n + k] = c->overlap[(size_t)k * c->n + i];
	return true;
}

static bool pipes_find_overlap(struct pipes *p, struct incore_error *e)
{
	struct pipes_cursor *v = mem_zalloc((size_t)p->trace->n_tracks + 1, sizeof(*v));
	bool ok = v != NULL;

	for (uint32_t i = 0; ok && i < p->n_cores; i++)
		ok = overlap_core(p, &p->cores[i], v);
	mem_free(v);
	return ok || err_nomem(e);
}

/* --- one lane --------------------------------------------------------------------------------- */

static void pipe_lane_deinit(struct pipe_lane *l)
{
	mem_free(l->start_cyc);
	mem_free(l->dur_cyc);
	mem_free(l->stall_cyc);
	mem_free(l->code);
	mem_free(l->last_work);
	mem_free(l->latest);
	mem_free(l->by_end);
	VEC_FREE(&l->waits);
	*l = (struct pipe_lane){0};
}

static int compare_ends(const void *pa, const void *pb, void *ctx)
{
	const struct pipe_lane *l = ctx;
	const uint32_t *a = pa, *b = pb;
	uint64_t ea = lane_end(l, *a), eb = lane_end(l, *b);

	RETURN_UNLESS_EQUAL(ea, eb);
	return COMPARE(*a, *b);
}

/* Instructions of most pipes end in the order they start. */
static bool order_ends(struct pipe_lane *l)
{
	uint32_t i = 1;

	while (i < l->n && lane_end(l, i) >= lane_end(l, i - 1))
		i++;
	if (i >= l->n)
		return true;
	l->by_end = mem_alloc((size_t)l->n * sizeof(*l->by_end));
	for (i = 0; l->by_end && i < l->n; i++)
		l->by_end[i] = i;
	if (l->by_end)
		qsort_r(l->by_end, l->n, sizeof(*l->by_end), compare_ends, l);
	return l->by_end != NULL;
}

/* False on lack of memory; the lane must be freed in that case, too. */
static bool pipe_lane_keep(struct pipe_lane *l, const struct walk_track *w, const uint8_t *kinds)
{
	const struct track_data *d = w->data;
	size_t n = d->n ? d->n : 1;
	uint32_t last = NO_SLICE;

	l->start_cyc = mem_alloc(n * sizeof(*l->start_cyc));
	l->dur_cyc = mem_alloc(n * sizeof(*l->dur_cyc));
	l->stall_cyc = mem_alloc(n * sizeof(*l->stall_cyc));
	l->code = mem_alloc(n * sizeof(*l->code));
	l->last_work = mem_alloc(n * sizeof(*l->last_work));
	l->latest = mem_alloc(n * sizeof(*l->latest));
	if (!l->start_cyc || !l->dur_cyc || !l->stall_cyc || !l->code || !l->last_work ||
		!l->latest)
		return false;
	l->n = d->n;
	if (d->n) {
		memcpy(l->start_cyc, d->start_cyc, n * sizeof(*l->start_cyc));
		memcpy(l->dur_cyc, d->dur_cyc, n * sizeof(*l->dur_cyc));
		memcpy(l->stall_cyc, d->stall_cyc, n * sizeof(*l->stall_cyc));
		memcpy(l->code, d->code, n * sizeof(*l->code));
	}
	for (uint32_t i = 0; i < d->n; i++)
		l->latest[i] =
			i && lane_end(l, l->latest[i - 1]) > lane_end(l, i) ? l->latest[i - 1] : i;
	if (!order_ends(l))
		return false;
	for (uint32_t i = 0; i < d->n; i++) {
		uint32_t k = l->by_end ? l->by_end[i] : i;

		if (pipe_kind_is_work(pipe_kind_of(kinds, w->trace, d, k)))
			last = k;
		l->last_work[i] = last;
	}
	return true;
}

/* Does slice k end before that time, or at that time with a lower index than the slice? */
static bool has_ended(const struct pipe_lane *l, uint32_t k, uint64_t time_cyc, uint32_t slice)
{
	uint64_t end = lane_end(l, k);

	return end < time_cyc || (end == time_cyc && k < slice);
}

uint32_t pipe_lane_ended(const struct pipe_lane *l, uint64_t time_cyc, uint32_t slice)
{
	uint32_t lo = 0, hi = l->n;

	BISECT(lo, hi, i, has_ended(l, l->by_end ? l->by_end[i] : i, time_cyc, slice));
	return lo;
}

/* --- the verdict ------------------------------------------------------------------------------ */

/*
 * What is the kernel bound by? If the pipe with the largest share of the critical
 * path is also busy for 80 % of its core's span, the kernel is bound by it; if most of the path is
 * waiting, by synchronisation; else by latency. One sentence, with its evidence and the instruction
 * of that pipe to look at first.
 */

#define BUSY_BOUND 0.80

static uint64_t path_span(const struct pipe_path *x)
{
	return x->end_cyc - x->begin_cyc;
}

static track_idx find_pipe(const struct pipes *p)
{
	track_idx best = NO_TRACK;
	uint64_t most = 0;

	for (track_idx i = 0; i < p->trace->n_tracks; i++) {
		uint64_t cyc = p->path.of_track[i][PATH_WORK];

		if (p->rows[i].role == ROLE_MARK || cyc <= most)
			continue;
		most = cyc;
		best = i;
	}
	return best;
}

static bool is_run_on(const struct pipe_lane *l, code_idx row)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (l->code[i] == row)
			return true;
	return false;
}

/* Finds the first work row of this pipe; the rows of the path are sorted by cycles. */
static void pipes_find_row(struct pipes *p)
{
	const struct pipe_lane *l = &p->private->lanes[p->bound.track];
	const struct pipe_path *path = &p->path;

	for (uint32_t i = 0; i < path->n_rows && p->bound.where == NO_CODE; i++) {
		code_idx row = path->rows[i].code;

		if (row == NO_CODE || !pipe_kind_is_work((enum pipe_kind)p->kinds[row]) ||
			!is_run_on(l, row))
			continue;
		p->bound.where = row;
		p->bound.where_share = (double)path->rows[i].cyc / (double)path_span(path);
	}
}

static void pipes_put_row(const struct pipes *p, struct strbuf *b)
{
	const struct pipe_bound *x = &p->bound;

	if (x->where == NO_CODE)
		return;
	sb_puts(b, "; its costliest row on the path: ");
	place_put(p->trace, x->where, b);
	sb_printf(b, ", %.1f %%: `%s`", 100 * x->where_share, p->trace->code[x->where].text);
}

static void put_pair(const struct pipes *p, struct strbuf *b)
{
	const struct pipe_pair *x = p->pairs.n ? &p->pairs.v[0] : NULL;

	if (x && x->cyc)
		sb_printf(b, "; most waiting: %s for %s, %llu cycle%s in %llu wait%s", x->consumer,
			x->producer ? x->producer : "nobody known", (unsigned long long)x->cyc,
			plural(x->cyc), (unsigned long long)x->count, plural(x->count));
}

static void put_sentence(const struct pipes *p, struct strbuf *b)
{
	const struct pipe_bound *x = &p->bound;
	const char *name = p->trace->tracks[x->track].name;
	const struct pipe_row *r = &p->rows[x->track];
	double span = (double)path_span(&p->path);

	if (!strcmp(x->kind, "pipe"))
		sb_printf(b, "%s-bound", pipe_lane_name(&p->trace->tracks[x->track]));
	else
		sb_printf(b, "%s-bound", x->kind);
	sb_printf(b,
		": %s holds %.1f %% of the critical path and is busy %.1f %% of its core's span (%llu of %llu cycles)",
		name, 100 * x->path_share, 100 * x->busy_share, (unsigned long long)r->busy_cyc,
		(unsigned long long)r->duration_cyc);
	pipes_put_row(p, b);
	if (strcmp(x->kind, "pipe") != 0)
		sb_printf(b, "; of the path waits hold %.1f %%, gaps in issue %.1f %%",
			100 * (double)p->path.part[PATH_WAIT] / span,
			100 * (double)p->path.part[PATH_GAP] / span);
	put_pair(p, b);
}

static bool pipes_find_bound(struct pipes *p, struct incore_error *e)
{
	struct pipe_bound *x = &p->bound;
	const struct pipe_path *path = &p->path;
	struct strbuf b = {0};

	x->kind = "none";
	x->where = NO_CODE;
	x->track = path->is_known ? find_pipe(p) : NO_TRACK;
	if (x->track == NO_TRACK) {
		x->sentence = path->is_known ? "no verdict: no pipe did any work"
					     : "no verdict: no critical path in this selection";
		return true;
	}
	x->path_share = (double)path->of_track[x->track][PATH_WORK] / (double)path_span(path);
	x->busy_share = (double)p->rows[x->track].busy_cyc / (double)p->rows[x->track].duration_cyc;
	if (x->busy_share >= BUSY_BOUND)
		x->kind = "pipe";
	else if (2 * path->part[PATH_WAIT] > path_span(path))
		x->kind = "sync";
	else
		x->kind = "latency";
	pipes_find_row(p);
	put_sentence(p, &b);
	x->sentence = b.failed ? NULL : arena_strdup(&p->arena, b.p);
	sb_free(&b);
	return x->sentence || err_nomem(e);
}

/* --- causes and producers --------------------------------------------------------------------- */

struct filler {
	const struct pipes *p;
	struct causes *c;
	uint32_t cap;
	bool is_failed;
};

static void pipes_add(struct filler *f, struct cause x, const char *lane)
{
	struct causes *c = f->c;
	char name[96];

	if (!x.cyc && !x.hits)
		return;
	snprintf(name, sizeof(name), "%s%s", x.name, lane ? lane : "");
	for (uint32_t i = 0; i < c->n; i++)
		if (!strcmp(c->v[i].name, name)) {
			c->v[i].cyc += x.cyc;
			c->v[i].hits += x.hits;
			return;
		}
	x.name = arena_strdup(&c->arena, name);
	f->is_failed |= !x.name || c->n == f->cap;
	if (!f->is_failed)
		c->v[c->n++] = x;
}

static void add_waits(struct filler *f, const struct pipe_row *r)
{
	EACH (const struct pipe_wait, w, r->waits.v, r->waits.n) {
		bool is_known = w->producer != PRODUCER_NONE;
		bool is_barrier = w->producer == PRODUCER_BARRIER;
		struct cause x = {.kind = is_barrier ? CAUSE_BARRIER : CAUSE_WAIT,
			.bucket = BUCKET_WAIT,
			.family = FAMILY_SYNC,
			.name = is_barrier ? "barrier" : "wait:",
			.cyc = w->cyc,
			.hits = w->count,
			.free_hits = w->count - w->blocked};

		pipes_add(f, x,
			is_barrier ? NULL
			: is_known ? pipes_producer_name(f->p, w->producer)
				   : "(unmatched)");
	}
}

static void pipes_add_lane(struct filler *f, const struct pipe_row *r, const char *lane)
{
	uint64_t queue = r->bucket[BUCKET_STALL] - r->cache_cyc;

	pipes_add(f,
		(struct cause){.kind = CAUSE_ISSUE,
			.bucket = BUCKET_ISSUE,
			.family = FAMILY_USEFUL,
			.name = "issue:",
			.cyc = r->bucket[BUCKET_ISSUE],
			.hits = r->n_work},
		lane);
	pipes_add(f,
		(struct cause){.kind = CAUSE_PIPE_STALL,
			.bucket = BUCKET_STALL,
			.family = FAMILY_FETCH,
			.name = "cache-miss",
			.cyc = r->cache_cyc},
		NULL);
	pipes_add(f,
		(struct cause){.kind = CAUSE_PIPE_STALL,
			.bucket = BUCKET_STALL,
			.family = FAMILY_PIPE,
			.name = "issue-queue",
			.cyc = queue},
		NULL);
	pipes_add(f,
		(struct cause){.kind = CAUSE_GAP,
			.bucket = BUCKET_IDLE,
			.family = FAMILY_SCHEDULING,
			.name = "idle:",
			.cyc = r->bucket[BUCKET_IDLE]},
		lane);
	pipes_add(f,
		(struct cause){.kind = CAUSE_DRAIN,
			.bucket = BUCKET_DRAIN,
			.family = FAMILY_SCHEDULING,
			.name = "drain:",
			.cyc = r->bucket[BUCKET_DRAIN]},
		lane);
	add_waits(f, r);
}

ORDER(compare_causes, struct cause, DOWN(cyc) A_TO_Z(name))

bool pipes_fill_causes(const struct pipes *p, struct causes *c, struct incore_error *e)
{
	struct filler f = {.p = p, .c = c, .cap = 16};
	int64_t residue;

	for (track_idx i = 0; i < p->trace->n_tracks; i++)
		f.cap += 8 + (uint32_t)p->rows[i].waits.n;
	c->v = arena_zalloc(&c->arena, f.cap, sizeof(*c->v));
	if (!c->v)
		return err_nomem(e);
	for (track_idx i = 0; i < p->trace->n_tracks; i++)
		if (p->rows[i].is_seen && p->rows[i].role != ROLE_MARK)
			pipes_add_lane(&f, &p->rows[i], pipe_lane_name(&p->trace->tracks[i]));
	if (f.is_failed)
		return err_nomem(e);
	SORT(c->v, c->n, compare_causes);
	c->duration_cyc = p->duration_cyc;
	residue = (int64_t)c->duration_cyc;
	for (uint32_t i = 0; i < c->n; i++) {
		c->bucket[c->v[i].bucket] += c->v[i].cyc;
		c->family[c->v[i].family].cyc += c->v[i].cyc;
		residue -= (int64_t)c->v[i].cyc;
	}
	c->residue_cyc = residue;
	return true;
}

bool pipes_fill_producers(const struct pipes *p, struct producers *x, struct incore_error *e)
{
	for (size_t i = 0; i < p->edges.n; i++) {
		if (!VEC_PUSH(&x->edges, p->edges.v[i]))
			return err_nomem(e);
		x->n_waits += p->edges.v[i].count;
		x->n_blocked += p->edges.v[i].n_blocked;
	}
	x->n_exact = x->n_waits;
	x->n_free = x->n_waits - x->n_blocked;
	x->blocking.wait_cyc = p->bucket[BUCKET_WAIT];
	return true;
}

/* --- the analysis ----------------------------------------------------------------------------- */

struct worker {
	struct pipe_sweep sweep;
	VEC(uint64_t) gaps;
	struct code_totals *totals; /* by code row */
	uint64_t *hits;		    /* by code row, for the current track */
};

/* State of one sweep. */
struct pipes_visit {
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
static void pipes_count_rows(struct pipes_visit *v)
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

static void pipes_count_work(struct pipe_row *r, uint64_t start, uint64_t end, bool is_inside)
{
	if ((r->last_cyc == 0 && r->first_cyc == 0) || start < r->first_cyc)
		r->first_cyc = start;
	if (end > r->last_cyc)
		r->last_cyc = end;
	r->n_work += is_inside;
	r->latency_cyc += is_inside ? end - start : 0;
}

/* Counts slices and lists the waits. */
static bool pipes_count_slices(struct pipes_visit *v)
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
			pipes_count_work(r, d->start_cyc[i] + d->stall_cyc[i], end, is_inside);
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

static void pipes_add_wait(struct pipes_visit *v, const struct pipe_piece *piece)
{
	struct wait_instance *w = v->lane->waits.v;
	size_t after = 1, n = v->lane->waits.n;

	BISECT(after, n, i, w[i].slice <= piece->slice);
	w[after - 1].cyc += piece->to_cyc - piece->from_cyc;
}

/* The cache-miss part of a head cost comes first. */
static void add_stall(struct pipes_visit *v, const struct pipe_piece *piece)
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

static bool add_busy(struct pipes_visit *v, const struct pipe_piece *piece)
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

static bool pipes_take_piece(void *ctx, const struct pipe_piece *piece)
{
	struct pipes_visit *v = ctx;
	bool ok = true;

	v->row->bucket[piece->bucket] += piece->to_cyc - piece->from_cyc;
	if (piece->bucket == BUCKET_ISSUE)
		ok = add_busy(v, piece);
	else if (piece->bucket == BUCKET_WAIT)
		pipes_add_wait(v, piece);
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
	struct pipes_visit v = {
		p, r, &p->private->lanes[w->idx], w, m, BUCKET_IDLE, first_head(w->trace, w->idx)};

	m->gaps.n = 0;
	*r = (struct pipe_row){.is_seen = true,
		.is_cut = w->from_cyc > 0 || w->to_cyc < UINT64_MAX,
		.role = pipe_role(w->track)};
	if (!pipe_lane_keep(v.lane, w, p->kinds) || !pipes_count_slices(&v))
		return err_nomem(e);
	pipes_count_rows(&v);
	if (!pipe_sweep_track(&m->sweep, w, p->kinds, pipes_take_piece, &v, e))
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
