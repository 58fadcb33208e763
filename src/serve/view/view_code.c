/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_code.c: the code of a trace, its sources, and the cost of its rows on one track. Parts: a
 * source; the cost of rows; the code.
 */
#include "base/mem.h"
#include "serve/view/view.h"
#include "serve/view/view_index.h"
#include "serve/view/view_track.h"

/* --- a source --------------------------------------------------------------------------------- */

/*
 * The text of a source file, by its number: no path ever comes from a request.
 */

bool view_source(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e)
{
	const struct trace *t = v->trace;
	uint64_t i;

	if (!query_number(q, "file", QUERY_NEEDED, UINT32_MAX, &i, e))
		return false;
	if (i >= t->n_sources)
		return err_set(e, INCORE_NO, "no-source", "there is no source of that number");
	if (!t->sources[i].text)
		return err_set(e, INCORE_NO, "no-text", "the capture has no copy of %s",
			t->sources[i].path);
	return sb_reserve(out, 0) && sb_add(out, t->sources[i].text, t->sources[i].text_len)
		       ? true
		       : err_nomem(e);
}

/* --- the cost of rows ------------------------------------------------------------------------- */

/*
 * The cost of each code row on one track, in all its executions or in the n-th.
 */

struct view_row_sums {
	uint64_t seen, hit; /* executions so far, and those that are counted */
	uint64_t bucket[BUCKET_COUNT];
	uint32_t longest; /* recorded cycles of one execution */
	uint32_t slice;	  /* the last one counted */
};

struct view_rows_sums {
	const struct view *v;
	track_idx track;
	uint64_t execution; /* execution to count, from 1; 0: all */
	uint64_t from, n;   /* range of code rows */
	struct view_row_sums *sums;
	uint64_t rest[BUCKET_COUNT]; /* cycles that belong to no code row */
	struct view_track k;	     /* for pipes */
};

/* Where to add the cycles of a slice; NULL for rows or executions that are not requested. */
static uint64_t *target(struct view_rows_sums *r, code_idx code, uint32_t slice)
{
	struct view_row_sums *s;

	if (code >= r->v->trace->n_code)
		return r->rest;
	if (code < r->from || code - r->from >= r->n)
		return NULL;
	s = &r->sums[code - r->from];
	return !r->execution || (s->hit && s->slice == slice) ? s->bucket : NULL;
}

/* Counts an execution, if it is a requested one. */
static void view_rows_count(struct view_rows_sums *r, const struct lane *l, uint32_t i)
{
	struct view_row_sums *s;

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

static bool view_rows_add_piece(void *ctx, const struct pipe_piece *p)
{
	struct view_rows_sums *r = ctx;
	code_idx code = p->slice == NO_SLICE ? NO_CODE : r->k.data.code[p->slice];
	uint64_t *to = target(r, code, p->slice);

	if (to)
		to[p->bucket] += p->to_cyc - p->from_cyc;
	return true;
}

static bool view_rows_gather(struct view_rows_sums *r, struct incore_error *e)
{
	const struct columns *c = r->v->columns;

	for (uint32_t x = c->first_lane[r->track]; x < c->first_lane[r->track + 1]; x++) {
		const struct lane *l = &c->lanes[x];

		for (uint32_t i = 0; i < l->n; i++) {
			uint64_t *to;

			view_rows_count(r, l, i);
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
		       pipe_pieces_of(r->v, r->track, &r->k.data, view_rows_add_piece, r, e));
}

/* Value of column k: code row, executions, the buckets, the longest duration. */
static uint64_t cell(const struct view_rows_sums *r, uint64_t i, unsigned k)
{
	const struct view_row_sums *s = &r->sums[i];

	if (k == 0)
		return r->from + i;
	if (k == 1)
		return s->hit;
	return k < 2 + BUCKET_COUNT ? s->bucket[k - 2] : s->longest;
}

static void view_rows_put_rows(const struct view_rows_sums *r, struct json_writer *w)
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
	struct view_rows_sums r = {.v = v};
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
	ok = r.sums ? view_rows_gather(&r, e) : err_nomem(e);
	if (ok) {
		json_w_buf(&w, out, 1);
		view_rows_put_rows(&r, &w);
		ok = json_w_finish(&w, e);
	}
	view_track_deinit(&r.k);
	mem_free(r.sums);
	return ok;
}

/* --- the code --------------------------------------------------------------------------------- */

/*
 * The code table as columns, a page at a time.
 */

enum column {
	COLUMN_ROW,
	COLUMN_ADDRESS,
	COLUMN_TEXT,
	COLUMN_CLASS,
	COLUMN_LABEL,
	COLUMN_SOURCE,
	COLUMN_LINE,
	COLUMN_HITS,
	COLUMN_CYCLES,
	COLUMNS
};

static void view_code_put_cell(
	const struct view *v, uint32_t i, enum column k, struct json_writer *w)
{
	const struct code_row *r = &v->trace->code[i];
	const struct frame *f = r->n_frames ? &v->trace->frames[r->first_frame] : NULL;
	const struct code_sum *s = &v->index->code[i];

	switch (k) {
	case COLUMN_ROW:
		json_w_i64(w, r->number);
		break;
	case COLUMN_ADDRESS:
		json_w_u64(w, r->address);
		break;
	case COLUMN_TEXT:
		json_w_str(w, (struct str){r->text, r->text_len});
		break;
	case COLUMN_CLASS:
		json_w_u64(w, r->inst_class);
		break;
	case COLUMN_LABEL:
		json_w_u64(w, r->is_label);
		break;
	case COLUMN_SOURCE:
		json_w_i64(w, f && f->source != NO_SOURCE ? (int64_t)f->source : -1);
		break;
	case COLUMN_LINE:
		json_w_u64(w, f ? f->line : 0);
		break;
	case COLUMN_HITS:
		json_w_u64(w, s->hits);
		break;
	default:
		json_w_u64(w, s->cyc);
	}
}

/* Writes the exclusive cost of each source file: that of rows whose innermost frame is in it. */
static bool view_code_put_sources(const struct view *v, struct json_writer *w)
{
	const struct trace *t = v->trace;
	uint64_t *sums = mem_zalloc((size_t)t->n_sources + 1, sizeof(*sums));

	if (!sums)
		return false;
	for (uint32_t i = 0; i < t->n_code; i++) {
		const struct code_row *r = &t->code[i];
		source_idx s = r->n_frames ? t->frames[r->first_frame].source : NO_SOURCE;

		sums[s < t->n_sources ? s : t->n_sources] += v->index->code[i].cyc;
	}
	json_w_kv_row(w, "source_cycles");
	for (uint32_t i = 0; i < t->n_sources; i++)
		json_w_u64(w, sums[i]);
	json_w_end(w);
	mem_free(sums);
	return true;
}

bool view_code(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e)
{
	static const char *const names[COLUMNS] = {
		"row", "address", "text", "class", "label", "source", "line", "hits", "cycles"};
	uint64_t from, n;
	struct json_writer w;

	if (!query_number(q, "from", 0, UINT32_MAX, &from, e) ||
		!query_number(q, "n", VIEW_MAX_ROWS, VIEW_MAX_ROWS, &n, e))
		return false;
	json_w_buf(&w, out, 1);
	json_w_object(&w);
	json_w_kv_cstr(&w, "schema", "incore.view.code/1");
	json_w_kv_u64(&w, "from", from);
	json_w_kv_u64(&w, "total", v->trace->n_code);
	for (unsigned k = 0; k < COLUMNS; k++) {
		json_w_kv_row(&w, names[k]);
		for (uint64_t i = from; i < v->trace->n_code && i - from < n; i++)
			view_code_put_cell(v, (uint32_t)i, k, &w);
		json_w_end(&w);
	}
	if (from == 0 && !view_code_put_sources(v, &w))
		return err_nomem(e);
	json_w_end(&w);
	return json_w_finish(&w, e);
}
