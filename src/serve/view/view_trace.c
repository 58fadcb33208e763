/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_trace.c: what a page knows of a trace from the start: its head, its tables, derived
 * counters. Parts: tables; derived counters; the head.
 */
#include "serve/view/view_trace.h"

#include "analysis/counters/derived.h"
#include "analysis/waves/matrix_passes.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/vec.h"
#include "serve/view/view.h"
#include "trace/kind.h"

/* --- tables ----------------------------------------------------------------------------------- */

/*
 * The producer's tables that no analysis interprets, with their cells.
 */

static void view_tables_put_cells(const struct named_table *k, struct json_writer *w)
{
	json_w_kv_array(w, "cells");
	for (uint32_t i = 0; i < k->n_rows && i < VIEW_MAX_ROWS; i++) {
		json_w_row(w);
		for (uint32_t c = 0; c < k->n_cols; c++)
			json_w_cstr(w, k->cells[(size_t)i * k->n_cols + c]);
		json_w_end(w);
	}
	json_w_end(w);
}

bool view_tables(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e)
{
	const struct trace *t = v->trace;
	struct json_writer w;

	(void)q;
	json_w_buf(&w, out, 1);
	json_w_object(&w);
	json_w_kv_cstr(&w, "schema", "incore.view.tables/1");
	json_w_kv_array(&w, "tables");
	EACH (const struct named_table, k, t->tables, t->n_tables) {
		json_w_row_object(&w);
		json_w_kv_cstr(&w, "name", k->name);
		json_w_kv_cstr(&w, "origin", k->origin);
		json_w_kv_u64(&w, "rows", k->n_rows);
		json_w_kv_row(&w, "columns");
		for (uint32_t c = 0; c < k->n_cols; c++)
			json_w_cstr(&w, k->cols[c]);
		json_w_end(&w);
		view_tables_put_cells(k, &w);
		json_w_end(&w);
	}
	json_w_end(&w);
	json_w_end(&w);
	return json_w_finish(&w, e);
}

/* --- derived counters ------------------------------------------------------------------------- */

/*
 * Counters computed from other counters, by definitions that users can write.
 */

#define MAX_POINTS 4000u

/* Did memory run out? That fails the whole answer, not just a definition. */
static bool view_derived_is_short(const struct derived *d)
{
	for (uint32_t i = 0; i < d->n; i++)
		if (d->v[i].code && strcmp(d->v[i].code, "no-memory") == 0)
			return true;
	return false;
}

bool view_derived(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e)
{
	const char *text = query_text(q, "d");
	uint64_t defaults, points;
	struct json_writer w;
	struct derived *d;
	bool ok;

	if (!query_number(q, "defaults", 1, 1, &defaults, e) ||
		!query_number(q, "w", 512, MAX_POINTS, &points, e))
		return false;
	d = derived_new(v->trace, str_of(text ? text : ""), defaults != 0, e);
	if (!d)
		return false;
	if (view_derived_is_short(d)) {
		derived_free(d);
		return err_nomem(e);
	}
	json_w_buf(&w, out, 1);
	json_w_object(&w);
	json_w_kv_cstr(&w, "schema", "incore.view.derived/1");
	json_w_key(&w, "data");
	derived_json(d, (uint32_t)points, &w);
	json_w_end(&w);
	ok = json_w_finish(&w, e);
	derived_free(d);
	return ok;
}

/* --- the head --------------------------------------------------------------------------------- */

/*
 * Overview of a capture: meta, evidence, clock, tracks, classes, counts, notes.
 */

#define NOTES_SHOWN 200u
#define MARKERS_SHOWN 1000u
#define SOURCES_SHOWN 500u
#define NAME_SHOWN 200u /* bytes shown of a name that is repeated per track */

static void view_trace_put_words(
	struct json_writer *w, const char *key, const char *const *words, unsigned n)
{
	json_w_kv_row(w, key);
	for (unsigned i = 0; i < n; i++)
		json_w_cstr(w, words[i]);
	json_w_end(w);
}

static void view_trace_put_tables(struct json_writer *w)
{
	const char *slots[SLOT_COUNT], *buckets[BUCKET_COUNT], *families[FAMILY_COUNT];

	for (unsigned i = 0; i < SLOT_COUNT; i++)
		slots[i] = slot_name(i);
	for (unsigned i = 0; i < BUCKET_COUNT; i++)
		buckets[i] = bucket_name(i);
	for (unsigned i = 0; i < FAMILY_COUNT; i++)
		families[i] = family_name(i);
	view_trace_put_words(w, "slots", slots, SLOT_COUNT);
	view_trace_put_words(w, "buckets", buckets, BUCKET_COUNT);
	view_trace_put_words(w, "causes", families, FAMILY_COUNT);
	json_w_kv_array(w, "classes");
	for (unsigned i = 0; i < CLASS_COUNT; i++) {
		char letter[2] = {class_letter(i), 0};

		json_w_row_object(w);
		json_w_kv_u64(w, "id", i);
		json_w_kv_cstr(w, "name", class_name(i));
		json_w_kv_u64(w, "slot", slots_of_track(NULL)[i]);
		json_w_kv_cstr(w, "letter", letter);
		json_w_end(w);
	}
	json_w_end(w);
}

static void view_trace_put_counts(const struct view *v, struct json_writer *w)
{
	const struct trace *t = v->trace;

	json_w_kv_row_object(w, "counts");
	json_w_kv_u64(w, "tracks", t->n_tracks);
	json_w_kv_u64(w, "slices", v->columns ? v->columns->n_slices : 0);
	json_w_kv_u64(w, "unread_tracks", v->columns ? v->columns->n_failed : 0);
	json_w_kv_u64(w, "code", t->n_code);
	json_w_kv_u64(w, "sources", t->n_sources);
	json_w_kv_u64(w, "links", t->n_links);
	json_w_kv_u64(w, "dispatches", t->n_dispatch_events);
	json_w_kv_u64(w, "counters", t->n_counters);
	json_w_kv_u64(w, "markers", t->n_markers);
	json_w_kv_u64(w, "notes", t->n_notes);
	json_w_end(w);
}

static void view_trace_put_sources(const struct trace *t, struct json_writer *w)
{
	json_w_kv_array(w, "sources");
	for (uint32_t i = 0; i < t->n_sources && i < SOURCES_SHOWN; i++) {
		json_w_row_object(w);
		json_w_kv_cstr(w, "path", t->sources[i].path);
		json_w_kv_u64(w, "lines", t->sources[i].n_lines);
		json_w_kv_bool(w, "has_text", t->sources[i].text != NULL);
		json_w_end(w);
	}
	json_w_end(w);
	json_w_kv_array(w, "kernels");
	for (uint32_t i = 0; i < t->n_kernel_names && i < SOURCES_SHOWN; i++) {
		json_w_row_object(w);
		json_w_kv_u64(w, "id", t->kernel_names[i].id);
		json_w_kv_cstr(w, "name", t->kernel_names[i].name);
		json_w_end(w);
	}
	json_w_end(w);
}

static uint64_t name_key(const char *name)
{
	return hash_bytes(name, strlen(name), 0);
}

/* Writes the counters: series of the same name are one counter, with their number and unit. False:
 * no memory. */
static bool view_trace_put_counters(const struct trace *t, struct json_writer *w)
{
	struct u64_map seen = {0};
	bool ok = true;

	for (uint32_t i = 0; ok && i < t->n_counters; i++) {
		uint64_t *n = u64_map_at(&seen, name_key(t->counters[i].name));

		ok = n != NULL;
		if (ok)
			++*n;
	}
	json_w_kv_array(w, "counters");
	for (uint32_t i = 0; ok && i < t->n_counters; i++) {
		uint64_t *n = u64_map_find(&seen, name_key(t->counters[i].name));

		if (!n || *n == 0)
			continue;
		json_w_row_object(w);
		json_w_kv_cstr(w, "name", t->counters[i].name);
		json_w_kv_u64(w, "series", *n);
		json_w_kv_cstr(w, "unit", t->counters[i].unit);
		json_w_end(w);
		*n = 0; /* already reported */
	}
	json_w_end(w);
	u64_map_deinit(&seen);
	return ok;
}

static void put_markers(const struct view *v, struct json_writer *w)
{
	const struct trace *t = v->trace;

	json_w_kv_array(w, "markers");
	for (uint32_t i = 0; i < t->n_markers && i < MARKERS_SHOWN; i++) {
		const struct marker *m = &t->markers[i];

		json_w_row(w);
		json_w_i64(w, trace_aligned(t, m->clock, m->time_cyc) - v->origin_cyc);
		json_w_u64(w, m->value);
		json_w_u64(w, m->clock < t->n_clocks ? t->clocks[m->clock].id : 0);
		json_w_u64(w, m->cu);
		json_w_u64(w, m->simd);
		json_w_u64(w, m->slot);
		json_w_end(w);
	}
	json_w_end(w);
}

static void view_trace_put_notes(const struct trace *t, struct json_writer *w)
{
	json_w_kv_array(w, "notes");
	for (uint32_t i = 0; i < t->n_notes && i < NOTES_SHOWN; i++) {
		json_w_row_object(w);
		json_w_kv_cstr(w, "kind", note_kind_name(t->notes[i].kind));
		json_w_kv_cstr(w, "code", t->notes[i].code);
		json_w_kv_cstr(w, "message", t->notes[i].message);
		json_w_kv_cstr(w, "path", t->notes[i].path);
		json_w_kv_u64(w, "count", t->notes[i].count);
		json_w_end(w);
	}
	json_w_end(w);
}

static void view_trace_put_track(const struct view *v, track_idx i, struct json_writer *w)
{
	const struct trace *t = v->trace;
	const struct track *k = &t->tracks[i];
	const struct columns *c = v->columns;
	const struct lane *l = c ? &c->lanes[c->first_lane[i]] : NULL;
	int64_t begin = trace_aligned(t, k->clock, k->begin_cyc) - v->origin_cyc;
	int64_t end = trace_aligned(t, k->clock, k->end_cyc) - v->origin_cyc;

	json_w_row(w);
	json_w_row(w);
	for (int n = 0; n < TRACK_LEVELS && t->levels[n]; n++)
		json_w_u64(w, k->coord[n]);
	json_w_end(w);
	json_w_i64(w, l ? (int64_t)l->begin_cyc : begin);
	json_w_i64(w, l ? (int64_t)l->end_cyc : end);
	json_w_u64(w, l ? columns_count(c, i) : 0);
	json_w_u64(w, l ? l->n_sub : 0);
	if (k->kernel_id == UINT32_MAX)
		json_w_null(w);
	else
		json_w_u64(w, k->kernel_id);
	json_w_str(w, str_sub(str_of(k->name), 0, NAME_SHOWN));
	json_w_bool(
		w, k->clock >= t->n_clocks || t->clocks[k->clock].is_aligned || t->n_clocks == 1);
	json_w_end(w);
}

static void view_trace_put_tracks(const struct view *v, uint32_t from, struct json_writer *w)
{
	static const char *const columns[] = {
		"coord", "begin", "end", "slices", "lanes", "kernel", "name", "clock_aligned"};
	uint32_t n = v->trace->n_tracks;
	uint32_t end = n - from > VIEW_TRACKS_A_PAGE ? from + VIEW_TRACKS_A_PAGE : n;

	view_trace_put_words(w, "track_columns", columns, sizeof(columns) / sizeof(columns[0]));
	json_w_kv_array(w, "tracks");
	for (uint32_t i = from; i < end; i++)
		view_trace_put_track(v, i, w);
	json_w_end(w);
	json_w_key(w, "next_track");
	if (end < n)
		json_w_u64(w, end);
	else
		json_w_null(w);
}

static void view_trace_put_head(const struct view *v, struct json_writer *w)
{
	const struct trace *t = v->trace;
	double mhz = trace_clock_mhz(t);
	unsigned n = 0;

	json_w_kv_bool(w, "is_estimate", t->meta.evidence == EVIDENCE_ESTIMATE);
	json_w_kv_row_object(w, "clock");
	json_w_key(w, "mhz");
	if (mhz > 0)
		json_w_double(w, mhz, 3);
	else
		json_w_null(w);
	json_w_kv_cstr(w, "source", t->meta.clock_source);
	json_w_end(w);
	json_w_kv_row_object(w, "span");
	json_w_kv_u64(w, "begin", 0);
	json_w_kv_u64(w, "end", v->columns ? v->columns->end_cyc : 0);
	json_w_kv_i64(w, "origin", v->origin_cyc);
	json_w_end(w);
	while (n < TRACK_LEVELS && t->levels[n])
		n++;
	view_trace_put_words(w, "levels", t->levels, n);
	json_w_kv_bool(w, "has_pipes", v->has_pipes);
	json_w_kv_bool(w, "has_matrix_passes", matrix_passes(v->trace, NULL) > 0);
	json_w_kv_bool(w, "has_samples", t->samples != NULL);
}

/* What the vendor calls things, for the words of the page. */
static void put_words(const struct trace *t, struct json_writer *w)
{
	const struct vendor_row *v = vendor_row(t);

	json_w_kv_row_object(w, "words");
	json_w_kv_cstr(w, "wave", v->wave);
	json_w_kv_cstr(w, "simd", v->simd);
	json_w_kv_cstr(w, "cus", v->cus);
	json_w_kv_cstr(w, "workgroup", v->workgroup);
	json_w_kv_cstr(w, "local_memory", v->local_memory);
	json_w_end(w);
}

bool view_trace(const struct view *v, uint32_t from, struct json_writer *w)
{
	bool ok = true;

	view_trace_put_tables(w);
	view_trace_put_head(v, w);
	view_trace_put_counts(v, w);
	put_words(v->trace, w);
	if (from == 0) {
		view_trace_put_sources(v->trace, w);
		ok = view_trace_put_counters(v->trace, w);
		put_markers(v, w);
		view_trace_put_notes(v->trace, w);
	}
	view_trace_put_tracks(v, from, w);
	return ok;
}
