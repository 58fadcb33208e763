/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_tables.c: meta, code and side tables of the json export, by the list of their fields. Times
 * are in the row's clock domain.
 */
#include "export/json_tables.h"
#include "base/vec.h"

void json_put_index(struct json_writer *w, uint32_t index)
{
	if (index == UINT32_MAX)
		json_w_null(w);
	else
		json_w_u64(w, index);
}

void json_put_value(struct json_writer *w, int64_t v)
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

static void put_one(struct json_writer *w, const struct field *d, const void *p)
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
static void put_field(struct json_writer *w, const struct field *d, const void *row)
{
	const char *p = (const char *)row + d->offset;
	size_t width = field_width(d);

	if (d->size > width)
		json_w_row(w);
	for (size_t i = 0; i < d->size; i += width)
		put_one(w, d, p + i);
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
		put_field(w, x, row);
	}
}

void json_put_members(struct json_writer *w, const struct field_table *d, const void *row)
{
	put_fields(w, d, row, true);
}

static void put_object(struct json_writer *w, const struct field_table *d, const void *row)
{
	json_w_kv_object(w, d->name);
	json_put_members(w, d, row);
	json_w_end(w);
}

static void put_row(struct json_writer *w, const struct field_table *d, const void *row)
{
	json_w_row(w);
	put_fields(w, d, row, false);
	json_w_end(w);
}

static void open_table(struct json_writer *w, const char *name)
{
	json_w_kv_array(w, name);
}

/* Writes a table of the trace that consists only of its fields, as objects or as arrays. */
static void put_table(
	struct json_writer *w, const struct field_table *d, const struct trace *t, bool is_rows)
{
	const char *row;
	uint32_t n;

	memcpy(&row, (const char *)t + d->array, sizeof(row));
	memcpy(&n, (const char *)t + d->count, sizeof(n));
	open_table(w, d->name);
	for (uint32_t i = 0; i < n; i++, row += d->row_size) {
		if (is_rows) {
			put_row(w, d, row);
			continue;
		}
		json_w_object(w);
		json_put_members(w, d, row);
		json_w_end(w);
	}
	json_w_end(w);
}

void json_put_meta(struct json_writer *w, const struct trace *t)
{
	const struct trace_meta *m = &t->meta;

	json_w_kv_object(w, table_meta.name);
	json_put_members(w, &table_meta, m);
	put_object(w, &table_launch, &m->launch);
	put_object(w, &table_machine, &m->machine);
	json_w_end(w);
}

static void put_counts(struct json_writer *w, const char *key, const struct trace *t, code_idx i,
	bool is_not_issued)
{
	const struct reason_count *r = trace_reasons_of(t, i);

	json_w_key(w, key);
	json_w_row(w);
	for (uint32_t k = 0; k < t->n_reasons; k++)
		json_w_u64(w, is_not_issued ? r[k].not_issued : r[k].all);
	json_w_end(w);
}

static void put_samples(struct json_writer *w, const struct trace *t, code_idx i)
{
	json_w_kv_object(w, table_samples.name);
	json_put_members(w, &table_samples, &t->samples[i]);
	put_counts(w, table_reason_counts.name, t, i, false);
	if (t->sampling.has_not_issued)
		put_counts(w, "not_issued", t, i, true);
	json_w_end(w);
}

static void put_metric(struct json_writer *w, const struct code_metric *m)
{
	json_w_object(w);
	json_put_members(w, &table_metrics, m);
	open_table(w, "values");
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
static void put_sampled(struct json_writer *w, const struct trace *t)
{
	if (!t->sampling.period_cyc && !t->n_metrics && !t->n_code_links)
		return;
	put_object(w, &table_sampling, &t->sampling);
	open_table(w, "stall_reasons");
	for (uint32_t i = 0; i < t->n_reasons; i++)
		json_w_cstr(w, t->reasons[i]);
	json_w_end(w);
	open_table(w, table_metrics.name);
	EACH (const struct code_metric, m, t->metrics, t->n_metrics)
		put_metric(w, m);
	json_w_end(w);
	put_table(w, &table_code_links, t, false);
}

void json_put_code(struct json_writer *w, const struct trace *t)
{
	open_table(w, table_code.name);
	for (uint32_t i = 0; i < t->n_code; i++) {
		const struct code_row *r = &t->code[i];

		json_w_row_object(w);
		json_put_members(w, &table_code, r);
		json_w_key(w, table_frames.name); /* innermost first */
		json_w_row(w);
		for (uint32_t k = 0; k < r->n_frames; k++)
			put_row(w, &table_frames, &t->frames[r->first_frame + k]);
		json_w_end(w);
		if (t->has_stated_totals)
			put_object(w, &table_totals, r);
		if (t->samples)
			put_samples(w, t, i);
		json_w_end(w);
	}
	json_w_end(w);
}

void json_put_sources(struct json_writer *w, const struct trace *t)
{
	open_table(w, table_sources.name);
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

void json_put_clocks(struct json_writer *w, const struct trace *t)
{
	open_table(w, table_clocks.name);
	EACH (const struct clock_domain, c, t->clocks, t->n_clocks) {
		json_w_object(w);
		json_put_members(w, &table_clocks, c);
		open_table(w, "samples"); /* [cycles, realtime ticks] */
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

static void put_counters(struct json_writer *w, const struct trace *t)
{
	open_table(w, table_counters.name);
	EACH (const struct counter_series, c, t->counters, t->n_counters) {
		json_w_object(w);
		json_put_members(w, &table_counters, c);
		open_table(w, "samples"); /* [time_cycles, increments] */
		for (uint32_t k = 0; k < c->n; k++)
			put_u64_row(w, c->time_cyc[k], c->value[k]);
		json_w_end(w);
		json_w_end(w);
	}
	json_w_end(w);
}

static void put_series(struct json_writer *w, const struct trace *t)
{
	open_table(w, table_series.name); /* waves in a state over time, all clocks pooled */
	EACH (const struct stated_series, s, t->stated_series, t->n_stated_series) {
		json_w_object(w);
		json_put_members(w, &table_series, s);
		open_table(w, "samples"); /* [time_cycles, waves] */
		for (uint32_t k = 0; k < s->n; k++)
			put_u64_row(w, s->time_cyc[k], s->count[k]);
		json_w_end(w);
		json_w_end(w);
	}
	json_w_end(w);
}

void json_put_side_tables(struct json_writer *w, const struct trace *t)
{
	put_column_names(w, "occupancy_columns", &table_occupancy);
	put_table(w, &table_occupancy, t, true);
	put_table(w, &table_kernel_names, t, false);
	put_table(w, &table_dispatch_events, t, false);
	put_counters(w, t);
	put_table(w, &table_markers, t, true);
	put_table(w, &table_other_issues, t, true);
	put_series(w, t);
	put_table(w, &table_links, t, true);
	put_sampled(w, t);
}
