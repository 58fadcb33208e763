/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_find.c: where a text or a condition is found, and how hits lie in time. Parts: a match;
 * the strip of hits; the search.
 */
#include "base/mem.h"
#include "serve/view/matcher.h"
#include "serve/view/tile_frame.h"
#include "serve/view/view.h"
#include "serve/view/view_index.h"

/* --- a match ---------------------------------------------------------------------------------- */

/*
 * Matches literal text; /.../ is passed on as a regular expression.
 */

static char lower(char c)
{
	if (c >= 'A' && c <= 'Z')
		c = (char)(c + 32);
	return c;
}

/* Is `needle` in `text`, ignoring the case of A-Z? */
static bool matcher_literal(struct str text, struct str needle)
{
	for (size_t i = 0; i + needle.n <= text.n; i++) {
		size_t k = 0;

		while (k < needle.n && lower(text.p[i + k]) == lower(needle.p[k]))
			k++;
		if (k == needle.n)
			return true;
	}
	return false;
}

bool matcher_init(struct matcher *m, const char *text, struct incore_error *e)
{
	struct str s = str_of(text);

	*m = (struct matcher){.literal = s};
	if (s.n == 0)
		return err_set(e, INCORE_USAGE, "bad-query", "q is empty");
	if (s.n < 3 || s.p[0] != '/' || s.p[s.n - 1] != '/')
		return true;
	m->is_regex = true;
	return regex_init(m, str_sub(s, 1, s.n - 2), e);
}

void matcher_deinit(struct matcher *m)
{
	if (m->is_regex)
		regex_deinit(m);
}

bool matcher_has(struct matcher *m, struct str text)
{
	return m->is_regex ? regex_has(m, text) : matcher_literal(text, m->literal);
}

/* --- the strip of hits ------------------------------------------------------------------------ */

/*
 * Executions of matching rows, as cells of up to 64 lanes.
 */

struct found {
	uint64_t cyc;
	uint32_t n;
};

/* Adds [start, end) to the cells it touches. */
static void find_strip_add(
	const struct tile_frame *f, uint64_t start, uint64_t end, struct found *cells)
{
	uint64_t width = UINT64_C(1) << f->level;

	start = start > f->t0 ? start - f->t0 : 0;
	end -= f->t0;
	for (uint64_t c = start >> f->level; c < VIEW_TILE_CELLS && c * width < end; c++) {
		uint64_t from = c * width > start ? c * width : start;
		uint64_t to = (c + 1) * width < end ? (c + 1) * width : end;

		cells[c].cyc += to - from;
		cells[c].n++;
	}
}

static void find_strip_add_track(const struct view *v, const struct tile_frame *f,
	const uint8_t *is_match, track_idx track, struct found *cells)
{
	const struct columns *c = v->columns;
	uint64_t width = UINT64_C(1) << f->level, t1 = f->t0 + VIEW_TILE_CELLS * width;

	for (uint32_t k = c->first_lane[track]; k < c->first_lane[track + 1]; k++) {
		const struct lane *l = &c->lanes[k];

		for (uint32_t i = lane_first_after(l, f->t0); i < l->n; i++) {
			uint64_t start = lane_start(l, i),
				 end = start + (l->dur[i] ? l->dur[i] : 1);

			if (start >= t1)
				break;
			if (l->code[i] < v->trace->n_code && is_match[l->code[i]] && end > f->t0)
				find_strip_add(f, start, end, cells);
		}
	}
}

static void find_strip_fill_row(const struct view *v, const struct tile_frame *f,
	const uint8_t *is_match, uint32_t row, uint8_t *out)
{
	struct found cells[VIEW_TILE_CELLS] = {{0, 0}};

	for (track_idx i = f->row[row].first; i <= f->row[row].last; i++)
		if (tile_frame_has(f, v, i))
			find_strip_add_track(v, f, is_match, i, cells);
	for (unsigned i = 0; i < VIEW_TILE_CELLS; i++, out += TILE_CELL_BYTES) {
		out[0] = cells[i].n ? 0 : CELL_NOTHING;
		out[1] = tile_share(cells[i].cyc, f->level);
		out[3] = cells[i].n > 1 ? CELL_SEVERAL : 0;
	}
}

static bool find_strip(const struct view *v, const struct query *q, const uint8_t *is_match,
	struct strbuf *out, struct incore_error *e)
{
	struct tile_frame f;
	uint8_t *cells;

	if (!tile_frame_lanes(q, v, &f, e) ||
		!tile_frame_put(&f, "ICT1", TILE_CLASS, out, &cells, e))
		return false;
	for (uint32_t i = 0; i < f.rows; i++)
		find_strip_fill_row(
			v, &f, is_match, i, cells + (size_t)i * VIEW_TILE_CELLS * TILE_CELL_BYTES);
	return true;
}

/* --- the search ------------------------------------------------------------------------------- */

/*
 * Finds a text in code, sources, names of tracks and kernels, markers.
 */

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
static bool view_find_begin(struct find *f, enum place place, struct str text)
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
static bool view_find_mark_rows(struct find *f, struct str rest, struct incore_error *e)
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
		if (!view_find_begin(f, IN_ISA, text))
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
			if (!matcher_has(&f->matcher, line) || !view_find_begin(f, IN_SOURCE, line))
				continue;
			json_w_kv_u64(f->w, "source", i);
			json_w_kv_u64(f->w, "line", n);
			json_w_end(f->w);
		}
	}
}

static void view_find_names(struct find *f)
{
	const struct trace *t = f->v->trace;

	for (uint32_t i = 0; f->places & 1u << IN_TRACKS && i < t->n_tracks; i++) {
		struct str name = str_of(t->tracks[i].name);

		if (!matcher_has(&f->matcher, name) || !view_find_begin(f, IN_TRACKS, name))
			continue;
		json_w_kv_u64(f->w, "track", i);
		json_w_end(f->w);
	}
	for (uint32_t i = 0; f->places & 1u << IN_KERNELS && i < t->n_kernel_names; i++) {
		struct str name = str_of(t->kernel_names[i].name);

		if (!matcher_has(&f->matcher, name) || !view_find_begin(f, IN_KERNELS, name))
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
		if (matcher_has(&f->matcher, s) && view_find_begin(f, IN_MARKERS, s)) {
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
		view_find_names(f);
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
	return !rows || view_find_mark_rows(f, str_of(rows), e);
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
