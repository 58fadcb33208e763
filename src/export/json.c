/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.c: the whole trace as one JSON document, schema incore.trace/1, written as it is read. See
 * incore-json(7). Large tables are arrays of arrays, with their columns named once.
 */
#include "codec/json_writer.h"

#include "analysis/waves/states.h"
#include "export/export.h"

#include "export/json_tables.h"
#include "export/writer.h"

enum part { PART_NONE, PART_SLICES, PART_STATES, PART_LINKS };

struct json_state {
	struct json_writer w;
	bool in_tracks;
	enum part part;	    /* of the current track */
	struct strbuf cuts; /* written at the end: what, why (each ends in NUL) */
	VEC(uint64_t) cut_counts;
	bool in_notes;
};

static void names_row(struct json_writer *w, const char *key, const char *const *names)
{
	json_w_kv_row(w, key);
	for (; *names; names++)
		json_w_cstr(w, *names);
	json_w_end(w);
}

static void put_columns(struct json_writer *w)
{
	static const char *const slice[] = {"start_cycles", "duration_cycles", "stall_cycles",
		"code", "class", "category", NULL};
	static const char *const state[] = {"start_cycles", "duration_cycles", "state", NULL};
	static const char *const link[] = {"producer_slice", "wait_slice", NULL};

	json_w_kv_object(w, "columns");
	names_row(w, "slices", slice);
	names_row(w, "states", state);
	names_row(w, "waits", link);
	json_w_end(w);
}

static bool begin(struct export *x, struct incore_error *e)
{
	struct json_state *s = mem_zalloc(1, sizeof(*s));
	struct json_writer *w;

	if (!s)
		return err_nomem(e);
	x->state = s;
	w = &s->w;
	json_w_file(w, x->file.f, 1);
	json_w_object(w);
	json_w_kv_cstr(w, "schema", "incore.trace/1");
	json_w_kv_cstr(w, "incore", INCORE_VERSION);
	json_put_meta(w, x->trace);
	json_w_kv_i64(w, "origin_cycles", x->origin_cyc);
	json_put_code(w, x->trace);
	json_put_sources(w, x->trace);
	json_put_clocks(w, x->trace);
	json_put_side_tables(w, x->trace);
	put_columns(w);
	json_w_kv_array(w, "tracks");
	s->in_tracks = true;
	return true;
}

static bool track(struct export *x, const struct export_track *k, struct incore_error *e)
{
	struct json_state *s = x->state;
	struct json_writer *w = &s->w;

	(void)e;
	json_w_object(w);
	json_w_kv_u64(w, "index", k->index);
	for (int i = 0; i < TRACK_LEVELS && x->trace->levels[i]; i++)
		json_w_kv_u64(w, x->trace->levels[i], k->track->coord[i]);
	json_w_kv_cstr(w, "name", k->track->name);
	json_w_key(w, "clock");
	json_put_index(w, k->track->clock);
	json_w_key(w, "kernel_id");
	json_put_index(w, k->track->kernel_id);
	json_w_key(w, "workgroup");
	json_put_value(w, k->track->workgroup);
	json_w_kv_i64(w, "begin_cycles", k->begin_cyc);
	json_w_kv_i64(w, "end_cycles", k->end_cyc);
	json_w_kv_array(w, "slices");
	s->part = PART_SLICES;
	return true;
}

/* Closes the open array of the track and opens those up to `part`; every track has all three. */
static void enter(struct json_state *s, enum part part)
{
	static const char *const keys[] = {NULL, "slices", "states", "waits"};

	while (s->part < part) {
		json_w_end(&s->w);
		s->part++;
		json_w_kv_array(&s->w, keys[s->part]);
	}
}

static bool slice(struct export *x, const struct export_slice *v, struct incore_error *e)
{
	struct json_state *s = x->state;
	struct json_writer *w = &s->w;

	(void)e;
	json_w_row(w);
	json_w_i64(w, v->start_cyc);
	json_w_u64(w, v->dur_cyc);
	json_w_u64(w, v->stall_cyc);
	json_put_index(w, v->code);
	json_w_cstr(w, class_name((enum inst_class)v->inst_class));
	json_w_u64(w, v->tag);
	json_w_end(w);
	return true;
}

static bool state_run(struct export *x, const struct export_state *v, struct incore_error *e)
{
	struct json_state *s = x->state;

	(void)e;
	enter(s, PART_STATES);
	json_w_row(&s->w);
	json_w_i64(&s->w, v->start_cyc);
	json_w_u64(&s->w, v->dur_cyc);
	json_w_cstr(&s->w, state_name((enum wave_state)v->state));
	json_w_end(&s->w);
	return true;
}

static bool link(struct export *x, const struct export_link *l, struct incore_error *e)
{
	struct json_state *s = x->state;

	(void)e;
	enter(s, PART_LINKS);
	json_w_row(&s->w);
	json_w_u64(&s->w, l->from_slice);
	json_w_u64(&s->w, l->to_slice);
	json_w_end(&s->w);
	return true;
}

static bool track_end(struct export *x, struct incore_error *e)
{
	struct json_state *s = x->state;

	(void)e;
	enter(s, PART_LINKS);
	json_w_end(&s->w);
	json_w_end(&s->w);
	s->part = PART_NONE;
	return true;
}

/* No-op: counters are written with the side tables. */
static bool counter(struct export *x, const struct export_sample *v, struct incore_error *e)
{
	(void)x;
	(void)v;
	(void)e;
	return true;
}

static void close_tracks(struct json_state *s)
{
	if (s->in_tracks)
		json_w_end(&s->w);
	s->in_tracks = false;
	if (s->in_notes)
		return;
	json_w_kv_array(&s->w, "notes");
	s->in_notes = true;
}

static bool lost(struct export *x, const struct note *n, struct incore_error *e)
{
	struct json_state *s = x->state;
	struct json_writer *w = &s->w;

	(void)e;
	close_tracks(s);
	json_w_object(w);
	json_put_members(w, &table_notes, n);
	json_w_end(w);
	return true;
}

static bool truncated(struct export *x, const struct export_cut *c, struct incore_error *e)
{
	struct json_state *s = x->state;

	sb_add(&s->cuts, c->what, strlen(c->what) + 1);
	sb_add(&s->cuts, c->why, strlen(c->why) + 1);
	return (!s->cuts.failed && VEC_PUSH(&s->cut_counts, c->count)) || err_nomem(e);
}

static void put_cuts(struct json_state *s)
{
	const char *p = s->cuts.p;

	json_w_kv_array(&s->w, "left_out");
	for (size_t i = 0; i < s->cut_counts.n; i++) {
		json_w_object(&s->w);
		json_w_kv_cstr(&s->w, "what", p);
		p += strlen(p) + 1;
		json_w_kv_cstr(&s->w, "why", p);
		p += strlen(p) + 1;
		json_w_kv_u64(&s->w, "count", s->cut_counts.v[i]);
		json_w_end(&s->w);
	}
	json_w_end(&s->w);
}

static bool end(struct export *x, struct incore_error *e)
{
	struct json_state *s = x->state;

	close_tracks(s);
	json_w_end(&s->w);
	put_cuts(s);
	json_w_end(&s->w);
	if (!json_w_finish(&s->w, e))
		return false;
	fputc('\n', x->file.f);
	return true;
}

static void free_state(struct export *x)
{
	struct json_state *s = x->state;

	if (!s)
		return;
	sb_free(&s->cuts);
	VEC_FREE(&s->cut_counts);
	mem_free(s);
	x->state = NULL;
}

const struct export_ops export_json = {
	.name = "json",
	.suffix = ".json",
	.media_type = "application/json",
	.summary = "the whole trace as one document (schema incore.trace/1)",
	.holds = EXPORT_SLICES | EXPORT_STATES | EXPORT_LINKS | EXPORT_COUNTERS | EXPORT_CYCLES |
		 EXPORT_STALLS | EXPORT_NOTES | EXPORT_OCCUPANCY | EXPORT_CODE | EXPORT_SAMPLES,
	EXPORT_SLICE_WRITER,
};
