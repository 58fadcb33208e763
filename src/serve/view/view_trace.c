/* SPDX-License-Identifier: Apache-2.0 */
/* view_trace.c: overview of a capture: meta, evidence, clock, tracks, classes, counts, notes. */
#include "serve/view/view_trace.h"

#include "analysis/waves/matrix_passes.h"
#include "base/hash.h"
#include "base/map.h"

#define NOTES_SHOWN 200u
#define MARKERS_SHOWN 1000u
#define SOURCES_SHOWN 500u
#define NAME_SHOWN 200u /* bytes shown of a name that is repeated per track */

static void put_words(struct json_writer *w, const char *key, const char *const *words, unsigned n)
{
	json_w_kv_row(w, key);
	for (unsigned i = 0; i < n; i++)
		json_w_cstr(w, words[i]);
	json_w_end(w);
}

static void put_tables(struct json_writer *w)
{
	const char *slots[SLOT_COUNT], *buckets[BUCKET_COUNT], *families[FAMILY_COUNT];

	for (unsigned i = 0; i < SLOT_COUNT; i++)
		slots[i] = slot_name(i);
	for (unsigned i = 0; i < BUCKET_COUNT; i++)
		buckets[i] = bucket_name(i);
	for (unsigned i = 0; i < FAMILY_COUNT; i++)
		families[i] = family_name(i);
	put_words(w, "slots", slots, SLOT_COUNT);
	put_words(w, "buckets", buckets, BUCKET_COUNT);
	put_words(w, "causes", families, FAMILY_COUNT);
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

static void put_counts(const struct view *v, struct json_writer *w)
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

static void put_sources(const struct trace *t, struct json_writer *w)
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
static bool put_counters(const struct trace *t, struct json_writer *w)
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

static void put_notes(const struct trace *t, struct json_writer *w)
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

static void put_track(const struct view *v, track_idx i, struct json_writer *w)
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

static void put_tracks(const struct view *v, uint32_t from, struct json_writer *w)
{
	static const char *const columns[] = {
		"coord", "begin", "end", "slices", "lanes", "kernel", "name", "clock_aligned"};
	uint32_t n = v->trace->n_tracks;
	uint32_t end = n - from > VIEW_TRACKS_A_PAGE ? from + VIEW_TRACKS_A_PAGE : n;

	put_words(w, "track_columns", columns, sizeof(columns) / sizeof(columns[0]));
	json_w_kv_array(w, "tracks");
	for (uint32_t i = from; i < end; i++)
		put_track(v, i, w);
	json_w_end(w);
	json_w_key(w, "next_track");
	if (end < n)
		json_w_u64(w, end);
	else
		json_w_null(w);
}

static void put_head(const struct view *v, struct json_writer *w)
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
	put_words(w, "levels", t->levels, n);
	json_w_kv_bool(w, "has_pipes", v->has_pipes);
	json_w_kv_bool(w, "has_matrix_passes", matrix_passes(v->trace, NULL) > 0);
	json_w_kv_bool(w, "has_samples", t->samples != NULL);
}

bool view_trace(const struct view *v, uint32_t from, struct json_writer *w)
{
	bool ok = true;

	put_tables(w);
	put_head(v, w);
	put_counts(v, w);
	if (from == 0) {
		put_sources(v->trace, w);
		ok = put_counters(v->trace, w);
		put_markers(v, w);
		put_notes(v->trace, w);
	}
	put_tracks(v, from, w);
	return ok;
}
