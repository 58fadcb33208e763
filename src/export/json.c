/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.c: the whole trace as one JSON document, written as it is read, and its schema,
 * incore.trace/1. See incore-json(7). Large tables are arrays of arrays, with their columns named
 * once. Parts: tables; the writer; the schema.
 */
#include <assert.h>

#include "analysis/waves/states.h"
#include "base/vec.h"
#include "codec/json_writer.h"
#include "codec/record.h"
#include "export/export.h"
#include "export/json_schema.h"
#include "export/writer.h"
#include "trace/field_list.h"

/* --- tables ----------------------------------------------------------------------------------- */

/*
 * Meta, code and side tables of the json export, by the list of their fields. Times are in the
 * row's clock domain.
 */

static void json_put_index(struct json_writer *w, uint32_t index)
{
	if (index == UINT32_MAX)
		json_w_null(w);
	else
		json_w_u64(w, index);
}

static void json_put_value(struct json_writer *w, int64_t v)
{
	if (v == NO_VALUE)
		json_w_null(w);
	else
		json_w_i64(w, v);
}

static void put_u64_row(struct json_writer *w, uint64_t a, uint64_t b)
{
	json_w_row(w);
	json_w_u64(w, a);
	json_w_u64(w, b);
	json_w_end(w);
}

static void put_ratio(struct json_writer *w, const uint64_t v[2])
{
	if (v[1])
		put_u64_row(w, v[0], v[1]);
	else
		json_w_null(w);
}

/* An unsigned integer of any width; hosts are little-endian. */
static uint64_t uint_of(const struct field *d, const void *p)
{
	uint64_t v = 0;

	memcpy(&v, p, field_width(d));
	return v;
}

static void json_export_put_one(struct json_writer *w, const struct field *d, const void *p)
{
	switch ((enum field_type)d->type) {
	case FIELD_U8:
	case FIELD_U16:
	case FIELD_U32:
	case FIELD_U64:
		json_w_u64(w, uint_of(d, p));
		break;
	case FIELD_RATIO:
		put_ratio(w, p);
		break;
	case FIELD_I64:
		json_w_i64(w, *(const int64_t *)p);
		break;
	case FIELD_VALUE:
		json_put_value(w, *(const int64_t *)p);
		break;
	case FIELD_BOOL:
		json_w_bool(w, *(const bool *)p);
		break;
	case FIELD_STR:
		json_w_cstr(w, *(const char *const *)p);
		break;
	case FIELD_TEXT:
		json_w_str(w, field_text(p));
		break;
	case FIELD_INDEX:
	case FIELD_CLOCK:
	case FIELD_SOURCE:
		json_put_index(w, (uint32_t)uint_of(d, p));
		break;
	case FIELD_CLASS:
		json_w_cstr(w, class_name((enum inst_class)uint_of(d, p)));
		break;
	case FIELD_ENUM:
		json_w_cstr(w, d->words[uint_of(d, p)]);
		break;
	}
}

/* Writes a field; one with several values as an array. */
static void json_export_put_field(struct json_writer *w, const struct field *d, const void *row)
{
	const char *p = (const char *)row + d->offset;
	size_t width = field_width(d);

	if (d->size > width)
		json_w_row(w);
	for (size_t i = 0; i < d->size; i += width)
		json_export_put_one(w, d, p + i);
	if (d->size > width)
		json_w_end(w);
}

/* Writes the fields of a row: as members of the open object, or elements of the open array. */
static void put_fields(
	struct json_writer *w, const struct field_table *d, const void *row, bool has_keys)
{
	for (uint32_t i = 0; i < d->n_fields; i++) {
		const struct field *x = field_at(d, FORMAT_JSON, i);

		if (!x->name)
			continue;
		if (has_keys)
			json_w_key(w, x->name);
		json_export_put_field(w, x, row);
	}
}

/* Writes the fields of one row of a table into the open object. */
static void json_put_members(struct json_writer *w, const struct field_table *d, const void *row)
{
	put_fields(w, d, row, true);
}

static void json_export_put_object(
	struct json_writer *w, const struct field_table *d, const void *row)
{
	json_w_kv_object(w, d->name);
	json_put_members(w, d, row);
	json_w_end(w);
}

static void json_export_put_row(struct json_writer *w, const struct field_table *d, const void *row)
{
	json_w_row(w);
	put_fields(w, d, row, false);
	json_w_end(w);
}

static void json_export_open_table(struct json_writer *w, const char *name)
{
	json_w_kv_array(w, name);
}

/* Writes a table of the trace that consists only of its fields, as objects or as arrays. */
static void json_export_put_table(
	struct json_writer *w, const struct field_table *d, const struct trace *t, bool is_rows)
{
	const char *row;
	uint32_t n;

	memcpy(&row, (const char *)t + d->array, sizeof(row));
	memcpy(&n, (const char *)t + d->count, sizeof(n));
	json_export_open_table(w, d->name);
	for (uint32_t i = 0; i < n; i++, row += d->row_size) {
		if (is_rows) {
			json_export_put_row(w, d, row);
			continue;
		}
		json_w_object(w);
		json_put_members(w, d, row);
		json_w_end(w);
	}
	json_w_end(w);
}

static void json_put_meta(struct json_writer *w, const struct trace *t)
{
	const struct trace_meta *m = &t->meta;

	json_w_kv_object(w, table_meta.name);
	json_put_members(w, &table_meta, m);
	json_export_put_object(w, &table_launch, &m->launch);
	json_export_put_object(w, &table_machine, &m->machine);
	json_w_end(w);
}

static void json_export_put_counts(struct json_writer *w, const char *key, const struct trace *t,
	code_idx i, bool is_not_issued)
{
	const struct reason_count *r = trace_reasons_of(t, i);

	json_w_key(w, key);
	json_w_row(w);
	for (uint32_t k = 0; k < t->n_reasons; k++)
		json_w_u64(w, is_not_issued ? r[k].not_issued : r[k].all);
	json_w_end(w);
}

static void json_export_put_samples(struct json_writer *w, const struct trace *t, code_idx i)
{
	json_w_kv_object(w, table_samples.name);
	json_put_members(w, &table_samples, &t->samples[i]);
	json_export_put_counts(w, table_reason_counts.name, t, i, false);
	if (t->sampling.has_not_issued)
		json_export_put_counts(w, "not_issued", t, i, true);
	json_w_end(w);
}

static void json_export_put_metric(struct json_writer *w, const struct code_metric *m)
{
	json_w_object(w);
	json_put_members(w, &table_metrics, m);
	json_export_open_table(w, "values");
	for (uint32_t k = 0; k < m->n; k++) {
		double real;

		json_w_row(w);
		json_w_u64(w, m->row[k]);
		memcpy(&real, &m->value[k], sizeof(real));
		if (m->is_real)
			json_w_sig(w, real, 17);
		else
			json_w_u64(w, m->value[k]);
		json_w_end(w);
	}
	json_w_end(w);
	json_w_end(w);
}

/* Writes the tables of sampled captures: stall reasons, metrics by row, links of the code. */
static void json_export_put_sampled(struct json_writer *w, const struct trace *t)
{
	if (!t->sampling.period_cyc && !t->n_metrics && !t->n_code_links)
		return;
	json_export_put_object(w, &table_sampling, &t->sampling);
	json_export_open_table(w, "stall_reasons");
	for (uint32_t i = 0; i < t->n_reasons; i++)
		json_w_cstr(w, t->reasons[i]);
	json_w_end(w);
	json_export_open_table(w, table_metrics.name);
	EACH (const struct code_metric, m, t->metrics, t->n_metrics)
		json_export_put_metric(w, m);
	json_w_end(w);
	json_export_put_table(w, &table_code_links, t, false);
}

static void json_put_code(struct json_writer *w, const struct trace *t)
{
	json_export_open_table(w, table_code.name);
	for (uint32_t i = 0; i < t->n_code; i++) {
		const struct code_row *r = &t->code[i];

		json_w_row_object(w);
		json_put_members(w, &table_code, r);
		json_w_key(w, table_frames.name); /* innermost first */
		json_w_row(w);
		for (uint32_t k = 0; k < r->n_frames; k++)
			json_export_put_row(w, &table_frames, &t->frames[r->first_frame + k]);
		json_w_end(w);
		if (t->has_stated_totals)
			json_export_put_object(w, &table_totals, r);
		if (t->samples)
			json_export_put_samples(w, t, i);
		json_w_end(w);
	}
	json_w_end(w);
}

static void json_put_sources(struct json_writer *w, const struct trace *t)
{
	json_export_open_table(w, table_sources.name);
	EACH (const struct source_file, s, t->sources, t->n_sources) {
		json_w_object(w);
		json_put_members(w, &table_sources, s);
		json_w_key(w, "text");
		if (s->text)
			json_w_str(w, (struct str){s->text, s->text_len});
		else
			json_w_null(w);
		json_w_end(w);
	}
	json_w_end(w);
}

static void json_put_clocks(struct json_writer *w, const struct trace *t)
{
	json_export_open_table(w, table_clocks.name);
	EACH (const struct clock_domain, c, t->clocks, t->n_clocks) {
		json_w_object(w);
		json_put_members(w, &table_clocks, c);
		json_export_open_table(w, "samples"); /* [cycles, realtime ticks] */
		for (uint32_t k = 0; k < c->n_samples; k++) {
			json_w_row(w);
			json_w_i64(w, c->samples[k][0]);
			json_w_i64(w, c->samples[k][1]);
			json_w_end(w);
		}
		json_w_end(w);
		json_w_end(w);
	}
	json_w_end(w);
}

static void put_column_names(struct json_writer *w, const char *key, const struct field_table *d)
{
	json_w_kv_row(w, key);
	for (uint32_t i = 0; i < d->n_fields; i++)
		json_w_cstr(w, field_at(d, FORMAT_JSON, i)->name);
	json_w_end(w);
}

static void json_export_put_counters(struct json_writer *w, const struct trace *t)
{
	json_export_open_table(w, table_counters.name);
	EACH (const struct counter_series, c, t->counters, t->n_counters) {
		json_w_object(w);
		json_put_members(w, &table_counters, c);
		json_export_open_table(w, "samples"); /* [time_cycles, increments] */
		for (uint32_t k = 0; k < c->n; k++)
			put_u64_row(w, c->time_cyc[k], c->value[k]);
		json_w_end(w);
		json_w_end(w);
	}
	json_w_end(w);
}

static void json_export_put_series(struct json_writer *w, const struct trace *t)
{
	json_export_open_table(
		w, table_series.name); /* waves in a state over time, all clocks pooled */
	EACH (const struct stated_series, s, t->stated_series, t->n_stated_series) {
		json_w_object(w);
		json_put_members(w, &table_series, s);
		json_export_open_table(w, "samples"); /* [time_cycles, waves] */
		for (uint32_t k = 0; k < s->n; k++)
			put_u64_row(w, s->time_cyc[k], s->count[k]);
		json_w_end(w);
		json_w_end(w);
	}
	json_w_end(w);
}

/* occupancy, kernels, dispatches, counters, markers, other issue records, stated series, links */
static void json_put_side_tables(struct json_writer *w, const struct trace *t)
{
	put_column_names(w, "occupancy_columns", &table_occupancy);
	json_export_put_table(w, &table_occupancy, t, true);
	json_export_put_table(w, &table_kernel_names, t, false);
	json_export_put_table(w, &table_dispatch_events, t, false);
	json_export_put_counters(w, t);
	json_export_put_table(w, &table_markers, t, true);
	json_export_put_table(w, &table_other_issues, t, true);
	json_export_put_series(w, t);
	json_export_put_table(w, &table_links, t, true);
	json_export_put_sampled(w, t);
}

/* --- the writer ------------------------------------------------------------------------------- */

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

static void json_export_put_columns(struct json_writer *w)
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

static bool json_export_begin(struct export *x, struct incore_error *e)
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
	json_export_put_columns(w);
	json_w_kv_array(w, "tracks");
	s->in_tracks = true;
	return true;
}

static bool json_export_track(
	struct export *x, const struct export_track *k, struct incore_error *e)
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
static void json_export_enter(struct json_state *s, enum part part)
{
	static const char *const keys[] = {NULL, "slices", "states", "waits"};

	while (s->part < part) {
		json_w_end(&s->w);
		s->part++;
		json_w_kv_array(&s->w, keys[s->part]);
	}
}

static bool json_export_slice(
	struct export *x, const struct export_slice *v, struct incore_error *e)
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

static bool json_export_state_run(
	struct export *x, const struct export_state *v, struct incore_error *e)
{
	struct json_state *s = x->state;

	(void)e;
	json_export_enter(s, PART_STATES);
	json_w_row(&s->w);
	json_w_i64(&s->w, v->start_cyc);
	json_w_u64(&s->w, v->dur_cyc);
	json_w_cstr(&s->w, state_name((enum wave_state)v->state));
	json_w_end(&s->w);
	return true;
}

static bool json_export_link(struct export *x, const struct export_link *l, struct incore_error *e)
{
	struct json_state *s = x->state;

	(void)e;
	json_export_enter(s, PART_LINKS);
	json_w_row(&s->w);
	json_w_u64(&s->w, l->from_slice);
	json_w_u64(&s->w, l->to_slice);
	json_w_end(&s->w);
	return true;
}

static bool json_export_track_end(struct export *x, struct incore_error *e)
{
	struct json_state *s = x->state;

	(void)e;
	json_export_enter(s, PART_LINKS);
	json_w_end(&s->w);
	json_w_end(&s->w);
	s->part = PART_NONE;
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

static bool json_export_lost(struct export *x, const struct note *n, struct incore_error *e)
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

static bool json_export_truncated(struct export *x, const struct note *c, struct incore_error *e)
{
	struct json_state *s = x->state;

	sb_add(&s->cuts, c->code, strlen(c->code) + 1);
	sb_add(&s->cuts, c->message, strlen(c->message) + 1);
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

static bool json_export_end(struct export *x, struct incore_error *e)
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

static void json_export_free_state(struct export *x)
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
	.begin = json_export_begin,
	.track = json_export_track,
	.slice = json_export_slice,
	.state_run = json_export_state_run,
	.link = json_export_link,
	.track_end = json_export_track_end,
	.counter = export_sample_held,
	.lost = json_export_lost,
	.truncated = json_export_truncated,
	.end = json_export_end,
	.abort = json_export_free_state,
};

/* --- the schema ------------------------------------------------------------------------------- */

/*
 * The JSON Schema of incore.trace/1. Its tables are those of the field list; they are converted to
 * records here, so that the code for records also makes their schemas.
 */

#define SHAPE(NAME, TYPE, ...)                                                                     \
	{                                                                                          \
		.name = NAME, .doc = "", .type = COLUMN_##TYPE, ##__VA_ARGS__                      \
	}
#define RECORD_SHAPE(STYLE, COLUMNS)                                                               \
	{                                                                                          \
		COLUMNS, sizeof(COLUMNS) / sizeof((COLUMNS)[0]), STYLE, 0                          \
	}

static const struct column number_columns[] = {SHAPE("", U64)};
static const struct record number_shape = RECORD_SHAPE(RECORD_SCALAR, number_columns);
static const struct column value_columns[] = {SHAPE("", I64, NULLABLE)};
static const struct record value_shape = RECORD_SHAPE(RECORD_SCALAR, value_columns);
static const struct column text_columns[] = {SHAPE("", TEXT)};
static const struct record text_shape = RECORD_SHAPE(RECORD_SCALAR, text_columns);
static const struct column pair_columns[] = {SHAPE("", U64), SHAPE("", U64)};
static const struct record pair_shape = RECORD_SHAPE(RECORD_TUPLE, pair_columns);
static const struct column times_columns[] = {SHAPE("", I64), SHAPE("", I64)};
static const struct record times_shape = RECORD_SHAPE(RECORD_TUPLE, times_columns);
static const struct column names_columns[] = {SHAPE("slices", LIST, .of = &text_shape),
	SHAPE("states", LIST, .of = &text_shape), SHAPE("waits", LIST, .of = &text_shape)};
static const struct record names_shape = RECORD_SHAPE(RECORD_BLOCK, names_columns);
static const struct column cut_columns[] = {
	SHAPE("what", TEXT), SHAPE("why", TEXT), SHAPE("count", U64)};
static const struct record cut_shape = RECORD_SHAPE(RECORD_BLOCK, cut_columns);

/* Buffers for what is made from the field list; their sizes are fixed because the list is. */
struct export_schema_maker {
	struct column columns[288];
	struct record records[40];
	char words[2048]; /* lists of words, each ends in NUL */
	unsigned n_columns, n_records, n_words;
};

static const char *export_schema_join(struct export_schema_maker *m,
	const char *(*word)(const void *ctx, unsigned i), const void *ctx)
{
	char *list = &m->words[m->n_words];
	const char *s;

	for (unsigned i = 0; (s = word(ctx, i)) != NULL; i++)
		m->n_words += (unsigned)snprintf(&m->words[m->n_words],
			sizeof(m->words) - m->n_words, "%s%s", i ? "|" : "", s);
	assert(m->n_words < sizeof(m->words));
	m->n_words++;
	return list;
}

static const char *listed_word(const void *ctx, unsigned i)
{
	return ((const char *const *)ctx)[i];
}

static const char *class_word(const void *ctx, unsigned i)
{
	(void)ctx;
	return i < CLASS_COUNT ? class_name((enum inst_class)i) : NULL;
}

static const char *state_word(const void *ctx, unsigned i)
{
	(void)ctx;
	return i < STATE_COUNT ? state_name((enum wave_state)i) : NULL;
}

static struct column export_schema_column_of(struct export_schema_maker *m, const struct field *d)
{
	struct column c = {.name = d->name, .doc = "", .type = COLUMN_U64};

	switch ((enum field_type)d->type) {
	case FIELD_RATIO:
		c.type = COLUMN_POINTER;
		c.of = &pair_shape;
		return c;
	case FIELD_I64:
	case FIELD_VALUE:
		c.type = COLUMN_I64;
		break;
	case FIELD_BOOL:
		c.type = COLUMN_BOOL;
		break;
	case FIELD_STR:
	case FIELD_TEXT:
		c.type = COLUMN_TEXT;
		break;
	case FIELD_CLASS:
		c.type = COLUMN_TEXT;
		c.words = export_schema_join(m, class_word, NULL);
		break;
	case FIELD_ENUM:
		c.type = COLUMN_TEXT;
		c.words = export_schema_join(m, listed_word, d->words);
		break;
	default:
		break;
	}
	if (d->type == FIELD_VALUE || d->type == FIELD_STR ||
		(d->type >= FIELD_INDEX && d->type <= FIELD_SOURCE))
		c.flags = COLUMN_NULLABLE;
	if (d->size > field_width(d)) {
		c.of = d->type == FIELD_VALUE ? &value_shape : &number_shape;
		c.type = COLUMN_LIST;
		c.flags = 0;
		c.digits = (int8_t)(d->size / field_width(d));
	}
	return c;
}

/* Record with the fields of a table and further columns of its rows. */
static const struct record *export_schema_shape_of(struct export_schema_maker *m,
	const struct field_table *d, enum record_style style, const struct column *more,
	unsigned n_more)
{
	struct column *first = &m->columns[m->n_columns];
	struct record *r = &m->records[m->n_records++];

	for (uint32_t i = 0; d && i < d->n_fields; i++) {
		const struct field *x = field_at(d, FORMAT_JSON, i);

		if (x->name)
			m->columns[m->n_columns++] = export_schema_column_of(m, x);
	}
	for (unsigned i = 0; i < n_more; i++)
		m->columns[m->n_columns++] = more[i];
	assert(m->n_columns <= sizeof(m->columns) / sizeof(m->columns[0]) &&
		m->n_records <= sizeof(m->records) / sizeof(m->records[0]));
	*r = (struct record){first, (uint16_t)(&m->columns[m->n_columns] - first), style, 0};
	return r;
}

#define OBJECT(TABLE, ...)                                                                         \
	export_schema_shape_of(m, TABLE, RECORD_BLOCK, (const struct column[]){__VA_ARGS__},       \
		sizeof((const struct column[]){__VA_ARGS__}) / sizeof(struct column))
#define ROW(TABLE) export_schema_shape_of(m, TABLE, RECORD_TUPLE, NULL, 0)
#define PLAIN(TABLE) export_schema_shape_of(m, TABLE, RECORD_BLOCK, NULL, 0)
#define SAMPLES(OF) SHAPE("samples", LIST, .of = OF)

static const struct record *track_shape(struct export_schema_maker *m)
{
	const struct column slice[] = {SHAPE("", I64), SHAPE("", U64), SHAPE("", U64),
		SHAPE("", U64, NULLABLE),
		SHAPE("", TEXT, .words = export_schema_join(m, class_word, NULL)), SHAPE("", U64)};
	const struct column state[] = {SHAPE("", I64), SHAPE("", U64),
		SHAPE("", TEXT, .words = export_schema_join(m, state_word, NULL))};
	const struct record *slices = export_schema_shape_of(m, NULL, RECORD_TUPLE, slice, 6);
	const struct record *states = export_schema_shape_of(m, NULL, RECORD_TUPLE, state, 3);

	return OBJECT(NULL, SHAPE("index", U64), SHAPE("name", TEXT), SHAPE("clock", U64, NULLABLE),
		SHAPE("kernel_id", U64, NULLABLE), SHAPE("workgroup", I64, NULLABLE),
		SHAPE("begin_cycles", I64), SHAPE("end_cycles", I64),
		SHAPE("slices", LIST, .of = slices), SHAPE("states", LIST, .of = states),
		SHAPE("waits", LIST, .of = &pair_shape),
		SHAPE(NULL, U64)); /* its coordinates: se, simd, slot; core, unit, pipe; ... */
}

static const struct record *code_shape(struct export_schema_maker *m)
{
	const struct record *frames = ROW(&table_frames), *totals = PLAIN(&table_totals),
			    *samples = OBJECT(&table_samples,
				    SHAPE("reasons", LIST, .of = &number_shape),
				    SHAPE("not_issued", LIST, .of = &number_shape, OPTIONAL));

	return OBJECT(&table_code, SHAPE("frames", LIST, .of = frames),
		SHAPE("stated", RECORD, .of = totals, OPTIONAL),
		SHAPE("samples", RECORD, .of = samples, OPTIONAL));
}

static const struct record *trace_shape(struct export_schema_maker *m)
{
	const struct record *launch = PLAIN(&table_launch), *machine = PLAIN(&table_machine);
	const struct record *meta = OBJECT(&table_meta, SHAPE("launch", RECORD, .of = launch),
		SHAPE("machine", RECORD, .of = machine));
	const struct record *sources = OBJECT(&table_sources, SHAPE("text", TEXT, NULLABLE));
	const struct record *clocks = OBJECT(&table_clocks, SAMPLES(&times_shape));
	const struct record *counters = OBJECT(&table_counters, SAMPLES(&pair_shape));
	const struct record *series = OBJECT(&table_series, SAMPLES(&pair_shape));
	const struct column value[] = {SHAPE("", U64), SHAPE("", F64)};
	const struct record *metrics = OBJECT(&table_metrics,
		SHAPE("values", LIST,
			.of = export_schema_shape_of(m, NULL, RECORD_TUPLE, value, 2)));

	return OBJECT(NULL, SHAPE("schema", TEXT, .words = "incore.trace/1"), SHAPE("incore", TEXT),
		SHAPE("meta", RECORD, .of = meta), SHAPE("origin_cycles", I64),
		SHAPE("code", LIST, .of = code_shape(m)), SHAPE("sources", LIST, .of = sources),
		SHAPE("clocks", LIST, .of = clocks),
		SHAPE("occupancy_columns", LIST, .of = &text_shape),
		SHAPE("occupancy", LIST, .of = ROW(&table_occupancy)),
		SHAPE("kernels", LIST, .of = PLAIN(&table_kernel_names)),
		SHAPE("dispatch_events", LIST, .of = PLAIN(&table_dispatch_events)),
		SHAPE("counters", LIST, .of = counters),
		SHAPE("markers", LIST, .of = ROW(&table_markers)),
		SHAPE("other_issues", LIST, .of = ROW(&table_other_issues)),
		SHAPE("stated_series", LIST, .of = series),
		SHAPE("links", LIST, .of = ROW(&table_links)),
		SHAPE("sampling", RECORD, .of = PLAIN(&table_sampling), OPTIONAL),
		SHAPE("stall_reasons", LIST, .of = &text_shape, OPTIONAL),
		SHAPE("metrics", LIST, .of = metrics, OPTIONAL),
		SHAPE("code_links", LIST, .of = PLAIN(&table_code_links), OPTIONAL),
		SHAPE("columns", RECORD, .of = &names_shape),
		SHAPE("tracks", LIST, .of = track_shape(m)),
		SHAPE("notes", LIST, .of = PLAIN(&table_notes)),
		SHAPE("left_out", LIST, .of = &cut_shape));
}

void export_json_schema(struct json_writer *w)
{
	struct export_schema_maker m = {0};

	json_w_object(w);
	json_w_kv_cstr(w, "$schema", "http://json-schema.org/draft-07/schema#");
	json_w_kv_cstr(w, "title", "incore export --to json");
	json_w_kv_cstr(w, "description", "see incore-json(7)");
	record_schema_members(trace_shape(&m), w);
	json_w_end(w);
}
