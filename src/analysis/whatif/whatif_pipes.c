/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whatif_pipes.c: times the pipes of Ascend cores again. Slices of a pipe keep their order; each
 * start and end is a moment that follows others, in the order in which they were:
 *
 *	start	not before the slice before it on its pipe (where both were in flight: as far behind
 *		its start as it was), nor before the scalar unit came to it
 *	end	its start and its own length; of a wait or barrier what it was linked to, or what
 *		ended in that very cycle
 *
 * What no other moment explains stays: a gap behind the pipe's last slice. Linear but for sorting.
 */
#include "analysis/pipes/pipe_sweep.h"
#include "analysis/whatif/whatif_internal.h"
#include "base/search.h"
#include "isa/ascend.h"

struct slice {
	track_idx track;
	code_idx code;
	uint8_t kind;	   /* enum pipe_kind */
	uint32_t before;   /* previous slice on its pipe, or NO_RECORD */
	uint32_t done;	   /* on its pipe: the slice that had ended last when it began (for a set:
			      when it ended) */
	uint32_t flying;   /* on its pipe: the slice still in flight that had begun last */
	uint32_t scalar;   /* scalar slice of its core that had begun last when this
			      began */
	uint32_t from;	   /* slice that its wait was for */
	uint32_t inferred; /* after a gap: the slice that had ended last on its core */
	uint64_t start, stall, end; /* as measured; stall: head cost in cycles */
	uint64_t new_start, new_end;
	uint32_t start_by, end_by; /* predecessors on the path, or NO_RECORD */
	bool is_started, is_ended; /* in the new timeline */
	bool is_busy;		   /* being timed */
	bool is_start_by_start;	   /* start_by refers to that slice's start */
};

struct whatif_pipes_moment {
	uint64_t time;
	uint32_t slice;
	uint8_t phase; /* order in a cycle: ends of work, ends of waits, starts, ends of empty
			  slices */
	bool is_end;
};

struct pipes_unit {
	const struct trace *t;
	VEC(struct slice) v;
	uint32_t *first; /* by track: its first slice, plus a final end */
	VEC(struct whatif_pipes_moment) moments;
	uint64_t begin, end; /* of all tracks */
	uint32_t n_unread;   /* tracks that could not be read */
};

static void unit_free(struct pipes_unit *u)
{
	VEC_FREE(&u->v);
	VEC_FREE(&u->moments);
	mem_free(u->first);
}

/* --- reading -------------------------------------------------------------------------------- */

static bool is_scalar(const struct trace *t, track_idx i)
{
	return pipe_role(&t->tracks[i]) == ROLE_CONTROL;
}

static bool whatif_pipes_add_track(
	struct pipes_unit *u, track_idx i, const struct track_data *d, const uint8_t *kinds)
{
	if (u->v.n + d->n >= NO_RECORD || !VEC_RESERVE(&u->v, u->v.n + d->n))
		return false;
	for (uint32_t k = 0; k < d->n; k++) {
		uint32_t at = (uint32_t)u->v.n;

		u->v.v[u->v.n++] = (struct slice){.track = i,
			.code = d->code[k],
			.kind = (uint8_t)pipe_kind_of(kinds, u->t, d, k),
			.before = k ? at - 1 : NO_RECORD,
			.done = NO_RECORD,
			.flying = NO_RECORD,
			.scalar = NO_RECORD,
			.from = NO_RECORD,
			.inferred = NO_RECORD,
			.start = d->start_cyc[k],
			.stall = d->stall_cyc[k],
			.end = d->start_cyc[k] + d->dur_cyc[k],
			.start_by = NO_RECORD,
			.end_by = NO_RECORD};
	}
	return true;
}

static bool whatif_pipes_read_all(
	struct pipes_unit *u, const struct selection *s, struct incore_error *e)
{
	uint8_t *kinds = pipe_kinds_new(u->t);
	struct track_data d = {0};
	bool ok;

	u->first = mem_zalloc((size_t)u->t->n_tracks + 1, sizeof(*u->first));
	u->begin = UINT64_MAX;
	ok = (kinds && u->first) || err_nomem(e);
	for (track_idx i = 0; ok && i < u->t->n_tracks; i++) {
		struct incore_error why = {0};

		u->first[i] = (uint32_t)u->v.n;
		u->first[i + 1] = u->first[i];
		if (pipe_role(&u->t->tracks[i]) == ROLE_MARK ||
			(s && !selection_has(s, u->t, &u->t->tracks[i])))
			continue;
		if (trace_load_track(u->t, i, 0, &d, &why)) {
			ok = whatif_pipes_add_track(u, i, &d, kinds) || err_nomem(e);
			u->begin = d.n && d.start_cyc[0] < u->begin ? d.start_cyc[0] : u->begin;
		} else if (track_error_is_fatal(&why)) {
			ok = false;
			err_move(e, &why);
		} else {
			u->n_unread++;
		}
		incore_error_clear(&why);
		u->first[i + 1] = (uint32_t)u->v.n;
	}
	EACH (const struct slice, x, u->v.v, u->v.n)
		u->end = x->end > u->end ? x->end : u->end;
	track_data_deinit(&d);
	mem_free(kinds);
	return ok;
}

/* --- who follows whom ----------------------------------------------------------------------- */

struct ending {
	uint32_t core, unit;
	uint64_t end;
	uint32_t slice;
};

ORDER(by_ending, struct ending, UP(core) UP(unit) UP(end) UP(slice))

#define LOOK_BACK 8u /* slices that can be in flight together, including sets */

/* On one pipe: finds the slices done, and those in flight, when a slice began. Sets delay
 * nothing. */
static bool find_neighbours(struct pipes_unit *u, track_idx track)
{
	uint32_t first = u->first[track], end = u->first[track + 1];
	struct ending *v = mem_zalloc((size_t)(end - first) + 1, sizeof(*v));
	size_t n = 0;

	if (!v)
		return false;
	for (uint32_t i = first; i < end; i++)
		if (u->v.v[i].kind != KIND_SET)
			v[n++] = (struct ending){0, 0, u->v.v[i].end, i};
	SORT(v, n, by_ending);
	for (uint32_t i = first; i < end; i++) {
		struct slice *x = &u->v.v[i];
		uint64_t at = x->kind == KIND_SET ? x->end : x->start;
		size_t lo = 0, hi = n;

		BISECT(lo, hi, k, v[k].end <= at);
		while (lo && v[lo - 1].slice >= i) /* itself or a later slice */
			lo--;
		x->done = lo ? v[lo - 1].slice : NO_RECORD;
		for (uint32_t k = i; k > first && i - k < LOOK_BACK && x->flying == NO_RECORD; k--)
			if (u->v.v[k - 1].kind != KIND_SET && u->v.v[k - 1].end > x->start)
				x->flying = k - 1;
	}
	mem_free(v);
	return true;
}

static void find_links(struct pipes_unit *u)
{
	EACH (const struct link, l, u->t->links, u->t->n_links) {
		uint32_t from = u->first[l->from_track] + l->from_slice;
		uint32_t to = u->first[l->to_track] + l->to_slice;

		if (from >= u->first[l->from_track + 1] || to >= u->first[l->to_track + 1] ||
			u->v.v[from].end > u->v.v[to].end)
			continue;
		if (u->v.v[to].from == NO_RECORD || u->v.v[from].end > u->v.v[u->v.v[to].from].end)
			u->v.v[to].from = from;
	}
}

/* The scalar unit of a core dispatches work: finds which of its slices had begun when each slice
 * did. */
static void find_scalars(struct pipes_unit *u, track_idx scalar)
{
	const struct track *s = &u->t->tracks[scalar];
	uint32_t lo = u->first[scalar], end = u->first[scalar + 1];

	for (track_idx i = 0; i < u->t->n_tracks; i++) {
		const struct track *k = &u->t->tracks[i];

		if (i == scalar || k->coord[0] != s->coord[0] || k->coord[1] != s->coord[1])
			continue;
		for (uint32_t at = u->first[i], n = lo; at < u->first[i + 1]; at++) {
			while (n < end && u->v.v[n].start <= u->v.v[at].start)
				n++;
			if (n > lo)
				u->v.v[at].scalar = n - 1;
		}
	}
}

struct endings { /* ends of work, without the scalar unit's */
	struct ending *v;
	size_t n;
};

static bool list_endings(const struct pipes_unit *u, struct endings *out)
{
	out->v = mem_zalloc(u->v.n + 1, sizeof(*out->v));
	if (!out->v)
		return false;
	for (uint32_t i = 0; i < u->v.n; i++) {
		const struct slice *x = &u->v.v[i];
		const uint32_t *at = u->t->tracks[x->track].coord;

		if (pipe_kind_is_work((enum pipe_kind)x->kind) && !is_scalar(u->t, x->track))
			out->v[out->n++] = (struct ending){at[0], at[1], x->end, i};
	}
	SORT(out->v, out->n, by_ending);
	return true;
}

/* The last slice of a core that had ended at `time`, or NULL. */
static const struct ending *last_ending(
	const struct pipes_unit *u, const struct endings *e, track_idx track, uint64_t time)
{
	const uint32_t *at = u->t->tracks[track].coord;
	size_t lo = 0, hi = e->n;

	BISECT(lo, hi, k,
		e->v[k].core < at[0] ||
			(e->v[k].core == at[0] &&
				(e->v[k].unit < at[1] ||
					(e->v[k].unit == at[1] && e->v[k].end <= time))));
	return lo && e->v[lo - 1].core == at[0] && e->v[lo - 1].unit == at[1] ? &e->v[lo - 1]
									      : NULL;
}

/* For waits and stalls without a link: finds the slice that ended in the same cycle. For slices
 * after a gap: the slice that had ended last. */
static bool find_endings(struct pipes_unit *u)
{
	struct endings e = {0};

	if (!list_endings(u, &e))
		return false;
	EACH (struct slice, x, u->v.v, u->v.n) {
		bool is_wait = pipe_kind_is_wait((enum pipe_kind)x->kind) && x->end > x->start;
		uint64_t at = is_wait ? x->end : x->start + x->stall;
		const struct ending *k = last_ending(u, &e, x->track, at);

		if (x->from == NO_RECORD && (is_wait || x->stall) && k && k->end == at)
			x->from = k->slice;
		k = last_ending(u, &e, x->track, x->start);
		if (k && u->v.v[k->slice].track != x->track &&
			(x->done == NO_RECORD || k->end > u->v.v[x->done].end))
			x->inferred = k->slice;
	}
	mem_free(e.v);
	return true;
}

ORDER(by_moment, struct whatif_pipes_moment, UP(time) UP(phase) UP(slice) UP(is_end))

static bool find_moments(struct pipes_unit *u)
{
	for (uint32_t i = 0; i < u->v.n; i++) {
		const struct slice *x = &u->v.v[i];
		bool is_wait = pipe_kind_is_wait((enum pipe_kind)x->kind);
		uint8_t phase = x->end == x->start ? 3 : is_wait;

		if (!VEC_PUSH(&u->moments, (struct whatif_pipes_moment){x->start, i, 2, false}) ||
			!VEC_PUSH(
				&u->moments, (struct whatif_pipes_moment){x->end, i, phase, true}))
			return false;
	}
	SORT(u->moments.v, u->moments.n, by_moment);
	return true;
}

/* --- the new times -------------------------------------------------------------------------- */

struct timing {
	struct pipes_unit *u;
	const struct whatif_plan *p;
	uint64_t n_executed;
	unsigned depth; /* recursion depth of need() */
};
#define MAX_DEPTH 256u

static void begin_after(struct slice *x, uint64_t at, uint32_t by, bool is_start)
{
	if (x->is_started && at <= x->new_start)
		return;
	x->new_start = at;
	x->start_by = by;
	x->is_start_by_start = is_start;
	x->is_started = true;
}

/* How long after the start of the previous slice in flight it may start: its own cost. */
static uint64_t behind(const struct timing *m, const struct slice *x, const struct slice *p)
{
	return plan_cycles(m->p, p->code, x->start - p->start);
}

static void need(struct timing *m, uint32_t i, bool is_end);

/* The slice, timed as far as needed; NULL if there is none, or if it is waiting for this one. */
static const struct slice *timed(struct timing *m, uint32_t i, bool is_end)
{
	const struct slice *x = i == NO_RECORD ? NULL : &m->u->v.v[i];

	if (x)
		need(m, i, is_end);
	return x && (is_end ? x->is_ended : x->is_started) ? x : NULL;
}

/* Start after a gap: when the scalar unit dispatched it, or after another slice of the core ended,
 * or for an unknown reason. */
static void start_behind_gap(struct timing *m, struct slice *x)
{
	const struct slice *s = x->scalar == NO_RECORD ? NULL : &m->u->v.v[x->scalar], *k;

	if (s && x->start <= s->end && pipe_kind_is_work((enum pipe_kind)s->kind) &&
		(k = timed(m, x->scalar, false)))
		begin_after(x, k->new_start + plan_cycles(m->p, k->code, x->start - k->start),
			x->scalar, true);
	else if ((k = timed(m, x->inferred, true)))
		begin_after(x, k->new_end + (x->start - k->end), x->inferred, false);
	else if ((k = timed(m, x->done, true)))
		begin_after(x, k->new_end + (x->start - k->end), x->done, false);
}

static void time_start(struct timing *m, struct slice *x)
{
	const struct slice *d = x->done == NO_RECORD ? NULL : &m->u->v.v[x->done], *k;

	if (x->kind == KIND_SET && d && (k = timed(m, x->done, true))) {
		/* when all earlier work is done; its own cycle may be the last of that work */
		int64_t after = (int64_t)(x->start - k->end);

		begin_after(x, (uint64_t)((int64_t)k->new_end + after), x->done, false);
		return;
	}
	if ((k = timed(m, x->before, false)))
		begin_after(x, k->new_start, x->before, true);
	if ((k = timed(m, x->done, true)))
		begin_after(x, k->new_end, x->done, false);
	if ((k = timed(m, x->flying, false)))
		begin_after(x, k->new_start + behind(m, x, k), x->flying, true);
	else if (!d || d->end < x->start)
		start_behind_gap(m, x);
	if (!x->is_started)
		begin_after(x, x->start, NO_RECORD, false);
}

/* A wait ends after what it was for, with the measured delay; one that did not block, not before
 * that. So does a stall at the front of a slice; then its work follows. */
static void time_end(struct timing *m, struct slice *x)
{
	const struct whatif_row *row = plan_row(m->p, x->code);
	bool is_wait = pipe_kind_is_wait((enum pipe_kind)x->kind);
	uint64_t released = is_wait ? x->end : x->start + x->stall;
	uint64_t work = is_wait ? 0 : plan_cycles(m->p, x->code, x->end - released);
	const struct slice *f = row->is_removed ? NULL : timed(m, x->from, true);
	bool is_blocked = released > x->start;

	m->n_executed += row->is_removed || row->faster_milli != WHATIF_PLAIN;
	x->end_by = NO_RECORD;
	x->new_end = x->new_start + (f || row->is_removed ? 0 : released - x->start) +
		     (row->is_removed ? 0 : work);
	if (f && f->end <= released) {
		uint64_t at = f->new_end + (is_blocked ? released - f->end : 0) + work;

		if (at > x->new_end) {
			x->new_end = at;
			x->end_by = x->from;
		}
	}
	x->is_ended = true;
}

/* Times a start or an end after the moments it depends on. Moments are processed in measured order,
 * so only those of the same cycle can still be missing. */
static void need(struct timing *m, uint32_t i, bool is_end)
{
	struct slice *x = &m->u->v.v[i];

	if (x->is_busy || m->depth > MAX_DEPTH)
		return;
	x->is_busy = true;
	m->depth++;
	if (!x->is_started)
		time_start(m, x);
	if (is_end && !x->is_ended)
		time_end(m, x);
	m->depth--;
	x->is_busy = false;
}

static void time_all(struct timing *m)
{
	m->n_executed = 0;
	EACH (struct slice, x, m->u->v.v, m->u->v.n)
		x->is_started = x->is_ended = false;
	EACH (const struct whatif_pipes_moment, k, m->u->moments.v, m->u->moments.n) {
		need(m, k->slice, k->is_end);
	}
}

/* --- the answer ----------------------------------------------------------------------------- */

static uint32_t last_slice(const struct pipes_unit *u)
{
	uint32_t last = 0;

	for (uint32_t i = 1; i < u->v.n; i++)
		if (u->v.v[i].new_end > u->v.v[last].new_end)
			last = i;
	return last;
}

static bool whatif_pipes_give(
	struct path_sums *out, enum whatif_part part, code_idx code, uint64_t cyc)
{
	return !cyc || VEC_PUSH(&out->v, (struct whatif_limit){(uint8_t)part, code, 0, cyc});
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Goes back from the last end; every step leads to a moment that was timed earlier. */
static bool find_path(const struct pipes_unit *u, struct path_sums *out)
{
	uint32_t i = last_slice(u);
	bool ok = true;

	for (bool is_end = true; ok && u->v.n;) {
		const struct slice *x = &u->v.v[i], *y;

		if (is_end && x->end_by != NO_RECORD) {
			y = &u->v.v[x->end_by];
			ok = whatif_pipes_give(
				out, PART_BARRIER, x->code, less(x->new_end, y->new_end));
			i = x->end_by;
			continue;
		}
		if (is_end)
			ok = whatif_pipes_give(out,
				pipe_kind_is_work((enum pipe_kind)x->kind) ? PART_ISSUE
									   : PART_BARRIER,
				x->code, x->new_end - x->new_start);
		if (x->start_by == NO_RECORD)
			return ok && whatif_pipes_give(out, PART_START, NO_CODE,
					     less(x->new_start, u->begin));
		y = &u->v.v[x->start_by];
		is_end = !x->is_start_by_start;
		ok = ok && whatif_pipes_give(out, PART_GAP, x->code,
				   less(x->new_start, is_end ? y->new_end : y->new_start));
		i = x->start_by;
	}
	return ok;
}

#define PIPES_ERROR_GAIN 15u /* per cent of the gain */

static bool ask_plan(
	struct timing *m, const struct path_sums *before, uint64_t same, struct whatif_result *out)
{
	struct pipes_unit *u = m->u;
	struct path_sums after = {0};
	uint64_t span, now;
	bool ok;

	time_all(m);
	now = u->v.n ? less(u->v.v[last_slice(u)].new_end, u->begin) : 0;
	span = u->end - u->begin;
	out->method = WHATIF_PIPES;
	out->n_unread = u->n_unread;
	out->before_cyc = span;
	out->after_cyc = less(span + now, same);
	out->low_cyc = out->high_cyc = out->after_cyc;
	out->n_executed = m->n_executed;
	whatif_judge(out);
	if (m->n_executed)
		whatif_widen(out, PIPES_ERROR_GAIN);
	ok = find_path(u, &after) && whatif_join_paths(before, &after, out);
	VEC_FREE(&after.v);
	return ok;
}

static bool within(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) * 100 <= b;
}

/* Counts pipes whose last slice ends within 1 % of its measured time in the unchanged replay. */
static bool compare_same(const struct pipes_unit *u, struct whatif_result *out)
{
	for (track_idx i = 0; i < u->t->n_tracks; i++) {
		uint64_t was = 0, is = 0;

		for (uint32_t k = u->first[i]; k < u->first[i + 1]; k++) {
			was = u->v.v[k].end > was ? u->v.v[k].end : was;
			is = u->v.v[k].new_end > is ? u->v.v[k].new_end : is;
		}
		if (u->first[i] == u->first[i + 1])
			continue;
		out->n_waves++;
		if (within(less(is, u->begin), less(was, u->begin)))
			out->n_true++;
		else if (!VEC_PUSH(&out->untrue, i))
			return false;
	}
	return true;
}

static bool run_plans(struct timing *m, const struct whatif_plan *const *plans, size_t n,
	struct whatif_result *out)
{
	struct path_sums before = {0};
	uint64_t same;
	bool ok;

	time_all(m);
	same = m->u->v.n ? less(m->u->v.v[last_slice(m->u)].new_end, m->u->begin) : 0;
	ok = find_path(m->u, &before);
	for (size_t i = 0; ok && i < n; i++)
		ok = compare_same(m->u, &out[i]);
	for (size_t i = 0; ok && i < n; i++) {
		m->p = plans[i];
		ok = ask_plan(m, &before, same, &out[i]);
	}
	VEC_FREE(&before.v);
	return ok;
}

bool whatif_pipes(const struct trace *t, const struct whatif_plan *const *plans, size_t n,
	const struct walk_options *o, struct whatif_result *out, struct incore_error *e)
{
	struct pipes_unit u = {.t = t};
	struct timing m = {.u = &u};
	struct whatif_plan *same = whatif_plan_new(t, e);
	bool ok = same && whatif_pipes_read_all(&u, o->selection, e);

	for (track_idx i = 0; ok && i < t->n_tracks; i++)
		ok = find_neighbours(&u, i) || err_nomem(e);
	if (ok) {
		find_links(&u);
		for (track_idx i = 0; i < t->n_tracks; i++)
			if (is_scalar(t, i))
				find_scalars(&u, i);
		m.p = same;
		ok = (find_endings(&u) && find_moments(&u) && run_plans(&m, plans, n, out)) ||
		     err_nomem(e);
	}
	whatif_plan_free(same);
	unit_free(&u);
	return ok;
}
