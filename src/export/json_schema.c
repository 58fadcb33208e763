/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_schema.c: the JSON Schema of incore.trace/1. Its tables are those of the field list; they
 * are converted to records here, so that the code for records also makes their schemas.
 */
#include <assert.h>

#include "analysis/waves/states.h"
#include "codec/record.h"
#include "export/json_tables.h"

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
struct maker {
	struct column columns[288];
	struct record records[40];
	char words[2048]; /* lists of words, each ends in NUL */
	unsigned n_columns, n_records, n_words;
};

static const char *join(
	struct maker *m, const char *(*word)(const void *ctx, unsigned i), const void *ctx)
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

static struct column column_of(struct maker *m, const struct field *d)
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
		c.words = join(m, class_word, NULL);
		break;
	case FIELD_ENUM:
		c.type = COLUMN_TEXT;
		c.words = join(m, listed_word, d->words);
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
static const struct record *shape_of(struct maker *m, const struct field_table *d,
	enum record_style style, const struct column *more, unsigned n_more)
{
	struct column *first = &m->columns[m->n_columns];
	struct record *r = &m->records[m->n_records++];

	for (uint32_t i = 0; d && i < d->n_fields; i++) {
		const struct field *x = field_at(d, FORMAT_JSON, i);

		if (x->name)
			m->columns[m->n_columns++] = column_of(m, x);
	}
	for (unsigned i = 0; i < n_more; i++)
		m->columns[m->n_columns++] = more[i];
	assert(m->n_columns <= sizeof(m->columns) / sizeof(m->columns[0]) &&
		m->n_records <= sizeof(m->records) / sizeof(m->records[0]));
	*r = (struct record){first, (uint16_t)(&m->columns[m->n_columns] - first), style, 0};
	return r;
}

#define OBJECT(TABLE, ...)                                                                         \
	shape_of(m, TABLE, RECORD_BLOCK, (const struct column[]){__VA_ARGS__},                     \
		sizeof((const struct column[]){__VA_ARGS__}) / sizeof(struct column))
#define ROW(TABLE) shape_of(m, TABLE, RECORD_TUPLE, NULL, 0)
#define PLAIN(TABLE) shape_of(m, TABLE, RECORD_BLOCK, NULL, 0)
#define SAMPLES(OF) SHAPE("samples", LIST, .of = OF)

static const struct record *track_shape(struct maker *m)
{
	const struct column slice[] = {SHAPE("", I64), SHAPE("", U64), SHAPE("", U64),
		SHAPE("", U64, NULLABLE), SHAPE("", TEXT, .words = join(m, class_word, NULL)),
		SHAPE("", U64)};
	const struct column state[] = {SHAPE("", I64), SHAPE("", U64),
		SHAPE("", TEXT, .words = join(m, state_word, NULL))};
	const struct record *slices = shape_of(m, NULL, RECORD_TUPLE, slice, 6);
	const struct record *states = shape_of(m, NULL, RECORD_TUPLE, state, 3);

	return OBJECT(NULL, SHAPE("index", U64), SHAPE("name", TEXT), SHAPE("clock", U64, NULLABLE),
		SHAPE("kernel_id", U64, NULLABLE), SHAPE("workgroup", I64, NULLABLE),
		SHAPE("begin_cycles", I64), SHAPE("end_cycles", I64),
		SHAPE("slices", LIST, .of = slices), SHAPE("states", LIST, .of = states),
		SHAPE("waits", LIST, .of = &pair_shape),
		SHAPE(NULL, U64)); /* its coordinates: se, simd, slot; core, unit, pipe; ... */
}

static const struct record *code_shape(struct maker *m)
{
	const struct record *frames = ROW(&table_frames), *totals = PLAIN(&table_totals),
			    *samples = OBJECT(&table_samples,
				    SHAPE("reasons", LIST, .of = &number_shape),
				    SHAPE("not_issued", LIST, .of = &number_shape, OPTIONAL));

	return OBJECT(&table_code, SHAPE("frames", LIST, .of = frames),
		SHAPE("stated", RECORD, .of = totals, OPTIONAL),
		SHAPE("samples", RECORD, .of = samples, OPTIONAL));
}

static const struct record *trace_shape(struct maker *m)
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
		SHAPE("values", LIST, .of = shape_of(m, NULL, RECORD_TUPLE, value, 2)));

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
	struct maker m = {0};

	json_w_object(w);
	json_w_kv_cstr(w, "$schema", "http://json-schema.org/draft-07/schema#");
	json_w_kv_cstr(w, "title", "incore export --to json");
	json_w_kv_cstr(w, "description", "see incore-json(7)");
	record_schema_members(trace_shape(&m), w);
	json_w_end(w);
}
