/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipe_pieces.c: the accounting of pipes for timelines. Instructions of a pipe overlap, so
 * pipe_sweep.h cuts its span into pieces that contain each cycle once. These become separate lanes,
 * with buckets and causes as the keys of their slices.
 */
#include "base/mem.h"
#include "serve/view/view_index.h"
#include "serve/view/view_track.h"

#define MAX_PIECE_CYC (UINT32_C(1) << 30)

struct pipe_pieces_making {
	const struct view *v;
	struct view_track track;
	struct track_data data; /* the pieces as slices */
	VEC(uint8_t) buckets, families;
	VEC(struct lane) lanes;
	VEC(void *) chunks;
};

struct piece_sink {
	const uint8_t *kinds;
	pipe_piece_fn fn;
	void *ctx;
};

static enum cause_family pipe_pieces_family_of(
	const struct track_data *d, const struct pipe_piece *p)
{
	switch (p->bucket) {
	case BUCKET_ISSUE:
		return FAMILY_USEFUL;
	case BUCKET_WAIT:
		return FAMILY_SYNC;
	case BUCKET_STALL:
		return slice_stall_family(d->inst_class[p->slice], NULL);
	case BUCKET_IDLE:
		return d->n && p->from_cyc >= d->start_cyc[0] ? cause_family_of(CAUSE_GAP, 0)
							      : FAMILY_LAUNCH;
	default:
		return FAMILY_LAUNCH;
	}
}

static bool pipe_pieces_add_piece(void *ctx, const struct pipe_piece *p)
{
	struct pipe_pieces_making *m = ctx;
	struct track_data *d = &m->data;

	for (uint64_t at = p->from_cyc; at < p->to_cyc; at += d->dur_cyc[d->n - 1]) {
		uint64_t left = p->to_cyc - at;

		if (d->n == UINT32_MAX || !track_data_reserve(d, d->n + 1) ||
			!VEC_PUSH(&m->buckets, (uint8_t)p->bucket) ||
			!VEC_PUSH(&m->families, (uint8_t)pipe_pieces_family_of(&m->track.data, p)))
			return false;
		d->start_cyc[d->n] = at;
		d->dur_cyc[d->n] = left < MAX_PIECE_CYC ? (uint32_t)left : MAX_PIECE_CYC;
		d->stall_cyc[d->n] = 0;
		d->code[d->n] = NO_CODE;
		d->inst_class[d->n] = CLASS_OTHER;
		d->tag[d->n] = 0;
		d->n++;
	}
	return true;
}

static bool add_lanes(struct pipe_pieces_making *m, track_idx track)
{
	struct track_data *d = &m->data;
	uint32_t from = 0;

	do {
		struct lane l = {.track = track,
			.first = from,
			.n_sub = 1,
			.begin_cyc = d->begin_cyc,
			.end_cyc = d->end_cyc,
			.slot = slots_of_track(m->v->trace->tracks[track].name)};
		void *chunk;

		l.n = lane_cut(d, from, 0, &l.base_cyc);
		chunk = lane_alloc(&l);
		if (!chunk || !VEC_PUSH(&m->chunks, chunk)) {
			mem_free(chunk);
			return false;
		}
		lane_fill(&l, d, from, 0, NULL);
		lane_index(&l);
		if (!VEC_PUSH(&m->lanes, l))
			return false;
		from += l.n;
	} while (from < d->n);
	return true;
}

static bool pipe_pieces_sweep(struct pipe_sweep *s, const struct view *v, track_idx track,
	const struct track_data *d, const struct piece_sink *to, struct incore_error *e)
{
	struct walk_track w = {.trace = v->trace,
		.idx = track,
		.track = &v->trace->tracks[track],
		.data = d,
		.to_cyc = UINT64_MAX};

	return pipe_sweep_track(s, &w, to->kinds, to->fn, to->ctx, e);
}

bool pipe_pieces_of(const struct view *v, track_idx track, const struct track_data *d,
	pipe_piece_fn fn, void *ctx, struct incore_error *e)
{
	uint8_t *kinds = pipe_kinds_new(v->trace);
	struct piece_sink to = {kinds, fn, ctx};
	struct pipe_sweep s = {0};
	bool ok = kinds ? pipe_pieces_sweep(&s, v, track, d, &to, e) : err_nomem(e);

	pipe_sweep_deinit(&s);
	mem_free(kinds);
	return ok;
}

static bool make_lanes(struct pipe_pieces_making *m, const uint8_t *kinds, struct incore_error *e)
{
	struct piece_sink to = {kinds, pipe_pieces_add_piece, m};
	struct pipe_sweep s = {0};
	bool ok = true;

	for (track_idx t = 0; ok && t < m->v->columns->n_tracks; t++) {
		ok = view_track_load(m->v, NULL, t, &m->track, e);
		track_data_reset(&m->data);
		m->data.begin_cyc = m->track.data.begin_cyc;
		m->data.end_cyc = m->track.data.end_cyc;
		ok = ok && pipe_pieces_sweep(&s, m->v, t, &m->track.data, &to, e) &&
		     (add_lanes(m, t) || err_nomem(e));
	}
	pipe_sweep_deinit(&s);
	return ok;
}

/* Makes the sums from the keys of all pieces, one lane after the other. */
static bool make_splits(struct split_sums *s, const struct columns *c, uint8_t *keys)
{
	uint64_t at = 0;

	s->keys = keys;
	s->splits = mem_zalloc((size_t)c->n_lanes + 1, sizeof(*s->splits));
	if (!s->splits)
		return false;
	for (uint32_t i = 0; i < c->n_lanes; i++) {
		s->splits[i] = (struct lane_split){
			.mode = SPLIT_SLICE, .width = SPLIT_WIDTH, .keys = keys + at};
		at += c->lanes[i].n;
	}
	return split_sums_build(s, c);
}

bool pipe_pieces_make(struct view *v, struct incore_error *e)
{
	struct pipe_pieces *x = &v->index->pieces;
	uint8_t *kinds = pipe_kinds_new(v->trace);
	struct pipe_pieces_making m = {.v = v};
	bool ok = kinds ? make_lanes(&m, kinds, e) : err_nomem(e);

	x->columns = (struct columns){.n_tracks = v->columns->n_tracks,
		.n_lanes = (uint32_t)m.lanes.n,
		.lanes = m.lanes.v};
	x->chunks = m.chunks.v;
	x->n_chunks = (uint32_t)m.chunks.n;
	if (!make_splits(&x->bucket, &x->columns, m.buckets.v) ||
		!make_splits(&x->cause, &x->columns, m.families.v) || !columns_number(&x->columns))
		ok = ok && err_nomem(e);
	view_track_deinit(&m.track);
	track_data_deinit(&m.data);
	mem_free(kinds);
	x->is_made = ok;
	if (!ok)
		pipe_pieces_free(x);
	return ok;
}

void pipe_pieces_free(struct pipe_pieces *x)
{
	split_sums_free(&x->bucket);
	split_sums_free(&x->cause);
	for (uint32_t i = 0; i < x->n_chunks; i++)
		mem_free(x->chunks[i]);
	mem_free(x->chunks);
	mem_free(x->columns.lanes);
	mem_free(x->columns.first_lane);
	*x = (struct pipe_pieces){0};
}
