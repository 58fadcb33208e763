/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.c: the JSON export as an input format: its tables, the lists that belong to them, and other
 * members.
 *
 * Parts: values and rows; tracks; the document, and the format.
 */
#include <math.h>

#include "base/map.h"
#include "base/search.h"
#include "base/vec.h"
#include "codec/json_reader.h"
#include "import/capture_cache.h"
#include "import/import.h"
#include "trace/field_list.h"

/*
 * Reads the JSON export (schema incore.trace/1), see incore-json(7). Tables are read with the same
 * list of fields that wrote them; the slices of a track are read on demand from the mapped file, at
 * the remembered place. Failures latch in the JSON reader. Data goes to the trace's arena.
 */

struct doc { /* trace.loader_ctx, in the trace's arena */
	struct file_data file;
	const char *path;
	int64_t origin_cyc;
	const struct doc_track *tracks;
};

struct doc_samples {
	struct code_samples sums;
	size_t first[2], n[2]; /* range in reading.counts: [0] all, [1] not issued */
};

struct json_reading {
	struct json_reader r;
	struct trace *t;
	struct doc *doc;
	unsigned want; /* enum import_want */
	VEC(struct frame) frames;
	VEC(struct doc_samples) samples; /* of the code rows that have samples */
	VEC(uint64_t) counts;		 /* of their stall reasons */
};

/* Reads the value of a member that is not a field of the table; false: unknown member. */
typedef bool (*more_fn)(struct json_reading *x, struct str key, void *row);

/* Tables that only this format has. */
#define CELL(s, member, kind, shown)                                                               \
	{                                                                                          \
		.name = shown, .offset = offsetof(struct s, member),                               \
		.size = sizeof(((struct s *)0)->member), .type = FIELD_##kind                      \
	}
#define CELLS(s, list)                                                                             \
	{                                                                                          \
		.fields = list, .n_fields = sizeof(list) / sizeof(struct field),                   \
		.row_size = sizeof(struct s)                                                       \
	}

/* --- values and rows -------------------------------------------------------------------------- */

/* Reads values and rows of the document by the list of fields. */

#define MAX_CYC (INT64_MAX / 8)

static bool doc_no_memory(struct json_reader *r)
{
	return json_reject(r, "no-memory", "out of memory");
}

/* Is the next value null? Then skips it. */
static bool doc_is_null(struct json_reader *r)
{
	return json_peek(r) == JSON_NULL && json_get_null(r);
}

static bool is_too_long(const struct field *d, uint64_t cyc)
{
	return cyc > MAX_CYC && d->name && str_ends(str_of(d->name), "_cycles");
}

static void read_uint(struct json_reader *r, const struct field *d, void *p)
{
	size_t width = field_width(d);
	uint64_t v;

	if (!json_get_u64(r, &v))
		return;
	if ((width < sizeof(v) && v >> 8 * width) || is_too_long(d, v))
		json_reject(r, "out-of-range", "%s is too large", d->name);
	else
		memcpy(p, &v, width);
}

/* Reads a number; fields named "..._cycles" are limited so that sums cannot overflow. */
static void doc_read_int(struct json_reader *r, const struct field *d, int64_t *p)
{
	if (json_get_i64(r, p) && is_too_long(d, *p < 0 ? 0 - (uint64_t)*p : (uint64_t)*p))
		json_reject(r, "out-of-range", "%s is too large", d->name);
}

/* Moves to the next item of an array, which must exist. */
static bool next_cell(struct json_reader *r)
{
	return json_next_item(r) || json_reject(r, NULL, "too few values");
}

static void end_cells(struct json_reader *r)
{
	if (json_next_item(r))
		json_reject(r, NULL, "too many values");
}

static void read_ratio(struct json_reader *r, uint64_t v[2])
{
	json_enter_array(r);
	for (int i = 0; i < 2 && next_cell(r); i++)
		json_get_u64(r, &v[i]);
	end_cells(r);
}

static void doc_read_text(struct json_reader *r, struct arena *a, const char **p, size_t *n)
{
	struct str s;

	if (!json_get_str(r, &s))
		return;
	*p = arena_strndup(a, s.n ? s.p : "", s.n);
	*n = s.n;
	if (!*p)
		doc_no_memory(r);
	else if (s.n > UINT32_MAX)
		json_reject(r, "out-of-range", "text too long");
}

static void read_sized_text(struct json_reader *r, struct arena *a, const char **p)
{
	size_t n = 0;
	uint32_t n32;

	doc_read_text(r, a, p, &n);
	n32 = (uint32_t)n;
	memcpy(p + 1, &n32, sizeof(n32));
}

static void read_class(struct json_reader *r, uint8_t *out)
{
	struct str s;

	if (!json_get_str(r, &s))
		return;
	for (unsigned i = 0; i < CLASS_COUNT; i++)
		if (str_is(s, class_name((enum inst_class)i))) {
			*out = (uint8_t)i;
			return;
		}
	json_reject(r, NULL, "unknown class");
}

static void read_word(struct json_reader *r, const struct field *d, uint32_t *out)
{
	struct str s;

	if (!json_get_str(r, &s))
		return;
	for (uint32_t i = 0; d->words[i]; i++)
		if (str_is(s, d->words[i])) {
			*out = i;
			return;
		}
	json_reject(r, NULL, "unknown %s", d->name);
}

/* Sets the value used if the document has null, or no member. */
static void set_none(const struct field *d, void *p)
{
	memset(p, 0, field_width(d));
	if (d->type == FIELD_VALUE)
		*(int64_t *)p = NO_VALUE;
	else if (d->type == FIELD_INDEX || d->type == FIELD_CLOCK || d->type == FIELD_SOURCE)
		*(uint32_t *)p = UINT32_MAX;
}

static bool may_be_null(const struct field *d)
{
	return d->type == FIELD_VALUE || d->type == FIELD_INDEX || d->type == FIELD_CLOCK ||
	       d->type == FIELD_SOURCE || d->type == FIELD_STR || d->type == FIELD_RATIO;
}

static void json_trace_read_value(
	struct json_reader *r, struct arena *a, const struct field *d, void *p)
{
	size_t n;

	if (may_be_null(d) && doc_is_null(r)) {
		set_none(d, p);
		return;
	}
	switch ((enum field_type)d->type) {
	case FIELD_U8:
	case FIELD_U16:
	case FIELD_U32:
	case FIELD_U64:
	case FIELD_INDEX:
	case FIELD_CLOCK:
	case FIELD_SOURCE:
		read_uint(r, d, p);
		break;
	case FIELD_RATIO:
		read_ratio(r, p);
		break;
	case FIELD_I64:
	case FIELD_VALUE:
		doc_read_int(r, d, p);
		break;
	case FIELD_BOOL:
		json_get_bool(r, p);
		break;
	case FIELD_STR:
		doc_read_text(r, a, p, &n);
		break;
	case FIELD_TEXT:
		read_sized_text(r, a, p);
		break;
	case FIELD_CLASS:
		read_class(r, p);
		break;
	case FIELD_ENUM:
		read_word(r, d, p);
		break;
	}
}

/* Reads a field; one with several values is an array. */
static void read_field(struct json_reader *r, struct arena *a, const struct field *d, void *row)
{
	char *p = (char *)row + d->offset;
	size_t width = field_width(d);

	if (d->size == width) {
		json_trace_read_value(r, a, d, p);
		return;
	}
	json_enter_array(r);
	for (size_t i = 0; i < d->size && next_cell(r); i += width)
		json_trace_read_value(r, a, d, p + i);
	end_cells(r);
}

/* Sets all fields of a row to their absent values. */
static void doc_clear_row(const struct field_table *d, void *row)
{
	memset(row, 0, d->row_size);
	for (uint32_t i = 0; i < d->n_fields; i++)
		for (size_t k = 0; k < d->fields[i].size; k += field_width(&d->fields[i]))
			set_none(&d->fields[i], (char *)row + d->fields[i].offset + k);
}

/* Reads a row that is an array of its fields; a is NULL for a table without text. */
static void doc_read_cells(
	struct json_reader *r, struct arena *a, const struct field_table *d, void *row)
{
	json_enter_array(r);
	for (uint32_t i = 0; i < d->n_fields; i++) {
		const struct field *x = field_at(d, FORMAT_JSON, i);

		if (x->name && next_cell(r))
			read_field(r, a, x, row);
	}
	end_cells(r);
}

/* Reads a row that is an object; more may be NULL. */
static void doc_read_members(
	struct json_reading *x, const struct field_table *d, more_fn more, void *row)
{
	struct str key;

	for (json_enter_object(&x->r); json_next_key(&x->r, &key);) {
		uint32_t i = 0;

		while (i < d->n_fields && !(d->fields[i].name && str_is(key, d->fields[i].name)))
			i++;
		if (i < d->n_fields)
			read_field(&x->r, &x->t->arena, &d->fields[i], row);
		else if (!more || !more(x, key, row))
			json_skip(&x->r);
	}
}

/* Reads an array of rows into the arena; NULL: no rows, or the reader has failed. */
static void *doc_read_rows(
	struct json_reading *x, const struct field_table *d, more_fn more, uint32_t *n)
{
	VEC(char) v = {0};
	size_t count = 0;
	void *rows = NULL;

	for (json_enter_array(&x->r); json_next_item(&x->r); count++) {
		char *row;

		if (count >= UINT32_MAX - 1 || !VEC_RESERVE(&v, (count + 1) * d->row_size) ||
			!v.v) {
			doc_no_memory(&x->r);
			break;
		}
		row = v.v + count * d->row_size;
		doc_clear_row(d, row);
		if (json_peek(&x->r) == JSON_ARRAY)
			doc_read_cells(&x->r, &x->t->arena, d, row);
		else
			doc_read_members(x, d, more, row);
	}
	if (!x->r.is_failed && count) {
		rows = arena_memdup(&x->t->arena, v.v, count * d->row_size);
		if (!rows)
			doc_no_memory(&x->r);
	}
	*n = rows ? (uint32_t)count : 0;
	VEC_FREE(&v);
	return rows;
}

/* --- tracks ----------------------------------------------------------------------------------- */

/*
 * The tracks of the document. Their content is read on demand: only its place in the file is kept.
 */

struct doc_track { /* a track of the document */
	struct track k;
	uint32_t index;		       /* in the trace that was exported */
	int64_t begin_cyc, end_cyc;    /* aligned, from the origin of the document */
	uint64_t slices_at, states_at; /* byte offsets of the arrays; 0: absent */
	uint32_t n_states;
};

static const struct field track_fields[] = {
	CELL(doc_track, index, U32, "index"),
	CELL(doc_track, k.name, STR, "name"),
	CELL(doc_track, k.clock, CLOCK, "clock"),
	CELL(doc_track, k.kernel_id, INDEX, "kernel_id"),
	CELL(doc_track, k.workgroup, VALUE, "workgroup"),
	CELL(doc_track, begin_cyc, I64, "begin_cycles"),
	CELL(doc_track, end_cyc, I64, "end_cycles"),
};
static const struct field_table table_doc_tracks = CELLS(doc_track, track_fields);

/* Remembers where an array starts, and counts its rows. */
static void pass_rows(struct json_reading *x, uint64_t *at, uint32_t *n)
{
	*n = 0;
	if (json_peek(&x->r) == JSON_ARRAY)
		*at = json_offset(&x->r);
	for (json_enter_array(&x->r); json_next_item(&x->r); *n += 1)
		if (json_skip(&x->r) && *n == UINT32_MAX / 2)
			json_reject(&x->r, "out-of-range", "too many rows");
}

/* The number of a track on a level; the first track names the levels. */
static bool json_trace_read_level(struct json_reading *x, struct str key, struct doc_track *row)
{
	const char **levels = x->t->levels;
	int i = 0;

	if (row->k.name || json_peek(&x->r) != JSON_NUMBER)
		return false;
	while (i < TRACK_LEVELS && levels[i] && !str_is(key, levels[i]))
		i++;
	if (i == TRACK_LEVELS)
		return json_reject(&x->r, NULL, "a track has more than %d levels", TRACK_LEVELS);
	if (!levels[i])
		levels[i] = arena_strndup(&x->t->arena, key.p, key.n);
	return json_get_u32(&x->r, &row->k.coord[i]) && (levels[i] || doc_no_memory(&x->r));
}

static bool more_of_track(struct json_reading *x, struct str key, void *p)
{
	struct doc_track *row = p;

	if (str_is(key, "slices"))
		pass_rows(x, &row->slices_at, &row->k.n_slices);
	else if (str_is(key, "states"))
		pass_rows(x, &row->states_at, &row->n_states);
	else
		return json_trace_read_level(x, key, row);
	return true;
}

static void doc_read_tracks(struct json_reading *x)
{
	x->doc->tracks = doc_read_rows(x, &table_doc_tracks, more_of_track, &x->t->n_tracks);
}

/* Converts a time of the document to its clock domain; negative: no such time. */
static int64_t json_trace_cycles_of(const struct trace *t, clock_idx clock, int64_t at)
{
	const struct doc *doc = t->loader_ctx;

	return at + doc->origin_cyc - (clock < t->n_clocks ? t->clocks[clock].offset_cyc : 0);
}

static bool place_tracks(struct json_reading *x, struct incore_error *e)
{
	struct trace *t = x->t;

	t->tracks = arena_zalloc(&t->arena, (size_t)t->n_tracks + 1, sizeof(*t->tracks));
	if (!t->tracks)
		return err_nomem(e);
	for (uint32_t i = 0; i < t->n_tracks; i++) {
		const struct doc_track *d = &x->doc->tracks[i];
		struct track *k = &t->tracks[i];

		*k = d->k;
		k->begin_cyc = (uint64_t)json_trace_cycles_of(t, k->clock, d->begin_cyc);
		k->end_cyc = (uint64_t)json_trace_cycles_of(t, k->clock, d->end_cyc);
		if (json_trace_cycles_of(t, k->clock, d->begin_cyc) < 0 ||
			k->begin_cyc > k->end_cyc)
			return err_file(e, "bad-value", x->doc->path, d->slices_at,
				"track %u: its clock has no such time", i);
		if (i && d->index <= d[-1].index)
			return err_file(e, "bad-value", x->doc->path, d->slices_at,
				"track %u: index %u is not above the one before", i, d->index);
	}
	return true;
}

static track_idx track_of_index(const struct trace *t, const struct doc *doc, uint32_t index)
{
	uint32_t lo = 0, hi = t->n_tracks;

	BISECT(lo, hi, i, doc->tracks[i].index < index);
	return lo < t->n_tracks && doc->tracks[lo].index == index ? lo : NO_TRACK;
}

/* If only some tracks were exported, the links between others are left out. */
static bool place_links(struct trace *t, const struct doc *doc)
{
	uint32_t n = 0, n_all = t->n_links;

	for (uint32_t i = 0; i < n_all; i++) {
		struct link k = t->links[i];

		k.from_track = track_of_index(t, doc, k.from_track);
		k.to_track = track_of_index(t, doc, k.to_track);
		if (k.from_track != NO_TRACK && k.to_track != NO_TRACK &&
			k.from_slice < t->tracks[k.from_track].n_slices &&
			k.to_slice < t->tracks[k.to_track].n_slices)
			t->links[n++] = k;
	}
	t->n_links = n;
	return n == n_all || trace_note(t, "links-left-out", doc->path, INCORE_NO_OFFSET, n_all - n,
				     "links to slices that the document does not hold");
}

/* --- content of a track --- */

static const struct field slice_fields[] = {
	CELL(track_slice, start, I64, "start_cycles"),
	CELL(track_slice, dur, U32, "duration_cycles"),
	CELL(track_slice, stall, U32, "stall_cycles"),
	CELL(track_slice, code, INDEX, "code"),
	CELL(track_slice, inst_class, CLASS, "class"),
	CELL(track_slice, tag, U8, "category"),
};
static const struct field_table table_slices = CELLS(track_slice, slice_fields);

struct state_row {
	int64_t start_cyc;
	uint32_t dur_cyc, state;
};
static const struct field state_fields[] = {
	CELL(state_row, start_cyc, I64, "start_cycles"),
	CELL(state_row, dur_cyc, U32, "duration_cycles"),
	{.name = "state",
		.words = state_words,
		.offset = offsetof(struct state_row, state),
		.size = sizeof(uint32_t),
		.type = FIELD_ENUM},
};
static const struct field_table table_states = CELLS(state_row, state_fields);

static void json_trace_add_slice(struct json_reader *r, const struct trace *t,
	const struct track_slice *s, struct track_data *d)
{
	if (s->start > INT64_MAX || s->stall > s->dur ||
		(s->code >= t->n_code && s->code != NO_CODE) ||
		(d->n && d->start_cyc[d->n - 1] > s->start))
		json_reject(r, NULL, "slice %u: its time, stall or code is out of range", d->n);
	else
		track_data_put(d, s);
}

static void add_state(struct track_data *d, uint32_t state, uint64_t dur_cyc)
{
	d->state[d->n_states] = (uint8_t)state;
	d->state_dur_cyc[d->n_states++] = (uint32_t)dur_cyc;
}

static void load_slice(
	struct json_reader *r, const struct trace *t, track_idx i, struct track_data *d)
{
	struct track_slice row;

	doc_clear_row(&table_slices, &row);
	doc_read_cells(r, NULL, &table_slices, &row);
	row.start = (uint64_t)json_trace_cycles_of(t, t->tracks[i].clock, (int64_t)row.start);
	if (!r->is_failed)
		json_trace_add_slice(r, t, &row, d);
}

/* If an export of a window has no state, an empty one is used. */
static void load_state(struct json_reader *r, const struct trace *t, track_idx i, uint64_t *at,
	struct track_data *d)
{
	struct state_row row;
	int64_t start;

	doc_clear_row(&table_states, &row);
	doc_read_cells(r, NULL, &table_states, &row);
	start = json_trace_cycles_of(t, t->tracks[i].clock, row.start_cyc);
	if (start < (int64_t)*at || start - (int64_t)*at > UINT32_MAX)
		json_reject(r, NULL, "a state does not follow the one before");
	if (r->is_failed)
		return;
	if ((uint64_t)start > *at)
		add_state(d, STATE_EMPTY, (uint64_t)start - *at);
	add_state(d, row.state, row.dur_cyc);
	*at = (uint64_t)start + row.dur_cyc;
}

static bool json_trace_load(const struct trace *t, track_idx i, unsigned want, struct track_data *d,
	struct incore_error *e)
{
	const struct doc *doc = t->loader_ctx;
	const struct doc_track *k = &doc->tracks[i];
	uint64_t at = t->tracks[i].begin_cyc;
	struct json_reader r;
	bool ok;

	if (!track_data_reserve(d, k->k.n_slices) || !track_data_reserve_states(d, 2 * k->n_states))
		return err_nomem(e);
	d->stated_slices = k->k.n_slices;
	json_init(&r, doc->file.data, doc->file.size, doc->path, 0);
	if (k->slices_at && !(want & TRACK_NO_SLICES)) {
		r.p = r.start + k->slices_at;
		json_enter_array(&r);
		while (d->n < k->k.n_slices && json_next_item(&r))
			load_slice(&r, t, i, d);
	}
	if (k->states_at && want & TRACK_STATES && !r.is_failed) {
		r.p = r.start + k->states_at;
		r.need_comma = false;
		json_enter_array(&r);
		for (uint32_t n = 0; n < k->n_states && json_next_item(&r); n++)
			load_state(&r, t, i, &at, d);
	}
	ok = !r.is_failed || json_fail(&r, e);
	json_deinit(&r);
	return ok;
}

/* To be called at the end: sets times and links of the tracks, and the loader. */
static bool doc_finish_tracks(struct json_reading *x, struct incore_error *e)
{
	x->t->loader.load = json_trace_load;
	return place_tracks(x, e) && (place_links(x->t, x->doc) ? true : err_nomem(e));
}

/* --- the document, and the format ------------------------------------------------------------- */

#define SCHEMA "incore.trace/1"

struct code_pair { /* a sample of a clock or of a series */
	int64_t a, b;
};
static const struct field times_fields[] = {
	CELL(code_pair, a, I64, "first_cycles"), CELL(code_pair, b, I64, "second_cycles")};
static const struct field_table times = CELLS(code_pair, times_fields);
static const struct field points_fields[] = {
	CELL(code_pair, a, U64, "time_cycles"), CELL(code_pair, b, U64, "value")};
static const struct field_table points = CELLS(code_pair, points_fields);

static bool more_of_clock(struct json_reading *x, struct str key, void *row)
{
	struct clock_domain *c = row;

	if (!str_is(key, "samples"))
		return false;
	c->samples = doc_read_rows(x, &times, NULL, &c->n_samples);
	return true;
}

/* Reads the two columns of a series; values have `size` bytes each. */
static bool json_trace_read_points(
	struct json_reading *x, const uint64_t **at, size_t size, void *values, uint32_t *n)
{
	const struct code_pair *v = doc_read_rows(x, &points, NULL, n);
	uint64_t *time = arena_zalloc(&x->t->arena, (size_t)*n + 1, sizeof(*time));
	char *value = arena_zalloc(&x->t->arena, (size_t)*n + 1, size);

	if (!time || !value)
		return doc_no_memory(&x->r);
	for (uint32_t i = 0; i < *n; i++) {
		time[i] = (uint64_t)v[i].a;
		if (size < sizeof(v->b) && (uint64_t)v[i].b > UINT32_MAX)
			json_reject(&x->r, "out-of-range", "a number of waves is too large");
		memcpy(value + i * size, &v[i].b, size);
	}
	*at = time;
	memcpy(values, &value, sizeof(value));
	return true;
}

static bool more_of_counter(struct json_reading *x, struct str key, void *row)
{
	struct counter_series *c = row;

	if (!str_is(key, "samples"))
		return false;
	json_trace_read_points(x, &c->time_cyc, sizeof(*c->value), &c->value, &c->n);
	return true;
}

static bool more_of_series(struct json_reading *x, struct str key, void *row)
{
	struct stated_series *s = row;

	if (!str_is(key, "samples"))
		return false;
	json_trace_read_points(x, &s->time_cyc, sizeof(*s->count), &s->count, &s->n);
	return true;
}

static bool more_of_source(struct json_reading *x, struct str key, void *row)
{
	struct source_file *s = row;

	if (!str_is(key, "text") || !(x->want & IMPORT_SOURCES))
		return false;
	if (!doc_is_null(&x->r))
		doc_read_text(&x->r, &x->t->arena, &s->text, &s->text_len);
	return true;
}

/* --- code --- */

static void read_frames(struct json_reading *x, struct code_row *row)
{
	struct frame f;

	row->first_frame = (uint32_t)x->frames.n;
	row->n_frames = 0;
	for (json_enter_array(&x->r); json_next_item(&x->r); row->n_frames++) {
		doc_clear_row(&table_frames, &f);
		doc_read_cells(&x->r, NULL, &table_frames, &f);
		if (row->n_frames == UINT16_MAX || x->frames.n >= UINT32_MAX)
			json_reject(&x->r, "out-of-range", "too many frames");
		else if (!VEC_PUSH(&x->frames, f))
			doc_no_memory(&x->r);
	}
}

static bool more_of_samples(struct json_reading *x, struct str key, void *row)
{
	struct doc_samples *s = row;
	unsigned k = str_is(key, "not_issued");
	uint64_t v;

	if (!k && !str_is(key, table_reason_counts.name))
		return false;
	s->first[k] = x->counts.n;
	for (json_enter_array(&x->r); json_next_item(&x->r) && json_get_u64(&x->r, &v);)
		if (!VEC_PUSH(&x->counts, v))
			doc_no_memory(&x->r);
	s->n[k] = x->counts.n - s->first[k];
	return true;
}

/* Until finish_code(), row->opcode is the index + 1 of the row's samples. */
static bool more_of_code(struct json_reading *x, struct str key, void *row)
{
	struct code_row *c = row;
	struct doc_samples s = {0};

	if (str_is(key, table_frames.name)) {
		read_frames(x, c);
	} else if (str_is(key, table_totals.name)) {
		x->t->has_stated_totals = true;
		doc_read_members(x, &table_totals, NULL, c);
	} else if (str_is(key, table_samples.name)) {
		doc_read_members(x, &table_samples, more_of_samples, &s);
		if (!VEC_PUSH(&x->samples, s))
			doc_no_memory(&x->r);
		c->opcode = (uint32_t)x->samples.n;
	} else {
		return false;
	}
	return true;
}

static struct str json_trace_first_word(struct str s, const char *ends)
{
	size_t n = 0;

	while (n < s.n && !strchr(ends, s.p[n]))
		n++;
	return str_sub(s, 0, n);
}

/* The mnemonic; NVIDIA's is preceded by a guard ("@!P0") and followed by a point and its
 * variant. */
static struct str json_trace_opcode_of(const struct trace *t, const struct code_row *row)
{
	struct str s = str_trim((struct str){row->text, row->text_len});

	if (t->meta.vendor != VENDOR_NVIDIA)
		return json_trace_first_word(s, " \t");
	if (s.n && s.p[0] == '@')
		s = str_trim(str_sub(s, json_trace_first_word(s, " ").n, s.n));
	return json_trace_first_word(s, " .");
}

/* Fills in the opcodes, which the document has only in the texts. */
static bool json_trace_name_opcodes(struct trace *t)
{
	struct intern words;
	bool ok = true;

	intern_init(&words);
	for (uint32_t i = 0; ok && i < t->n_code; i++) {
		t->code[i].opcode = intern_add(&words, json_trace_opcode_of(t, &t->code[i]));
		ok = t->code[i].opcode != INTERN_NONE;
	}
	t->opcodes = arena_zalloc(&t->arena, (size_t)words.n + 1, sizeof(*t->opcodes));
	ok = ok && t->opcodes;
	for (uint32_t i = 0; ok && i < words.n; i++) {
		t->opcodes[i] = arena_strndup(&t->arena, words.strs[i].p, words.strs[i].n);
		ok = t->opcodes[i] != NULL;
	}
	t->n_opcodes = ok ? words.n : 0;
	intern_deinit(&words);
	return ok;
}

static void json_trace_take_samples(struct json_reading *x, code_idx i, const struct doc_samples *s)
{
	struct trace *t = x->t;
	struct reason_count *to = &t->reason_counts[(size_t)i * t->n_reasons];

	t->samples[i] = s->sums;
	for (uint32_t k = 0; k < t->n_reasons; k++) {
		to[k].all = k < s->n[0] ? x->counts.v[s->first[0] + k] : 0;
		to[k].not_issued = k < s->n[1] ? x->counts.v[s->first[1] + k] : 0;
	}
}

/* If reasons have no names, they are AMD's. */
static bool json_trace_make_samples(struct trace *t)
{
	return t->reasons ? trace_make_samples(t, t->reasons, t->n_reasons)
			  : trace_make_samples(t, amd_stall_reasons, AMD_STALL_REASONS);
}

static bool finish_code(struct json_reading *x)
{
	struct trace *t = x->t;

	t->n_frames = (uint32_t)x->frames.n;
	t->frames = arena_memdup(&t->arena, x->frames.v, x->frames.n * sizeof(*t->frames));
	if ((t->n_frames && !t->frames) || (x->samples.n && !json_trace_make_samples(t)))
		return false;
	for (uint32_t i = 0; t->samples && i < t->n_code; i++)
		if (t->code[i].opcode)
			json_trace_take_samples(x, i, &x->samples.v[t->code[i].opcode - 1]);
	return json_trace_name_opcodes(t);
}

/* --- the document --- */

static void json_trace_read_schema(struct json_reading *x)
{
	struct str s;

	if (json_get_str(&x->r, &s) && !str_is(s, SCHEMA))
		json_reject(&x->r, "bad-schema", "expected the schema %s", SCHEMA);
}

static bool more_of_meta(struct json_reading *x, struct str key, void *row)
{
	struct trace_meta *m = row;

	if (str_is(key, table_launch.name))
		doc_read_members(x, &table_launch, NULL, &m->launch);
	else if (str_is(key, table_machine.name))
		doc_read_members(x, &table_machine, NULL, &m->machine);
	else
		return false;
	return true;
}

static void json_trace_read_meta(struct json_reading *x)
{
	doc_read_members(x, &table_meta, more_of_meta, &x->t->meta);
}

static void read_origin(struct json_reading *x)
{
	static const struct field f = {.name = "origin_cycles", .type = FIELD_I64};

	doc_read_int(&x->r, &f, &x->doc->origin_cyc);
}

static void add_note(
	struct json_reading *x, const struct note *n, const char *code, const char *message)
{
	if (!code || !message)
		json_reject(&x->r, NULL, "a note has no text");
	else if (!trace_note_as(
			 x->t, n->kind, code, n->path, INCORE_NO_OFFSET, n->count, "%s", message))
		doc_no_memory(&x->r);
}

static void read_notes(struct json_reading *x)
{
	uint32_t n;
	const struct note *v = doc_read_rows(x, &table_notes, NULL, &n);

	for (uint32_t i = 0; i < n; i++)
		add_note(x, &v[i], v[i].code, v[i].message);
}

static const struct field cut_fields[] = {
	CELL(note, code, STR, "what"),
	CELL(note, message, STR, "why"),
	CELL(note, count, U64, "count"),
};
static const struct field_table table_cuts = CELLS(note, cut_fields);

static void read_left_out(struct json_reading *x)
{
	uint32_t n;
	const struct note *v = doc_read_rows(x, &table_cuts, NULL, &n);

	for (uint32_t i = 0; i < n; i++)
		add_note(x, &v[i], "left-out", v[i].code);
}

static void read_sampling(struct json_reading *x)
{
	doc_read_members(x, &table_sampling, NULL, &x->t->sampling);
}

static void json_trace_read_reasons(struct json_reading *x)
{
	VEC(const char *) names = {0};
	const char *name = "";
	size_t n;

	for (json_enter_array(&x->r); json_next_item(&x->r);) {
		doc_read_text(&x->r, &x->t->arena, &name, &n);
		if (!x->r.is_failed && !VEC_PUSH(&names, name))
			doc_no_memory(&x->r);
	}
	x->t->n_reasons = (uint32_t)names.n;
	x->t->reasons = arena_memdup(&x->t->arena, names.v, names.n * sizeof(*names.v));
	if (names.n && !x->t->reasons)
		doc_no_memory(&x->r);
	VEC_FREE(&names);
}

struct metric_cell {
	code_idx row;
	uint64_t value;
};

/* A value that is not finite is written as null. */
static bool read_metric_value(struct json_reader *r, bool is_real, uint64_t *out)
{
	double real = NAN;

	if (!is_real)
		return json_get_u64(r, out);
	if (!doc_is_null(r) && !json_get_double(r, &real))
		return false;
	memcpy(out, &real, sizeof(real));
	return true;
}

/* A list of [row, value]. */
static bool more_of_metric(struct json_reading *x, struct str key, void *row)
{
	struct code_metric *m = row;
	VEC(struct metric_cell) cells = {0};
	code_idx *rows;
	uint64_t *values;

	if (!str_is(key, "values"))
		return false;
	for (json_enter_array(&x->r); json_next_item(&x->r);) {
		struct metric_cell c = {0};
		uint64_t at = 0;

		json_enter_array(&x->r);
		if (!json_next_item(&x->r) || !json_get_u64(&x->r, &at) || !json_next_item(&x->r) ||
			!read_metric_value(&x->r, m->is_real, &c.value) || json_next_item(&x->r) ||
			at > UINT32_MAX) {
			json_reject(&x->r, NULL, "expected a value of a metric as [row, number]");
			break;
		}
		c.row = (code_idx)at;
		if (!VEC_PUSH(&cells, c))
			doc_no_memory(&x->r);
	}
	rows = arena_zalloc(&x->t->arena, cells.n + 1, sizeof(*rows));
	values = arena_zalloc(&x->t->arena, cells.n + 1, sizeof(*values));
	if (!rows || !values)
		doc_no_memory(&x->r);
	for (size_t i = 0; rows && values && i < cells.n; i++) {
		rows[i] = cells.v[i].row;
		values[i] = cells.v[i].value;
	}
	m->n = rows && values ? (uint32_t)cells.n : 0;
	m->row = rows;
	m->value = values;
	VEC_FREE(&cells);
	return true;
}

static const struct part {
	const char *name;		 /* if there is no table */
	const struct field_table *table; /* of the trace */
	unsigned want;			 /* enum import_want; 0: always read */
	more_fn more;			 /* members that are not fields of the table; or NULL */
	void (*read)(struct json_reading *x); /* not a table of the trace */
} parts[] = {
	{"schema", .read = json_trace_read_schema},
	{"meta", .read = json_trace_read_meta},
	{"origin_cycles", .read = read_origin},
	{.table = &table_code, .more = more_of_code},
	{.table = &table_sources, .more = more_of_source},
	{.table = &table_clocks, .more = more_of_clock},
	{.table = &table_occupancy, .want = IMPORT_OCCUPANCY},
	{.table = &table_kernel_names},
	{.table = &table_dispatch_events},
	{.table = &table_counters, .want = IMPORT_COUNTERS, .more = more_of_counter},
	{.table = &table_markers, .want = IMPORT_COUNTERS},
	{.table = &table_other_issues, .want = IMPORT_COUNTERS},
	{.table = &table_series, .want = IMPORT_STATED_SERIES, .more = more_of_series},
	{.table = &table_links},
	{"sampling", .read = read_sampling},
	{"stall_reasons", .read = json_trace_read_reasons},
	{.table = &table_metrics, .more = more_of_metric},
	{.table = &table_code_links},
	{"tracks", .read = doc_read_tracks},
	{"notes", .read = read_notes},
	{"left_out", .read = read_left_out},
};
#define N_PARTS (sizeof(parts) / sizeof(parts[0]))

static void read_part(struct json_reading *x, const struct part *p)
{
	uint32_t n;
	void *rows;

	if (p->read) {
		p->read(x);
	} else if (p->want & ~x->want) {
		json_skip(&x->r);
	} else {
		rows = doc_read_rows(x, p->table, p->more, &n);
		memcpy((char *)x->t + p->table->array, &rows, sizeof(rows));
		memcpy((char *)x->t + p->table->count, &n, sizeof(n));
	}
}

static bool json_trace_read_document(struct json_reading *x, struct incore_error *e)
{
	uint64_t seen = 0;
	struct str key;

	for (json_enter_object(&x->r); json_next_key(&x->r, &key);) {
		unsigned i = 0;

		while (i < N_PARTS &&
			!str_is(key, parts[i].table ? parts[i].table->name : parts[i].name))
			i++;
		if (i == N_PARTS)
			json_skip(&x->r);
		else if (json_once(&x->r, &seen, i, key))
			read_part(x, &parts[i]);
	}
	if (!json_finish(&x->r, e))
		return false;
	if (!finish_code(x))
		return err_nomem(e);
	return doc_finish_tracks(x, e);
}

static void close_doc(void *ctx)
{
	struct doc *doc = ctx;

	file_unload(&doc->file);
}

static int sniff(const struct probe *p)
{
	static const char *const begin[] = {"{", "\"schema\"", ":", "\"" SCHEMA "\""};
	struct str s = {(const char *)p->head, p->head_size};

	for (size_t i = 0; i < sizeof(begin) / sizeof(begin[0]); i++) {
		while (s.n && strchr(" \t\r\n", s.p[0]))
			s = str_sub(s, 1, s.n);
		if (!str_starts(s, begin[i]))
			return 0;
		s = str_sub(s, strlen(begin[i]), s.n);
	}
	return 100;
}

/* The document is read completely or not at all. */
static void json_trace_look(
	const char *path, struct capture_cache *cache, struct arena *a, struct capture *c)
{
	int64_t n = file_size_in(capture_fence(cache), path);

	(void)a;
	c->is_uncounted = true;
	c->n_bytes = n < 0 ? 0 : (uint64_t)n;
}

static bool read(
	const char *path, const struct import_options *o, struct trace *t, struct incore_error *e)
{
	struct json_reading x = {.t = t, .want = o->want};
	struct doc *doc = arena_zalloc(&t->arena, 1, sizeof(*doc));
	bool ok;

	if (!doc)
		return err_nomem(e);
	x.doc = doc;
	doc->path = t->meta.origin;
	if (!import_load_plain(o, &doc->file, path, e))
		return false;
	t->loader = (struct track_loader){.close = close_doc};
	t->loader_ctx = doc;
	json_init(&x.r, doc->file.data, doc->file.size, doc->path, 0);
	ok = json_trace_read_document(&x, e) &&
	     (trace_seal(t, e) || err_wrap(e, "document %s", path));
	json_deinit(&x.r);
	VEC_FREE(&x.frames);
	VEC_FREE(&x.samples);
	VEC_FREE(&x.counts);
	return ok;
}

/* The document lists earlier losses itself; this adds data for which it has no member. */
static bool json_trace_lost(
	const char *path, const struct import_options *o, struct trace *t, struct incore_error *e)
{
	(void)o;
	for (uint32_t i = 0; i < t->n_notes; i++)
		if (strcmp(t->notes[i].code, "json-export") == 0)
			return true;
	return trace_note(t, "json-export", path, INCORE_NO_OFFSET, 1,
		       "read from a JSON export, which does not hold stated waits, bytes moved, how "
		       "a stall splits, units of counters, clocks of single domains and the "
		       "producer's own tables")
		       ? true
		       : err_nomem(e);
}

static const struct signature json_trace_signs[] = {
	{.begins = "{", .after_blanks = true, .says = "\"" SCHEMA "\""},
	{0},
};

const struct import_ops import_json = {
	.name = "json",
	.summary = "JSON document (incore.trace/1), written by `incore export --to json`",
	.looks_for = "a JSON export (" SCHEMA ")",
	.reads_packed = true,
	.signs = json_trace_signs,
	.sniff = sniff,
	.look = json_trace_look,
	.read = read,
	.lost = json_trace_lost,
};
