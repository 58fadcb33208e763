/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_index.c: sums that not every viewer needs, built on first use and kept. Parts: sums by
 * cause; sums by code row; the index.
 */
#include "serve/view/view_index.h"

#include "analysis/waves/waits.h"
#include "base/mem.h"
#include "serve/view/view_track.h"

/* --- sums by cause ---------------------------------------------------------------------------- */

/*
 * The cause family of each piece of each slice, then sums of them.
 */

/* Cause family of the issue of a slice, by class; classes not listed are useful work. */
static const uint8_t issue_families[256] = {
	[CLASS_DRAIN] = FAMILY_MEMORY, [CLASS_FLAG_WAIT] = FAMILY_SYNC, [CLASS_SYNC] = FAMILY_SYNC};

static void cause_sums_fill(const struct view_track *k, uint8_t *keys)
{
	const struct track_data *d = &k->data;
	size_t ev = 0;

	for (uint32_t i = 0; i < d->n; i++) {
		const struct wait_event *hit = NULL;

		while (ev < k->waits.events.n && k->waits.events.v[ev].slice < i)
			ev++;
		if (ev < k->waits.events.n && k->waits.events.v[ev].slice == i)
			hit = &k->waits.events.v[ev];
		keys[i] = (uint8_t)(cause_family_of(cause_of_gap(d, i), 0) << 4 |
				    slice_stall_family(d->inst_class[i], hit));
	}
}

/* cause_sums.c; needs the wait tables */
static bool cause_sums_make(struct view *v, struct incore_error *e)
{
	const struct columns *c = v->columns;
	struct split_sums *s = &v->index->cause;
	struct view_track k = {0};
	uint64_t at = 0;
	bool ok = true;

	s->splits = mem_zalloc((size_t)c->n_lanes + 1, sizeof(*s->splits));
	s->keys = mem_alloc((size_t)c->n_slices + 1);
	if (!s->splits || !s->keys)
		return err_nomem(e);
	for (track_idx t = 0; ok && t < c->n_tracks; t++) {
		ok = view_track_load(v, v->index->waits, t, &k, e);
		if (!ok)
			break;
		cause_sums_fill(&k, s->keys + at);
		for (uint32_t x = c->first_lane[t]; x < c->first_lane[t + 1]; x++) {
			s->splits[x] = (struct lane_split){.mode = SPLIT_CAUSE,
				.width = SPLIT_WIDTH,
				.is_pipe = v->has_pipes,
				.keys = s->keys + at,
				.issue_key = issue_families,
				.tail_key = FAMILY_LAUNCH};
			at += c->lanes[x].n;
		}
	}
	view_track_deinit(&k);
	return ok && (split_sums_build(s, c) || err_nomem(e));
}

/* --- sums by code row ------------------------------------------------------------------------- */

/*
 * For each code row: how often it ran, what it cost, where it ran first.
 */

/* Adds the cycles that account.h attributes to each record: the gap before it, its stall, its
 * issue. */
static void code_sums_add_lane(
	const struct columns *c, uint32_t k, struct code_sum *sums, uint32_t n_code)
{
	const struct lane *l = &c->lanes[k];
	uint32_t cover = lane_cover(l, 0);

	for (uint32_t i = 0; i < l->n; i++) {
		struct pieces p = lane_pieces_after(l, i, cover);
		struct code_sum *s = &sums[l->code[i] < n_code ? l->code[i] : n_code];

		if (s->hits++ == 0) {
			s->track = l->track;
			s->slice = l->first + i;
		}
		s->sum_cyc += l->dur[i];
		cover = (uint32_t)p.end;
		p = pieces_cut(p, 0, lane_end(l));
		s->cyc += p.end - p.gap;
	}
	if (l->n && l->end_cyc > l->base_cyc + cover &&
		(k + 1 == c->n_lanes || c->lanes[k + 1].track != l->track))
		sums[l->code[l->n - 1] < n_code ? l->code[l->n - 1] : n_code].cyc +=
			l->end_cyc - l->base_cyc - cover;
}

static bool code_sums_make(struct view *v)
{
	uint32_t n_code = v->trace->n_code;
	struct code_sum *sums = mem_zalloc((size_t)n_code + 1, sizeof(*sums));

	if (!sums)
		return false;
	for (uint32_t k = 0; k < v->columns->n_lanes; k++)
		code_sums_add_lane(v->columns, k, sums, n_code);
	v->index->code = sums;
	return true;
}

/* --- the index -------------------------------------------------------------------------------- */

unsigned view_needs(const struct query *q)
{
	const char *mode = query_text(q, "mode"), *by = query_text(q, "by");
	const char *causes = query_text(q, "causes");
	unsigned needs = 0;

	if (strcmp(q->name, "tile") == 0 && mode) {
		if (strcmp(mode, "bucket") == 0)
			needs |= NEED_BUCKET;
		if (strcmp(mode, "cause") == 0)
			needs |= NEED_CAUSE | NEED_WAITS;
		if (strcmp(mode, "diff") == 0)
			needs |= NEED_DIFF;
	}
	if (strcmp(q->name, "buckets") == 0)
		needs |= NEED_BUCKET;
	if (strcmp(q->name, "select") == 0 &&
		((by && strcmp(by, "cause") == 0) || (causes && strcmp(causes, "0") != 0)))
		needs |= NEED_CAUSE | NEED_WAITS;
	if (strcmp(q->name, "machine") == 0 || strcmp(q->name, "resident") == 0)
		needs |= NEED_MACHINE;
	if (strcmp(q->name, "at") == 0 || strcmp(q->name, "links") == 0)
		needs |= NEED_WAITS;
	if (strcmp(q->name, "find") == 0 || strcmp(q->name, "histogram") == 0 ||
		strcmp(q->name, "code") == 0)
		needs |= NEED_CODE;
	return needs;
}

static size_t view_index_sum_bytes(
	const struct split_sums *s, const struct columns *c, uint32_t lane)
{
	return lane_blocks(c->lanes[lane].n) * (size_t)s->splits[lane].width * sizeof(uint32_t);
}

bool split_sums_build(struct split_sums *s, const struct columns *c)
{
	size_t bytes = LANE_ALIGN;
	uint8_t *at;

	for (uint32_t i = 0; i < c->n_lanes; i++)
		bytes += view_index_sum_bytes(s, c, i);
	s->sums = mem_zalloc(1, bytes);
	if (!s->sums)
		return false;
	at = (uint8_t *)s->sums + (LANE_ALIGN - (uintptr_t)s->sums % LANE_ALIGN);
	for (uint32_t i = 0; i < c->n_lanes; i++) {
		lane_split_index(&c->lanes[i], &s->splits[i], (uint32_t *)(void *)at);
		at += view_index_sum_bytes(s, c, i);
	}
	return true;
}

void split_sums_free(struct split_sums *s)
{
	mem_free(s->splits);
	mem_free(s->sums);
	mem_free(s->keys);
	*s = (struct split_sums){0};
}

static bool make_buckets(struct view *v)
{
	struct split_sums *s = &v->index->bucket;

	s->splits = mem_zalloc((size_t)v->columns->n_lanes + 1, sizeof(*s->splits));
	if (!s->splits)
		return false;
	for (uint32_t i = 0; i < v->columns->n_lanes; i++)
		s->splits[i] = (struct lane_split){
			.mode = SPLIT_BUCKET, .width = SPLIT_WIDTH_NARROW, .is_pipe = v->has_pipes};
	return split_sums_build(s, v->columns);
}

bool view_has(const struct view *v, unsigned needs, const struct view *base)
{
	unsigned has = v->index ? __atomic_load_n(&v->index->has, __ATOMIC_ACQUIRE) : 0;

	return !(needs & ~has) && (!(needs & NEED_DIFF) || v->index->diff_base == base);
}

bool view_index_make(struct view *v, struct incore_error *e)
{
	if (!v->index)
		v->index = mem_zalloc(1, sizeof(*v->index));
	return v->index || err_nomem(e);
}

/* Publishes complete parts; atomic, as answers that need other parts may run meanwhile. */
static void view_index_set_has(struct view_index *x, unsigned needs)
{
	__atomic_fetch_or(&x->has, needs, __ATOMIC_RELEASE);
}

static void clear_has(struct view_index *x, unsigned needs)
{
	__atomic_fetch_and(&x->has, ~needs, __ATOMIC_RELEASE);
}

bool view_need(struct view *v, unsigned needs, const struct view *base, struct incore_error *e)
{
	if (!view_index_make(v, e))
		return false;
	if (needs & NEED_DIFF && v->index->diff_base != base)
		clear_has(v->index, NEED_DIFF);
	needs &= ~__atomic_load_n(&v->index->has, __ATOMIC_ACQUIRE);
	if (v->has_pipes && needs & (NEED_BUCKET | NEED_CAUSE) && !v->index->pieces.is_made &&
		!pipe_pieces_make(v, e))
		return false;
	if (needs & NEED_BUCKET && !make_buckets(v)) {
		split_sums_free(&v->index->bucket);
		return err_nomem(e);
	}
	if (needs & NEED_DIFF && !diff_sums_make(v, base, e)) {
		clear_has(v->index, NEED_DIFF);
		return false;
	}
	if (needs & NEED_WAITS) {
		v->index->waits = wait_tables_new(v->trace, e);
		if (!v->index->waits)
			return false;
		view_index_set_has(v->index, NEED_WAITS);
	}
	if (needs & NEED_CAUSE && !cause_sums_make(v, e)) {
		split_sums_free(&v->index->cause);
		return false;
	}
	if (needs & NEED_MACHINE && !machine_make(v, e))
		return false;
	if (needs & NEED_CODE && !code_sums_make(v))
		return err_nomem(e);
	view_index_set_has(v->index, needs);
	return true;
}

void view_index_free(struct view *v)
{
	if (!v->index)
		return;
	split_sums_free(&v->index->bucket);
	split_sums_free(&v->index->cause);
	split_sums_free(&v->index->diff);
	pipe_pieces_free(&v->index->pieces);
	machine_free(v);
	wait_tables_free(v->index->waits);
	mem_free(v->index->code);
	mem_free(v->index);
	v->index = NULL;
}

/* Sums of the lanes of v->columns. Not for buckets or causes of pipes, which have separate lanes:
 * use view_split_begin(). */
static const struct lane_split *view_splits(const struct view *v, enum tile_mode mode)
{
	if (mode == TILE_BUCKET)
		return v->index->bucket.splits;
	if (mode == TILE_DIFF)
		return v->index->diff.splits;
	return mode == TILE_CAUSE ? v->index->cause.splits : NULL;
}

void view_split_begin(
	const struct view *v, enum tile_mode mode, track_idx track, struct split_cursor *k)
{
	if (v->has_pipes && mode == TILE_BUCKET)
		split_begin(k, &v->index->pieces.columns, v->index->pieces.bucket.splits, track);
	else if (v->has_pipes && mode == TILE_CAUSE)
		split_begin(k, &v->index->pieces.columns, v->index->pieces.cause.splits, track);
	else
		split_begin(k, v->columns, view_splits(v, mode), track);
}
