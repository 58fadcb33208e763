/* SPDX-License-Identifier: Apache-2.0 */
/* view_find.c: finds a text in code, sources, names of tracks and kernels, markers. */
#include "base/mem.h"
#include "serve/view/find_strip.h"
#include "serve/view/matcher.h"
#include "serve/view/view_index.h"

#define MAX_DENSITY 8192u
#define TEXT_SHOWN 400u

enum place { IN_ISA, IN_SOURCE, IN_TRACKS, IN_KERNELS, IN_MARKERS, PLACES };
static const char *const place_names[PLACES] = {"isa", "source", "tracks", "kernels", "markers"};

struct find {
	const struct view *v;
	struct matcher matcher;
	unsigned places;   /* one bit per place */
	bool has_rows;	   /* code rows are given by number and already marked */
	uint8_t *is_match; /* by code row */
	uint64_t count, n_shown;
	struct json_writer *w;
};

static bool parse_places(const struct query *q, unsigned *out, struct incore_error *e)
{
	const char *text = query_text(q, "in");
	struct str rest = str_of(text ? text : "isa"), part;

	*out = 0;
	while (str_cut(&rest, ",", &part)) {
		unsigned k = 0;

		while (k < PLACES && !str_is(part, place_names[k]))
			k++;
		if (k == PLACES)
			return err_set(e, INCORE_USAGE, "bad-query",
				"in expects a list of isa, source, tracks, kernels, markers");
		*out |= 1u << k;
	}
	return true;
}

/* Begins to write a match; only counts it if enough are already shown. */
static bool begin(struct find *f, enum place place, struct str text)
{
	f->count++;
	if (f->n_shown == VIEW_MAX_ROWS)
		return false;
	f->n_shown++;
	json_w_row_object(f->w);
	json_w_kv_cstr(f->w, "kind", place_names[place]);
	json_w_kv_str(f->w, "text", str_sub(text, 0, TEXT_SHOWN));
	return true;
}

static bool is_row(struct find *f, uint32_t i, struct str text)
{
	return f->has_rows ? f->is_match[i] : matcher_has(&f->matcher, text);
}

/* Marks rows given as "1,4-9"; the length is only limited by that of a question. */
static bool mark_rows(struct find *f, struct str rest, struct incore_error *e)
{
	struct str part;
	uint32_t n_code = f->v->trace->n_code;

	while (str_cut(&rest, ",", &part)) {
		ptrdiff_t dash = str_find(part, "-");
		uint64_t first = 0, last = 0;
		bool ok = str_to_u64(dash < 0 ? part : str_sub(part, 0, (size_t)dash), &first);

		last = first;
		if (dash >= 0)
			ok = ok && str_to_u64(str_sub(part, (size_t)dash + 1, part.n), &last);
		if (!ok || first > last || last >= n_code)
			return err_set(e, INCORE_USAGE, "bad-query",
				"rows expects ranges a-b of numbers below %u", n_code);
		memset(f->is_match + first, 1, last - first + 1);
	}
	return true;
}

/* Marks the matching code rows, for the strip. */
static void match_code(struct find *f)
{
	const struct trace *t = f->v->trace;

	for (uint32_t i = 0; i < t->n_code && !f->has_rows; i++)
		f->is_match[i] = matcher_has(
			&f->matcher, (struct str){t->code[i].text, t->code[i].text_len});
}

static void find_isa(struct find *f)
{
	const struct trace *t = f->v->trace;

	for (uint32_t i = 0; i < t->n_code; i++) {
		struct str text = {t->code[i].text, t->code[i].text_len};
		const struct code_sum *s = &f->v->index->code[i];
		uint32_t at;
		const struct lane *l;

		if (!is_row(f, i, text))
			continue;
		f->is_match[i] = 1;
		if (!begin(f, IN_ISA, text))
			continue;
		json_w_kv_u64(f->w, "code", i);
		json_w_kv_i64(f->w, "row", t->code[i].number);
		json_w_kv_u64(f->w, "hits", s->hits);
		l = s->hits ? columns_slice(f->v->columns, s->track, s->slice, &at) : NULL;
		json_w_key(f->w, "first");
		if (l) {
			json_w_row_object(f->w);
			json_w_kv_u64(f->w, "track", s->track);
			json_w_kv_u64(f->w, "slice", s->slice);
			json_w_kv_u64(f->w, "t", lane_start(l, at));
			json_w_end(f->w);
		} else {
			json_w_null(f->w);
		}
		json_w_end(f->w);
	}
}

static void find_source(struct find *f)
{
	const struct trace *t = f->v->trace;

	for (uint32_t i = 0; i < t->n_sources; i++) {
		struct str rest = {t->sources[i].text, t->sources[i].text_len}, line;

		for (uint32_t n = 1; t->sources[i].text && str_cut(&rest, "\n", &line); n++) {
			if (!matcher_has(&f->matcher, line) || !begin(f, IN_SOURCE, line))
				continue;
			json_w_kv_u64(f->w, "source", i);
			json_w_kv_u64(f->w, "line", n);
			json_w_end(f->w);
		}
	}
}

static void find_names(struct find *f)
{
	const struct trace *t = f->v->trace;

	for (uint32_t i = 0; f->places & 1u << IN_TRACKS && i < t->n_tracks; i++) {
		struct str name = str_of(t->tracks[i].name);

		if (!matcher_has(&f->matcher, name) || !begin(f, IN_TRACKS, name))
			continue;
		json_w_kv_u64(f->w, "track", i);
		json_w_end(f->w);
	}
	for (uint32_t i = 0; f->places & 1u << IN_KERNELS && i < t->n_kernel_names; i++) {
		struct str name = str_of(t->kernel_names[i].name);

		if (!matcher_has(&f->matcher, name) || !begin(f, IN_KERNELS, name))
			continue;
		json_w_kv_u64(f->w, "kernel", t->kernel_names[i].id);
		json_w_end(f->w);
	}
}

static void find_markers(struct find *f)
{
	const struct trace *t = f->v->trace;

	for (uint32_t i = 0; i < t->n_markers; i++) {
		struct strbuf text = {0};
		struct str s;

		sb_printf(&text, "%llu", (unsigned long long)t->markers[i].value);
		s = str_of(text.p ? text.p : "");
		if (matcher_has(&f->matcher, s) && begin(f, IN_MARKERS, s)) {
			json_w_kv_i64(f->w, "t",
				trace_aligned(t, t->markers[i].clock, t->markers[i].time_cyc) -
					f->v->origin_cyc);
			json_w_end(f->w);
		}
		sb_free(&text);
	}
}

/* Writes how many executions of matching rows start in each part of the span. */
static bool put_density(struct find *f, uint32_t width)
{
	const struct columns *c = f->v->columns;
	uint64_t *cells = mem_zalloc(width, sizeof(*cells));
	uint64_t step = c->end_cyc / width + 1;
	uint32_t n_code = f->v->trace->n_code;

	if (!cells)
		return false;
	EACH (const struct lane, l, c->lanes, c->n_lanes) {
		for (uint32_t i = 0; i < l->n; i++)
			if (l->code[i] < n_code && f->is_match[l->code[i]] &&
				lane_start(l, i) / step < width)
				cells[lane_start(l, i) / step]++;
	}
	json_w_kv_row(f->w, "density");
	for (uint32_t i = 0; i < width; i++)
		json_w_u64(f->w, cells[i]);
	json_w_end(f->w);
	mem_free(cells);
	return true;
}

static bool put_found(struct find *f, const char *text, uint32_t width)
{
	bool ok;

	json_w_object(f->w);
	json_w_kv_cstr(f->w, "schema", "incore.view.find/1");
	json_w_kv_cstr(f->w, "q", text);
	json_w_kv_bool(f->w, "is_regex", f->matcher.is_regex);
	json_w_kv_array(f->w, "matches");
	if (f->places & 1u << IN_ISA)
		find_isa(f);
	if (f->places & 1u << IN_SOURCE && !f->has_rows)
		find_source(f);
	if (!f->has_rows)
		find_names(f);
	if (f->places & 1u << IN_MARKERS && !f->has_rows)
		find_markers(f);
	json_w_end(f->w);
	json_w_kv_u64(f->w, "count", f->count);
	json_w_kv_u64(f->w, "left_out", f->count - f->n_shown);
	ok = put_density(f, width);
	json_w_end(f->w);
	return ok;
}

static bool begin_find(
	const struct view *v, const struct query *q, struct find *f, struct incore_error *e)
{
	const char *text = query_text(q, "q"), *rows = query_text(q, "rows");

	*f = (struct find){.v = v, .has_rows = rows != NULL};
	if (!rows && !matcher_init(&f->matcher, text ? text : "", e))
		return false;
	f->is_match = mem_zalloc((size_t)v->trace->n_code + 1, 1);
	if (!f->is_match)
		return err_nomem(e);
	return !rows || mark_rows(f, str_of(rows), e);
}

static void end_find(struct find *f)
{
	matcher_deinit(&f->matcher);
	mem_free(f->is_match);
}

bool view_find(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e)
{
	struct json_writer w;
	struct find f;
	uint64_t width;
	bool ok;

	ok = begin_find(v, q, &f, e) && parse_places(q, &f.places, e) &&
	     query_number(q, "w", 512, MAX_DENSITY, &width, e);
	if (ok) {
		f.w = &w;
		json_w_buf(&w, out, 1);
		ok = put_found(&f, query_text(q, "q"), width ? (uint32_t)width : 1) || err_nomem(e);
		ok = ok && json_w_finish(&w, e);
	}
	end_find(&f);
	return ok;
}

bool view_found(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e)
{
	struct find f;
	bool ok = begin_find(v, q, &f, e);

	if (ok)
		match_code(&f);
	ok = ok && find_strip(v, q, f.is_match, out, e);
	end_find(&f);
	return ok;
}
