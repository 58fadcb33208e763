/* SPDX-License-Identifier: Apache-2.0 */
/* view_rows.c: the cost of each code row on one track, in all its executions or in the n-th. */
#include "base/mem.h"
#include "serve/view/view_index.h"
#include "serve/view/view_track.h"

struct row_sums {
	uint64_t seen, hit; /* executions so far, and those that are counted */
	uint64_t bucket[BUCKET_COUNT];
	uint32_t longest; /* recorded cycles of one execution */
	uint32_t slice;	  /* the last one counted */
};

struct rows {
	const struct view *v;
	track_idx track;
	uint64_t execution; /* execution to count, from 1; 0: all */
	uint64_t from, n;   /* range of code rows */
	struct row_sums *sums;
	uint64_t rest[BUCKET_COUNT]; /* cycles that belong to no code row */
	struct view_track k;	     /* for pipes */
};

/* Where to add the cycles of a slice; NULL for rows or executions that are not requested. */
static uint64_t *target(struct rows *r, code_idx code, uint32_t slice)
{
	struct row_sums *s;

	if (code >= r->v->trace->n_code)
		return r->rest;
	if (code < r->from || code - r->from >= r->n)
		return NULL;
	s = &r->sums[code - r->from];
	return !r->execution || (s->hit && s->slice == slice) ? s->bucket : NULL;
}

/* Counts an execution, if it is a requested one. */
static void count(struct rows *r, const struct lane *l, uint32_t i)
{
	struct row_sums *s;

	if (l->code[i] < r->from || l->code[i] - r->from >= r->n)
		return;
	s = &r->sums[l->code[i] - r->from];
	s->seen++;
	if (r->execution && s->seen != r->execution)
		return;
	s->hit++;
	s->slice = l->first + i;
	s->longest = l->dur[i] > s->longest ? l->dur[i] : s->longest;
}

static bool add_piece(void *ctx, const struct pipe_piece *p)
{
	struct rows *r = ctx;
	code_idx code = p->slice == NO_SLICE ? NO_CODE : r->k.data.code[p->slice];
	uint64_t *to = target(r, code, p->slice);

	if (to)
		to[p->bucket] += p->to_cyc - p->from_cyc;
	return true;
}

static bool gather(struct rows *r, struct incore_error *e)
{
	const struct columns *c = r->v->columns;

	for (uint32_t x = c->first_lane[r->track]; x < c->first_lane[r->track + 1]; x++) {
		const struct lane *l = &c->lanes[x];

		for (uint32_t i = 0; i < l->n; i++) {
			uint64_t *to;

			count(r, l, i);
			to = r->v->has_pipes ? NULL : target(r, l->code[i], l->first + i);
			if (to)
				slice_buckets(r->v, l, i, to);
		}
		if (!r->v->has_pipes &&
			columns_count(c, r->track) == 0) /* no record has its time */
			r->rest[BUCKET_IDLE] += l->end_cyc - l->begin_cyc;
	}
	return !r->v->has_pipes ||
	       (view_track_load(r->v, NULL, r->track, &r->k, e) &&
		       pipe_pieces_of(r->v, r->track, &r->k.data, add_piece, r, e));
}

/* Value of column k: code row, executions, the buckets, the longest duration. */
static uint64_t cell(const struct rows *r, uint64_t i, unsigned k)
{
	const struct row_sums *s = &r->sums[i];

	if (k == 0)
		return r->from + i;
	if (k == 1)
		return s->hit;
	return k < 2 + BUCKET_COUNT ? s->bucket[k - 2] : s->longest;
}

static void put_rows(const struct rows *r, struct json_writer *w)
{
	json_w_object(w);
	json_w_kv_cstr(w, "schema", "incore.view.rows/1");
	json_w_kv_u64(w, "track", r->track);
	json_w_kv_u64(w, "execution", r->execution);
	json_w_kv_u64(w, "from", r->from);
	json_w_kv_u64(w, "total", r->v->trace->n_code);
	for (unsigned k = 0; k < BUCKET_COUNT + 3; k++) {
		json_w_key(w, k == 0		     ? "code"
			      : k == 1		     ? "hit"
			      : k - 2 < BUCKET_COUNT ? bucket_name(k - 2)
						     : "max");
		json_w_row(w);
		for (uint64_t i = 0; i < r->n; i++)
			if (r->sums[i].hit)
				json_w_u64(w, cell(r, i, k));
		json_w_end(w);
	}
	if (!r->execution) {
		json_w_kv_row_object(w, "rest");
		for (unsigned k = 0; k < BUCKET_COUNT; k++)
			json_w_kv_u64(w, bucket_name(k), r->rest[k]);
		json_w_end(w);
	}
	json_w_end(w);
}

bool view_rows(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e)
{
	struct rows r = {.v = v};
	uint32_t n_tracks = v->columns->n_tracks;
	struct json_writer w;
	uint64_t track;
	bool ok;

	if (!query_number(q, "track", QUERY_NEEDED, n_tracks ? n_tracks - 1 : 0, &track, e) ||
		!query_number(q, "execution", 0, UINT32_MAX, &r.execution, e) ||
		!query_number(q, "from", 0, UINT32_MAX, &r.from, e) ||
		!query_number(q, "n", VIEW_MAX_ROWS, VIEW_MAX_ROWS, &r.n, e))
		return false;
	if (n_tracks == 0)
		return err_set(e, INCORE_USAGE, "bad-query", "there is no track");
	r.track = (track_idx)track;
	if (r.from >= v->trace->n_code)
		r.n = 0;
	else if (r.n > v->trace->n_code - r.from)
		r.n = v->trace->n_code - r.from;
	r.sums = mem_zalloc(r.n + 1, sizeof(*r.sums));
	ok = r.sums ? gather(&r, e) : err_nomem(e);
	if (ok) {
		json_w_buf(&w, out, 1);
		put_rows(&r, &w);
		ok = json_w_finish(&w, e);
	}
	view_track_deinit(&r.k);
	mem_free(r.sums);
	return ok;
}
