/* SPDX-License-Identifier: Apache-2.0 */
/* answer_select.c: what lies in a box? By class, code row, source line or cause. */
#include "base/map.h"
#include "base/mem.h"
#include "serve/box.h"
#include "serve/view_index.h"
#include "serve/view_track.h"

enum select_by { BY_CLASS, BY_ROW, BY_LINE, BY_CAUSE };
#define BY_WORDS "class|row|line|cause"

struct select {
	const struct view *v;
	enum select_by by;
	struct query_ranges tracks;
	uint32_t n_tracks;
	struct box box;
	uint32_t *line_of;	     /* by code row, n_code + 1: key of its line */
	const struct frame **frames; /* by line key; NULL: no line */
	uint32_t n_lines;
};

/* --- keys --- */

static bool number_lines(struct select *s)
{
	const struct trace *t = s->v->trace;
	struct u64_map seen = {0};
	bool ok;

	s->line_of = mem_zalloc((size_t)t->n_code + 1, sizeof(*s->line_of));
	s->frames = mem_zalloc((size_t)t->n_code + 2, sizeof(*s->frames));
	ok = s->line_of && s->frames;
	s->n_lines = 1; /* key 0: rows without a line */
	for (uint32_t i = 0; ok && i < t->n_code; i++) {
		const struct code_row *r = &t->code[i];
		const struct frame *f = r->n_frames ? &t->frames[r->first_frame] : NULL;
		uint64_t *at;

		if (!f)
			continue;
		at = u64_map_at(&seen, (uint64_t)f->source << 32 | f->line);
		ok = at != NULL;
		if (ok && *at == 0) {
			s->frames[s->n_lines] = f;
			*at = s->n_lines++;
		}
		if (ok)
			s->line_of[i] = (uint32_t)*at;
	}
	u64_map_deinit(&seen);
	return ok;
}

static uint32_t key_of(const struct select *s, const struct lane *l, uint32_t i)
{
	uint32_t n_code = s->v->trace->n_code;
	uint32_t code = l->code[i] < n_code ? l->code[i] : n_code;

	switch (s->by) {
	case BY_ROW:
		return code;
	case BY_LINE:
		return s->line_of[code];
	default:
		return l->inst_class[i] < CLASS_COUNT ? l->inst_class[i] : CLASS_OTHER;
	}
}

static uint32_t n_keys(const struct select *s)
{
	switch (s->by) {
	case BY_ROW:
		return s->v->trace->n_code + 1;
	case BY_LINE:
		return s->n_lines;
	case BY_CAUSE:
		return FAMILY_COUNT;
	default:
		return CLASS_COUNT;
	}
}

/* --- gathering --- */

static uint64_t inside(const struct box *b, uint64_t from, uint64_t to)
{
	from = from < b->t0 ? b->t0 : from;
	to = to > b->t1 ? b->t1 : to;
	return to > from ? to - from : 0;
}

static void add_slices(struct select *s, const struct lane *l)
{
	struct box *b = &s->box;

	for (uint32_t i = lane_first_after(l, b->t0); i < l->n && lane_start(l, i) < b->t1; i++) {
		uint64_t start = lane_start(l, i), end = start + l->dur[i];
		enum inst_class c = l->inst_class[i];
		uint32_t key;
		uint64_t lost;

		if (end <= b->t0 && end > start)
			continue;
		key = key_of(s, l, i);
		box_add(b, key, start, end, l->dur[i]);
		if (slice_issue_bucket(c) == BUCKET_WAIT) {
			box_add_lost(b, key, 0, inside(b, start, end));
		} else if (l->stall[i]) {
			lost = inside(b, start, start + l->stall[i]);
			if (slice_stall_bucket(c) == BUCKET_WAIT)
				box_add_lost(b, key, 0, lost);
			else
				box_add_lost(b, key, lost, 0);
		}
	}
}

static void add_piece(
	struct select *s, const struct lane *l, unsigned family, uint32_t from, uint32_t to)
{
	uint32_t limit = lane_end(l);
	uint64_t a = l->base_cyc + from, z;

	to = to < limit ? to : limit;
	z = l->base_cyc + to;

	if (to > from && z > s->box.t0 && a < s->box.t1)
		box_add(&s->box, family % FAMILY_COUNT, a, z, to - from);
}

static void add_causes(struct select *s, uint32_t lane)
{
	const struct lane *l = &s->v->columns->lanes[lane];
	const struct lane_split *x = &s->v->index->cause.splits[lane];
	uint32_t i = lane_first_after(l, s->box.t0);
	uint32_t cover = i < l->n ? lane_pieces_of(l, i).gap : 0;

	for (; i < l->n; i++) {
		struct lane_pieces p = lane_pieces_after(l, i, cover);

		if (l->base_cyc + p.gap >= s->box.t1)
			return;
		add_piece(s, l, x->keys[i] >> 4, p.gap, p.stall);
		add_piece(s, l, x->keys[i] & 15u, p.stall, p.issue);
		add_piece(s, l, x->issue_key[l->inst_class[i]], p.issue, p.end);
		cover = p.end;
	}
	if (l->n && l->end_cyc > l->base_cyc + cover && l->end_cyc - l->base_cyc <= UINT32_MAX)
		add_piece(s, l, x->tail_key, cover, (uint32_t)(l->end_cyc - l->base_cyc));
}

/* Room for all pieces at once: growing would copy them again and again. */
static void reserve(struct select *s)
{
	const struct columns *c = s->v->columns;
	uint64_t n = 0;

	for (unsigned r = 0; r < s->tracks.n; r++)
		for (track_idx t = s->tracks.v[r].first; t <= s->tracks.v[r].last; t++)
			for (uint32_t k = c->first_lane[t]; k < c->first_lane[t + 1]; k++)
				n += lane_first_after(&c->lanes[k], s->box.t1) -
				     lane_first_after(&c->lanes[k], s->box.t0) + 1;
	if (s->by == BY_CAUSE)
		n *= 3;
	if (n > BOX_MAX_PIECES)
		n = BOX_MAX_PIECES;
	s->box.has_failed |= !VEC_RESERVE(&s->box.pieces, n);
}

static void gather(struct select *s)
{
	const struct columns *c = s->v->columns;

	for (unsigned r = 0; r < s->tracks.n; r++) {
		for (track_idx t = s->tracks.v[r].first; t <= s->tracks.v[r].last;
			t++, s->n_tracks++)
			for (uint32_t k = c->first_lane[t]; k < c->first_lane[t + 1]; k++) {
				if (s->by == BY_CAUSE)
					add_causes(s, k);
				else
					add_slices(s, &c->lanes[k]);
			}
	}
}

/* --- JSON --- */

static void put_stat(const struct select *s, const struct box_stat *x, struct json_writer *w)
{
	bool is_known = !s->box.is_summary && x->count;

	json_w_kv_u64(w, "count", x->count);
	json_w_kv_u64(w, "sum", x->sum);
	json_w_key(w, "union");
	if (s->box.is_summary)
		json_w_null(w);
	else
		json_w_u64(w, x->union_cyc);
	json_w_kv_double(w, "mean", x->count ? (double)x->length_sum / (double)x->count : 0, 2);
	json_w_kv_u64(w, "min", x->min);
	json_w_key(w, "median");
	if (is_known)
		json_w_u64(w, x->median);
	else
		json_w_null(w);
	json_w_key(w, "p95");
	if (is_known)
		json_w_u64(w, x->p95);
	else
		json_w_null(w);
	json_w_kv_u64(w, "max", x->max);
	json_w_kv_u64(w, "stall", x->stall);
	json_w_kv_u64(w, "wait", x->wait);
}

static void put_row_key(const struct trace *t, uint32_t code, struct json_writer *w)
{
	if (code < t->n_code) {
		json_w_kv_str(w, "key", (struct str){t->code[code].text, t->code[code].text_len});
		json_w_kv_cstr(w, "class", class_name(t->code[code].inst_class));
		json_w_kv_u64(w, "code", code);
	} else {
		json_w_kv_cstr(w, "key", "(unknown code)");
		json_w_kv_null(w, "class");
		json_w_kv_null(w, "code");
	}
}

static void put_line_key(const struct select *s, const struct frame *f, struct json_writer *w)
{
	struct strbuf name = {0};

	if (f)
		trace_put_frame(s->v->trace, f, &name);
	json_w_kv_cstr(w, "key", f && name.p ? name.p : "(no source line)");
	json_w_kv_null(w, "class");
	json_w_kv_null(w, "code");
	json_w_key(w, "source");
	if (f && f->source < s->v->trace->n_sources)
		json_w_u64(w, f->source);
	else
		json_w_null(w);
	json_w_key(w, "line");
	if (f)
		json_w_u64(w, f->line);
	else
		json_w_null(w);
	sb_free(&name);
}

static void put_key(const struct select *s, uint32_t key, struct json_writer *w)
{
	if (s->by == BY_LINE) {
		put_line_key(s, s->frames[key], w);
		return;
	}
	if (s->by == BY_ROW) {
		put_row_key(s->v->trace, key, w);
	} else {
		const char *name = s->by == BY_CLASS ? class_name(key) : family_name(key);

		json_w_kv_cstr(w, "key", name);
		json_w_kv_cstr(w, "class", s->by == BY_CLASS ? name : NULL);
		json_w_kv_null(w, "code");
	}
	json_w_kv_null(w, "source");
	json_w_kv_null(w, "line");
}

static void put(const struct select *s, struct json_writer *w)
{
	static const char *const words[] = {"class", "row", "line", "cause"};
	const struct box *b = &s->box;
	uint64_t cycles = b->t1 - b->t0;

	json_w_object(w);
	json_w_kv_cstr(w, "schema", "incore.view.select/1");
	json_w_kv_u64(w, "t0", b->t0);
	json_w_kv_u64(w, "t1", b->t1);
	json_w_kv_u64(w, "tracks", s->n_tracks);
	json_w_kv_cstr(w, "by", words[s->by]);
	json_w_kv_bool(w, "is_summary", b->is_summary);
	json_w_key(w, "total");
	json_w_row_object(w);
	put_stat(s, &b->total, w);
	json_w_end(w);
	json_w_kv_double(w, "concurrency", cycles ? (double)b->total.sum / (double)cycles : 0, 3);
	json_w_key(w, "rows");
	json_w_array(w);
	for (uint32_t i = 0; i < b->n_stats && i < VIEW_MAX_ROWS; i++) {
		json_w_row_object(w);
		put_key(s, b->stats[i].key, w);
		put_stat(s, &b->stats[i], w);
		json_w_kv_double(w, "share",
			b->total.sum ? (double)b->stats[i].sum / (double)b->total.sum : 0, 6);
		json_w_end(w);
	}
	json_w_end(w);
	json_w_kv_u64(w, "left_out", b->n_stats > VIEW_MAX_ROWS ? b->n_stats - VIEW_MAX_ROWS : 0);
	json_w_end(w);
}

static bool parse(
	const struct view *v, const struct query *q, struct select *s, struct incore_error *e)
{
	uint64_t t0, t1, end = v->columns->end_cyc;
	unsigned by;

	if (!query_number(q, "t0", 0, INT64_MAX, &t0, e) ||
		!query_number(q, "t1", end, INT64_MAX, &t1, e) ||
		!query_word(q, "by", BY_WORDS, &by, e) ||
		!query_set(q, "tracks", v->columns->n_tracks, &s->tracks, e))
		return false;
	if (t1 < t0)
		return err_set(e, INCORE_USAGE, "bad-query", "t1 lies before t0");
	s->by = (enum select_by)by;
	if (s->by == BY_LINE && !number_lines(s))
		return err_nomem(e);
	return box_init(&s->box, t0, t1, n_keys(s)) || err_nomem(e);
}

bool answer_select(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e)
{
	struct select s = {.v = v};
	struct json_writer w;
	bool ok = parse(v, q, &s, e);

	if (ok) {
		reserve(&s);
		gather(&s);
		ok = box_finish(&s.box) || err_nomem(e);
	}
	if (ok) {
		json_w_buf(&w, out, 1);
		put(&s, &w);
		ok = json_w_finish(&w, e);
	}
	box_deinit(&s.box);
	mem_free(s.line_of);
	mem_free(s.frames);
	return ok;
}
