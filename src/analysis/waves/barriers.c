/* SPDX-License-Identifier: Apache-2.0 */
/* barriers.c: meetings of waves at barriers, and how far apart they arrived. */
#include "analysis/waves/barriers.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/vec.h"

#define MAX_INSTANCES (1u << 20)

struct instance { /* one wave at one barrier */
	code_idx code;
	uint32_t ordinal; /* which barrier of its wave */
	track_idx track;
	uint32_t wait_cyc;
	uint64_t release;
};

struct barriers_gather {
	VEC(struct instance) v;
	uint64_t n_skipped;
};

struct barriers_series { /* values of one distribution */
	VEC(uint64_t) v;
};

struct barriers *barriers_new(const struct trace *t, struct incore_error *e)
{
	struct barriers *b = mem_zalloc(1, sizeof(*b));

	if (b) {
		arena_init(&b->arena);
		b->trace = t;
		b->per_wave = t->n_tracks ? MAX_INSTANCES / t->n_tracks : 1;
		b->per_wave += b->per_wave == 0;
		b->gather = arena_zalloc(&b->arena, 1, sizeof(struct barriers_gather));
		if (b->gather)
			return b;
	}
	barriers_free(b);
	return err_nomem_null(e);
}

static void barriers_worker_deinit(void *self, void *mine)
{
	struct barriers_gather *g = mine;

	(void)self;
	VEC_FREE(&g->v);
}

void barriers_free(struct barriers *b)
{
	if (!b)
		return;
	if (b->gather)
		barriers_worker_deinit(b, b->gather);
	arena_deinit(&b->arena);
	mem_free(b);
}

static bool barriers_track(
	void *self, void *mine, const struct walk_track *w, struct incore_error *e)
{
	const struct barriers *b = self;
	struct barriers_gather *g = mine;
	const struct track_data *d = w->data;
	uint32_t ordinal = 0;

	for (uint32_t i = 0; i < d->n; i++) {
		struct instance x;

		if (d->inst_class[i] != CLASS_BARRIER)
			continue;
		x = (struct instance){d->code[i], ordinal++, w->idx, d->stall_cyc[i],
			d->start_cyc[i] + d->dur_cyc[i]};
		if (d->start_cyc[i] < w->from_cyc || d->start_cyc[i] >= w->to_cyc)
			continue;
		if (ordinal > b->per_wave)
			g->n_skipped++;
		else if (!VEC_PUSH(&g->v, x))
			return err_nomem(e);
	}
	return true;
}

static bool barriers_merge(void *self, void *mine, struct incore_error *e)
{
	struct barriers_gather *to = ((struct barriers *)self)->gather, *from = mine;

	if (!VEC_RESERVE(&to->v, to->v.n + from->v.n))
		return err_nomem(e);
	for (size_t i = 0; i < from->v.n; i++)
		to->v.v[to->v.n++] = from->v.v[i];
	to->n_skipped += from->n_skipped;
	return true;
}

struct collector barriers_collector(struct barriers *b)
{
	return (struct collector){b, sizeof(struct barriers_gather), NULL, barriers_track,
		barriers_merge, barriers_worker_deinit};
}

/* Copy with the CU and workgroup of the wave, which sorting needs. */
struct meeting_key {
	struct instance x;
	uint32_t se, cu;
	int64_t workgroup;
};

static int barriers_compare_place(const struct meeting_key *a, const struct meeting_key *b)
{
	RETURN_UNLESS_EQUAL(a->x.code, b->x.code);
	RETURN_UNLESS_EQUAL(a->se, b->se);
	RETURN_UNLESS_EQUAL(a->cu, b->cu);
	RETURN_UNLESS_EQUAL(a->workgroup, b->workgroup);
	return COMPARE(a->x.ordinal, b->x.ordinal);
}

static int compare_keys(const void *pa, const void *pb)
{
	const struct meeting_key *a = pa, *b = pb;
	int d = barriers_compare_place(a, b);

	d = d ? d : COMPARE(a->x.release, b->x.release);
	return d ? d : COMPARE(a->x.track, b->x.track);
}

static struct distribution distribution_of(uint64_t *v, size_t n)
{
	struct distribution d = {.n = n};

	if (n == 0)
		return d;
	SORT(v, n, compare_u64);
	d.min = v[0];
	d.median = v[n / 2];
	d.p95 = v[n * 95 / 100 < n ? n * 95 / 100 : n - 1];
	d.max = v[n - 1];
	return d;
}

/* Sums over the meetings of one row. */
struct row_meetings {
	struct barrier_row *row;
	struct barriers_series *skew, *last;
	struct u64_map times; /* track -> number of times it came last << 32 | number of times it
				 came */
};

static int64_t aligned(const struct barriers *b, const struct meeting_key *k, uint64_t cyc)
{
	return trace_aligned(b->trace, b->trace->tracks[k->x.track].clock, cyc);
}

static void keep_widest(const struct barriers *b, struct row_meetings *m,
	const struct meeting_key *first, const struct meeting_key *last, uint32_t n)
{
	uint64_t from = first->x.release - first->x.wait_cyc;
	uint64_t to = last->x.release - last->x.wait_cyc;

	if (m->row->meetings > 0 && to - from <= m->row->widest.skew_cyc)
		return;
	m->row->widest = (struct barrier_meeting){.skew_cyc = to - from,
		.n_waves = n,
		.first = first->x.track,
		.last = last->x.track,
		.first_arrival = aligned(b, first, from),
		.last_arrival = aligned(b, last, to),
		.release = aligned(b, last, last->x.release)};
}

/* Does a arrive before b? Ties: the first in track order. */
static bool barriers_is_before(const struct meeting_key *a, const struct meeting_key *b)
{
	uint64_t x = a->x.release - a->x.wait_cyc, y = b->x.release - b->x.wait_cyc;

	return x != y ? x < y : a->x.track < b->x.track;
}

/* Adds one run of executions that ended together. */
static bool add_meeting(
	struct barriers *b, struct row_meetings *m, const struct meeting_key *k, size_t n)
{
	const struct meeting_key *first = k, *last = k;
	uint32_t least = UINT32_MAX;
	uint64_t skew;

	if (n < 2)
		return true;
	for (size_t i = 0; i < n; i++) {
		uint64_t *times = u64_map_at(&m->times, k[i].x.track);
		uint64_t arrival = k[i].x.release - k[i].x.wait_cyc;
		uint64_t latest = last->x.release - last->x.wait_cyc;

		if (!times)
			return false;
		(*times)++;
		if (barriers_is_before(&k[i], first))
			first = &k[i];
		if (arrival > latest || (arrival == latest && k[i].x.track < last->x.track))
			last = &k[i];
		if (k[i].x.wait_cyc < least)
			least = k[i].x.wait_cyc;
	}
	skew = last->x.release - last->x.wait_cyc - (first->x.release - first->x.wait_cyc);
	*u64_map_find(&m->times, last->x.track) += UINT64_C(1) << 32;
	keep_widest(b, m, first, last, (uint32_t)n);
	m->row->meetings++;
	b->meetings++;
	b->n_met += n;
	return VEC_PUSH(&m->skew->v, skew) && VEC_PUSH(&m->last->v, least);
}

static void barriers_find_latest(struct row_meetings *m)
{
	struct barrier_row *r = m->row;
	uint64_t track, times;

	for (size_t pos = 0; u64_map_next(&m->times, &pos, &track, &times);) {
		uint64_t last = times >> 32;

		if (last < r->n_latest || (last == r->n_latest && track > r->latest))
			continue;
		r->latest = (track_idx)track;
		r->n_latest = last;
		r->n_latest_met = times & UINT32_MAX;
	}
}

/* Adds all executions of one barrier row: k[0..n), sorted. */
static bool barriers_add_row(struct barriers *b, const struct meeting_key *k, size_t n,
	struct barriers_series *skew, struct barriers_series *last)
{
	struct barrier_row *r = &b->rows[b->n_rows++];
	struct row_meetings m = {.row = r, .skew = skew, .last = last};
	size_t skew_from = skew->v.n, last_from = last->v.n;
	bool ok = true;

	*r = (struct barrier_row){.code = k[0].x.code, .executions = n};
	for (size_t i = 0, end; i < n && ok; i = end) {
		for (end = i + 1; end < n && barriers_compare_place(&k[i], &k[end]) == 0 &&
				  k[end].x.release - k[end - 1].x.release <= BARRIER_TOLERANCE_CYC;)
			end++;
		ok = add_meeting(b, &m, k + i, end - i);
	}
	barriers_find_latest(&m);
	u64_map_deinit(&m.times);
	for (size_t i = 0; i < n; i++)
		r->wait_cyc += k[i].x.wait_cyc;
	b->executions += n;
	b->wait_cyc += r->wait_cyc;
	/* without meetings the lists may not exist */
	r->skew_cyc =
		distribution_of(skew->v.n ? skew->v.v + skew_from : NULL, skew->v.n - skew_from);
	r->last_wait_cyc =
		distribution_of(last->v.n ? last->v.v + last_from : NULL, last->v.n - last_from);
	return ok;
}

ORDER(compare_rows, struct barrier_row, DOWN(wait_cyc) UP(code))

static bool barriers_make_rows(struct barriers *b, struct meeting_key *k, size_t n)
{
	struct barriers_series skew = {0}, last = {0};
	uint32_t count = 0;
	bool ok;

	SORT(k, n, compare_keys);
	for (size_t i = 0; i < n; i++)
		count += i == 0 || k[i].x.code != k[i - 1].x.code;
	b->rows = arena_zalloc(&b->arena, (size_t)count + 1, sizeof(*b->rows));
	ok = b->rows != NULL;
	for (size_t i = 0, end; i < n && ok; i = end) {
		for (end = i + 1; end < n && k[end].x.code == k[i].x.code;)
			end++;
		ok = barriers_add_row(b, k + i, end - i, &skew, &last);
	}
	if (ok) {
		b->skew_cyc = distribution_of(skew.v.v, skew.v.n);
		b->last_wait_cyc = distribution_of(last.v.v, last.v.n);
		SORT(b->rows, b->n_rows, compare_rows);
	}
	VEC_FREE(&skew.v);
	VEC_FREE(&last.v);
	return ok;
}

bool barriers_finish(struct barriers *b, struct incore_error *e)
{
	const struct barriers_gather *g = b->gather;
	struct meeting_key *k = mem_zalloc(g->v.n + 1, sizeof(*k));
	bool ok;

	if (!k)
		return err_nomem(e);
	for (size_t i = 0; i < g->v.n; i++) {
		const struct track *t = &b->trace->tracks[g->v.v[i].track];

		k[i] = (struct meeting_key){g->v.v[i], t->coord[0], t->coord[1], t->workgroup};
	}
	b->n_skipped = g->n_skipped;
	ok = barriers_make_rows(b, k, g->v.n);
	mem_free(k);
	return ok || err_nomem(e);
}
