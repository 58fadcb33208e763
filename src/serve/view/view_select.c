/* SPDX-License-Identifier: Apache-2.0 */
/* view_select.c: statistics of a box by class, code row, source line or cause. */
#include "base/map.h"
#include "base/mem.h"
#include "serve/view/select_walk.h"
#include "serve/view/view_index.h"
#include "serve/view/view_track.h"

#define BY_WORDS "class|row|line|cause"

struct select {
	const struct view *v;
	struct select_walk walk;
	struct query_ranges tracks;
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

static uint32_t n_keys(const struct select *s)
{
	switch (s->walk.by) {
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

/* --- JSON --- */

static void put_known(struct json_writer *w, const char *key, bool is_known, uint64_t value)
{
	json_w_key(w, key);
	if (is_known)
		json_w_u64(w, value);
	else
		json_w_null(w);
}

/* Writes the lost cycles by cause, which add up to stall and wait. */
static void put_causes(const uint64_t *families, struct json_writer *w)
{
	json_w_kv_row_object(w, "causes");
	for (unsigned f = 0; f < FAMILY_COUNT; f++)
		if (families[f])
			json_w_kv_u64(w, family_name(f), families[f]);
	json_w_end(w);
}

static void put_stat(const struct select *s, const struct box_stat *x, const uint64_t *families,
	struct json_writer *w)
{
	bool is_known = s->box.has_quantiles && x->count;

	json_w_kv_u64(w, "count", x->count);
	json_w_kv_u64(w, "sum", x->sum);
	json_w_kv_u64(w, "union", x->union_cyc);
	json_w_kv_double(w, "mean", x->count ? (double)x->length_sum / (double)x->count : 0, 2);
	json_w_kv_u64(w, "min", x->min);
	put_known(w, "median", is_known, x->median);
	put_known(w, "p95", is_known, x->p95);
	json_w_kv_u64(w, "max", x->max);
	json_w_kv_u64(w, "stall", x->stall);
	json_w_kv_u64(w, "wait", x->wait);
	if (families)
		put_causes(families, w);
}

static const uint64_t *families_of(const struct box *b, uint32_t key)
{
	return b->families ? b->families + (size_t)key * b->n_families : NULL;
}

static void put_total(const struct select *s, struct json_writer *w)
{
	const struct box *b = &s->box;
	uint64_t all[FAMILY_COUNT] = {0};

	for (size_t i = 0; b->families && i < (size_t)b->n_keys * FAMILY_COUNT; i++)
		all[i % FAMILY_COUNT] += b->families[i];
	json_w_kv_row_object(w, "total");
	put_stat(s, &b->total, b->families ? all : NULL, w);
	json_w_end(w);
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
	if (s->walk.by == BY_LINE) {
		put_line_key(s, s->frames[key], w);
		return;
	}
	if (s->walk.by == BY_ROW) {
		put_row_key(s->v->trace, key, w);
	} else {
		const char *name = s->walk.by == BY_CLASS ? class_name(key) : family_name(key);

		json_w_kv_cstr(w, "key", name);
		json_w_kv_cstr(w, "class", s->walk.by == BY_CLASS ? name : NULL);
		json_w_kv_null(w, "code");
	}
	json_w_kv_null(w, "source");
	json_w_kv_null(w, "line");
}

static uint64_t n_tracks(const struct select *s)
{
	uint64_t n = 0;

	for (unsigned r = 0; r < s->tracks.n; r++)
		n += s->tracks.v[r].last - s->tracks.v[r].first + 1;
	return n;
}

static void put_selection(const struct select *s, struct json_writer *w)
{
	static const char *const words[] = {"class", "row", "line", "cause"};
	const struct box *b = &s->box;
	uint64_t cycles = b->t1 - b->t0;

	json_w_object(w);
	json_w_kv_cstr(w, "schema", "incore.view.select/1");
	json_w_kv_u64(w, "t0", b->t0);
	json_w_kv_u64(w, "t1", b->t1);
	json_w_kv_u64(w, "tracks", n_tracks(s));
	json_w_kv_cstr(w, "by", words[s->walk.by]);
	json_w_kv_bool(w, "is_summary", !b->has_quantiles);
	put_total(s, w);
	json_w_kv_double(w, "concurrency", cycles ? (double)b->total.sum / (double)cycles : 0, 3);
	json_w_kv_array(w, "rows");
	for (uint32_t i = 0; i < b->n_stats && i < VIEW_MAX_ROWS; i++) {
		json_w_row_object(w);
		put_key(s, b->stats[i].key, w);
		put_stat(s, &b->stats[i], families_of(b, b->stats[i].key), w);
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
	uint64_t t0, t1, causes, end = v->columns->end_cyc;
	unsigned by, n_families;

	if (!query_number(q, "t0", 0, INT64_MAX, &t0, e) ||
		!query_number(q, "t1", end, INT64_MAX, &t1, e) ||
		!query_number(q, "causes", 0, 1, &causes, e) ||
		!query_word(q, "by", BY_WORDS, &by, e) ||
		!query_set(q, "tracks", v->columns->n_tracks, &s->tracks, e))
		return false;
	if (t1 < t0)
		return err_set(e, INCORE_USAGE, "bad-query", "t1 lies before t0");
	s->walk = (struct select_walk){
		.v = v, .columns = v->columns, .box = &s->box, .by = (enum select_by)by};
	if (by == BY_LINE && !number_lines(s))
		return err_nomem(e);
	s->walk.line_of = s->line_of;
	if (causes || by == BY_CAUSE)
		s->walk.causes = v->index->cause.splits;
	if (by == BY_CAUSE && v->has_pipes) {
		s->walk.causes = v->index->pieces.cause.splits;
		s->walk.columns = &v->index->pieces.columns;
		s->walk.has_pieces = true;
	}
	n_families = causes && by != BY_CAUSE ? FAMILY_COUNT : 0;
	return (box_init(&s->box, t0, t1, n_keys(s), n_families) &&
		       select_walk_init(&s->walk, &s->tracks)) ||
	       err_nomem(e);
}

bool view_select(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e)
{
	struct select s = {.v = v};
	struct json_writer w;
	bool ok = parse(v, q, &s, e) &&
		  ((select_walk_run(&s.walk) && box_finish(&s.box)) || err_nomem(e));

	if (ok) {
		json_w_buf(&w, out, 1);
		put_selection(&s, &w);
		ok = json_w_finish(&w, e);
	}
	select_walk_deinit(&s.walk);
	box_deinit(&s.box);
	mem_free(s.line_of);
	mem_free(s.frames);
	return ok;
}
