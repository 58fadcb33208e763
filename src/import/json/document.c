/* SPDX-License-Identifier: Apache-2.0 */
/* document.c: the JSON export as an input format: its tables, the lists that belong to them, and
 * other members. */
#include "base/map.h"
#include "import/capture_cache.h"
#include "import/json/json.h"

#include <math.h>

#define SCHEMA "incore.trace/1"

struct pair { /* a sample of a clock or of a series */
	int64_t a, b;
};
static const struct field times_fields[] = {
	CELL(pair, a, I64, "first_cycles"), CELL(pair, b, I64, "second_cycles")};
static const struct field_table times = CELLS(pair, times_fields);
static const struct field points_fields[] = {
	CELL(pair, a, U64, "time_cycles"), CELL(pair, b, U64, "value")};
static const struct field_table points = CELLS(pair, points_fields);

static bool more_of_clock(struct reading *x, struct str key, void *row)
{
	struct clock_domain *c = row;

	if (!str_is(key, "samples"))
		return false;
	c->samples = doc_read_rows(x, &times, NULL, &c->n_samples);
	return true;
}

/* Reads the two columns of a series; values have `size` bytes each. */
static bool read_points(
	struct reading *x, const uint64_t **at, size_t size, void *values, uint32_t *n)
{
	const struct pair *v = doc_read_rows(x, &points, NULL, n);
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

static bool more_of_counter(struct reading *x, struct str key, void *row)
{
	struct counter_series *c = row;

	if (!str_is(key, "samples"))
		return false;
	read_points(x, &c->time_cyc, sizeof(*c->value), &c->value, &c->n);
	return true;
}

static bool more_of_series(struct reading *x, struct str key, void *row)
{
	struct stated_series *s = row;

	if (!str_is(key, "samples"))
		return false;
	read_points(x, &s->time_cyc, sizeof(*s->count), &s->count, &s->n);
	return true;
}

static bool more_of_source(struct reading *x, struct str key, void *row)
{
	struct source_file *s = row;

	if (!str_is(key, "text") || !(x->want & IMPORT_SOURCES))
		return false;
	if (!doc_is_null(&x->r))
		doc_read_text(&x->r, &x->t->arena, &s->text, &s->text_len);
	return true;
}

/* --- code --- */

static void read_frames(struct reading *x, struct code_row *row)
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

static bool more_of_samples(struct reading *x, struct str key, void *row)
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
static bool more_of_code(struct reading *x, struct str key, void *row)
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

static struct str first_word(struct str s, const char *ends)
{
	size_t n = 0;

	while (n < s.n && !strchr(ends, s.p[n]))
		n++;
	return str_sub(s, 0, n);
}

/* The mnemonic; NVIDIA's is preceded by a guard ("@!P0") and followed by a point and its
 * variant. */
static struct str opcode_of(const struct trace *t, const struct code_row *row)
{
	struct str s = str_trim((struct str){row->text, row->text_len});

	if (t->meta.vendor != VENDOR_NVIDIA)
		return first_word(s, " \t");
	if (s.n && s.p[0] == '@')
		s = str_trim(str_sub(s, first_word(s, " ").n, s.n));
	return first_word(s, " .");
}

/* Fills in the opcodes, which the document has only in the texts. */
static bool name_opcodes(struct trace *t)
{
	struct intern words;
	bool ok = true;

	intern_init(&words);
	for (uint32_t i = 0; ok && i < t->n_code; i++) {
		t->code[i].opcode = intern_add(&words, opcode_of(t, &t->code[i]));
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

static void take_samples(struct reading *x, code_idx i, const struct doc_samples *s)
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
static bool make_samples(struct trace *t)
{
	return t->reasons ? trace_make_samples(t, t->reasons, t->n_reasons)
			  : trace_make_samples(t, amd_stall_reasons, AMD_STALL_REASONS);
}

static bool finish_code(struct reading *x)
{
	struct trace *t = x->t;

	t->n_frames = (uint32_t)x->frames.n;
	t->frames = arena_memdup(&t->arena, x->frames.v, x->frames.n * sizeof(*t->frames));
	if ((t->n_frames && !t->frames) || (x->samples.n && !make_samples(t)))
		return false;
	for (uint32_t i = 0; t->samples && i < t->n_code; i++)
		if (t->code[i].opcode)
			take_samples(x, i, &x->samples.v[t->code[i].opcode - 1]);
	return name_opcodes(t);
}

/* --- the document --- */

static void read_schema(struct reading *x)
{
	struct str s;

	if (json_get_str(&x->r, &s) && !str_is(s, SCHEMA))
		json_reject(&x->r, "bad-schema", "expected the schema %s", SCHEMA);
}

static bool more_of_meta(struct reading *x, struct str key, void *row)
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

static void read_meta(struct reading *x)
{
	doc_read_members(x, &table_meta, more_of_meta, &x->t->meta);
}

static void read_origin(struct reading *x)
{
	static const struct field f = {.name = "origin_cycles", .type = FIELD_I64};

	doc_read_int(&x->r, &f, &x->doc->origin_cyc);
}

static void add_note(struct reading *x, const struct note *n, const char *code, const char *message)
{
	if (!code || !message)
		json_reject(&x->r, NULL, "a note has no text");
	else if (!trace_note(
			 x->t, n->kind, code, n->path, INCORE_NO_OFFSET, n->count, "%s", message))
		doc_no_memory(&x->r);
}

static void read_notes(struct reading *x)
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

static void read_left_out(struct reading *x)
{
	uint32_t n;
	const struct note *v = doc_read_rows(x, &table_cuts, NULL, &n);

	for (uint32_t i = 0; i < n; i++)
		add_note(x, &v[i], "left-out", v[i].code);
}

static void read_sampling(struct reading *x)
{
	doc_read_members(x, &table_sampling, NULL, &x->t->sampling);
}

static void read_reasons(struct reading *x)
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
static bool more_of_metric(struct reading *x, struct str key, void *row)
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
			json_reject(&x->r, NULL, "a value of a metric is [row, number]");
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
	void (*read)(struct reading *x); /* not a table of the trace */
} parts[] = {
	{"schema", .read = read_schema},
	{"meta", .read = read_meta},
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
	{"stall_reasons", .read = read_reasons},
	{.table = &table_metrics, .more = more_of_metric},
	{.table = &table_code_links},
	{"tracks", .read = doc_read_tracks},
	{"notes", .read = read_notes},
	{"left_out", .read = read_left_out},
};
#define N_PARTS (sizeof(parts) / sizeof(parts[0]))

static void read_part(struct reading *x, const struct part *p)
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

static bool read_document(struct reading *x, struct incore_error *e)
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

	for (size_t i = 0; !p->is_dir && i < sizeof(begin) / sizeof(begin[0]); i++) {
		while (s.n && strchr(" \t\r\n", s.p[0]))
			s = str_sub(s, 1, s.n);
		if (!str_starts(s, begin[i]))
			return 0;
		s = str_sub(s, strlen(begin[i]), s.n);
	}
	return p->is_dir ? 0 : 100;
}

/* The document is read completely or not at all. */
static void look(const char *path, struct capture_cache *cache, struct arena *a, struct capture *c)
{
	int64_t n = file_size_in(capture_fence(cache), path);

	(void)a;
	c->is_uncounted = true;
	c->n_bytes = n < 0 ? 0 : (uint64_t)n;
}

static bool read(
	const char *path, const struct import_options *o, struct trace *t, struct incore_error *e)
{
	struct reading x = {.t = t, .want = o->want};
	struct doc *doc = arena_zalloc(&t->arena, 1, sizeof(*doc));
	bool ok;

	if (!doc)
		return err_nomem(e);
	x.doc = doc;
	doc->path = t->meta.origin;
	if (!import_load(o, &doc->file, path, e))
		return false;
	t->loader = (struct track_loader){.close = close_doc};
	t->loader_ctx = doc;
	json_init(&x.r, doc->file.data, doc->file.size, doc->path, 0);
	ok = read_document(&x, e) && (trace_seal(t, e) || err_wrap(e, "document %s", path));
	json_deinit(&x.r);
	VEC_FREE(&x.frames);
	VEC_FREE(&x.samples);
	VEC_FREE(&x.counts);
	return ok;
}

/* The document lists earlier losses itself; this adds data for which it has no member. */
static bool lost(
	const char *path, const struct import_options *o, struct trace *t, struct incore_error *e)
{
	(void)o;
	for (uint32_t i = 0; i < t->n_notes; i++)
		if (strcmp(t->notes[i].code, "json-export") == 0)
			return true;
	return trace_note(t, NOTE_INFO, "json-export", path, INCORE_NO_OFFSET, 1,
		       "read from a JSON export, which does not hold stated waits, bytes moved, how "
		       "a stall splits, units of counters, clocks of single domains and the "
		       "producer's own tables")
		       ? true
		       : err_nomem(e);
}

const struct import_ops import_json = {
	.name = "json",
	.summary = "JSON document (incore.trace/1), written by `incore export --to json`",
	.looks_for = "a JSON export (" SCHEMA ")",
	.sniff = sniff,
	.look = look,
	.read = read,
	.lost = lost,
};
