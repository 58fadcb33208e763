/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed_tables.c: the tables of a trace as sections, driven by the list of their fields. Tables go
 * column by column, which compresses best, or row by row where the rows are few. One function per
 * section serves the writer and the reader.
 */
#include "trace/packed_tables.h"

static void move_meta(struct fields *f, struct trace *t)
{
	fields_row(f, &table_launch, &t->meta.launch, NULL);
	fields_row(f, &table_machine, &t->meta.machine, NULL);
	fields_row(f, &table_meta, &t->meta, NULL);
	fields_later(f, &table_meta, &t->meta, 1);
}

/* An array of strings. */
static const char **move_names(struct fields *f, const char *const *names, uint32_t *n)
{
	const char **v = fields_array(f, (void *)names, n, sizeof(*v), 1);

	for (uint32_t i = 0; i < *n; i++)
		fields_str(f, &v[i]);
	return v;
}

static void move_code(struct fields *f, struct trace *t)
{
	t->opcodes = move_names(f, t->opcodes, &t->n_opcodes);
	fields_table(f, &table_code, t);
}

/* Moves a count already known from another section; fails if it differs. */
static bool is_same_count(struct fields *f, uint32_t want)
{
	uint32_t n = want;

	fields_u32(f, &n);
	f->is_failed |= n != want;
	return n == want;
}

static void move_totals(struct fields *f, struct trace *t)
{
	fields_bool(f, &t->has_stated_totals);
	if (!is_same_count(f, t->n_code))
		return;
	fields_cells(f, &table_totals, t->code, t->n_code);
	fields_later(f, &table_totals, t->code, t->n_code);
}

/* Are the reasons the ones a reader knows without stored names? */
static bool has_amd_reasons(const struct trace *t)
{
	return trace_has_amd_reasons(t) && !t->sampling.has_not_issued;
}

static void samples_room(struct fields *f, struct trace *t, const char *const *reasons, uint32_t n)
{
	if (f->is_reading && fields_ok(f) && !trace_make_samples(t, reasons, n))
		f->is_nomem = true;
}

/* Samples with AMD's reasons; others are in PACKED_SAMPLED. */
static void move_samples(struct fields *f, struct trace *t)
{
	uint32_t n = t->samples && has_amd_reasons(t) ? t->n_code : 0;

	fields_u32(f, &n);
	if (n == 0)
		return;
	if (n != t->n_code || (f->is_reading && (uint64_t)n * (2 + AMD_STALL_REASONS) >
							(uint64_t)(f->in.end - f->in.p))) {
		f->is_failed = true;
		return;
	}
	samples_room(f, t, amd_stall_reasons, AMD_STALL_REASONS);
	if (!fields_ok(f))
		return;
	fields_cells(f, &table_samples, t->samples, n);
	for (uint32_t k = 0; k < AMD_STALL_REASONS; k++)
		for (uint32_t i = 0; i < n; i++)
			fields_u64(f, &t->reason_counts[(size_t)i * AMD_STALL_REASONS + k].all);
}

static void move_sources(struct fields *f, struct trace *t)
{
	fields_table(f, &table_frames, t);
	fields_table(f, &table_sources, t);
}

static void move_source_texts(struct fields *f, struct trace *t)
{
	if (!is_same_count(f, t->n_sources))
		return;
	for (uint32_t i = 0; i < t->n_sources; i++)
		fields_bytes(f, &t->sources[i].text, &t->sources[i].text_len);
}

static void move_clock_samples(struct fields *f, struct clock_domain *c)
{
	uint64_t prev[2] = {0, 0};
	uint64_t(*v)[2] = fields_array(f, (void *)c->samples, &c->n_samples, sizeof(*v), 2);

	for (uint32_t i = 0; i < c->n_samples; i++)
		for (int k = 0; k < 2; k++)
			fields_delta_u64(f, &v[i][k], &prev[k]);
	if (f->is_reading)
		c->samples = (void *)v;
}

static void move_clocks(struct fields *f, struct trace *t)
{
	fields_rows(f, &table_clocks, t, 1);
	for (uint32_t i = 0; i < t->n_clocks; i++) {
		fields_row(f, &table_clocks, &t->clocks[i], NULL);
		move_clock_samples(f, &t->clocks[i]);
	}
	fields_u32(f, &t->reference_clock);
}

static void move_tracks(struct fields *f, struct trace *t)
{
	for (int k = 0; k < TRACK_LEVELS; k++)
		fields_str(f, &t->levels[k]);
	fields_table(f, &table_tracks, t);
}

static void move_dispatches(struct fields *f, struct trace *t)
{
	fields_table(f, &table_kernel_names, t);
	fields_table(f, &table_dispatch_events, t);
}

/* Array of the times of a series, as by fields_array(), and as many values of `size` bytes. */
static void *series_room(
	struct fields *f, const uint64_t **times, const void *values, size_t size, uint32_t *n)
{
	uint64_t *v = fields_array(f, (void *)*times, n, sizeof(*v), 2);
	void *room = (void *)values;

	if (f->is_reading) {
		*times = v;
		room = arena_zalloc(f->arena, *n, size);
	}
	if (f->is_reading && !room) {
		f->is_nomem = true;
		*n = 0;
	}
	return room;
}

static void move_counter(struct fields *f, struct counter_series *c)
{
	uint64_t *value, prev = 0;

	fields_row(f, &table_counters, c, NULL);
	value = series_room(f, &c->time_cyc, c->value, sizeof(*value), &c->n);
	for (uint32_t k = 0; k < c->n; k++)
		fields_delta_u64(f, (uint64_t *)&c->time_cyc[k], &prev);
	for (uint32_t k = 0; k < c->n; k++)
		fields_u64(f, &value[k]);
	if (f->is_reading)
		c->value = value;
}

static void move_counters(struct fields *f, struct trace *t)
{
	t->counter_names = move_names(f, t->counter_names, &t->n_counter_names);
	fields_rows(f, &table_counters, t, 1);
	for (uint32_t i = 0; i < t->n_counters; i++)
		move_counter(f, &t->counters[i]);
	fields_later(f, &table_counters, t->counters, t->n_counters);
}

/* Times are stored in clock quanta when all of them are multiples. */
static uint64_t series_scale(const struct stated_series *s, unsigned quantum)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (quantum < 2 || s->time_cyc[i] % quantum)
			return 1;
	return s->n ? quantum : 1;
}

static void move_one_series(struct fields *f, struct stated_series *s, unsigned quantum)
{
	uint64_t scale = f->is_reading ? 1 : series_scale(s, quantum), prev = 0;
	uint32_t *count, last = 0;

	fields_row(f, &table_series, s, NULL);
	fields_u64(f, &scale);
	count = series_room(f, &s->time_cyc, s->count, sizeof(*count), &s->n);
	for (uint32_t i = 0; i < s->n; i++) {
		uint64_t v = f->is_reading ? 0 : s->time_cyc[i] / scale;

		fields_delta_u64(f, &v, &prev);
		if (f->is_reading)
			((uint64_t *)s->time_cyc)[i] = v * scale;
	}
	for (uint32_t i = 0; i < s->n; i++)
		fields_delta_u32(f, &count[i], &last);
	if (f->is_reading)
		s->count = count;
}

static void move_series(struct fields *f, struct trace *t)
{
	fields_rows(f, &table_series, t, 2);
	for (uint32_t i = 0; i < t->n_stated_series; i++)
		move_one_series(f, &t->stated_series[i], t->meta.clock_quantum);
}

static void move_named_table(struct fields *f, struct named_table *k)
{
	const char **cols, **cells;
	uint32_t n_cells = k->n_cols * k->n_rows;

	fields_str(f, &k->name);
	fields_str(f, &k->origin);
	cols = move_names(f, k->cols, &k->n_cols);
	fields_u32(f, &k->n_rows);
	cells = move_names(f, k->cells, &n_cells);
	if ((uint64_t)k->n_cols * k->n_rows != n_cells) {
		f->is_failed = true;
		k->n_rows = 0;
	}
	if (f->is_reading) {
		k->cols = cols;
		k->cells = cells;
	}
}

/* Moves the rows and values of a metric; a real value is stored as its bits. */
static void move_metric(struct fields *f, struct code_metric *m)
{
	code_idx *row, last = 0;
	uint64_t *value = (uint64_t *)m->value;

	fields_row(f, &table_metrics, m, NULL);
	row = fields_array(f, (void *)m->row, &m->n, sizeof(*row), 2);
	if (f->is_reading) {
		m->row = row;
		m->value = value = arena_zalloc(f->arena, (size_t)m->n + 1, sizeof(*value));
		f->is_nomem |= !value;
	}
	for (uint32_t i = 0; fields_ok(f) && i < m->n; i++)
		fields_delta_u32(f, &row[i], &last);
	for (uint32_t i = 0; fields_ok(f) && i < m->n; i++)
		fields_u64(f, &value[i]);
}

bool packed_has_sampled(const struct trace *t)
{
	return (t->samples && !has_amd_reasons(t)) || t->sampling.period_cyc || t->n_metrics ||
	       t->n_code_links;
}

static void move_sampled(struct fields *f, struct trace *t)
{
	bool has = t->samples && !has_amd_reasons(t);
	const char **names;
	uint32_t n = t->n_reasons;

	fields_row(f, &table_sampling, &t->sampling, NULL);
	fields_bool(f, &has);
	if (has) {
		names = move_names(f, t->reasons, &n);
		/* a row and a count take two bytes each at least: allocate no more than the data
		 * can hold */
		if (f->is_reading &&
			((uint64_t)n + 1) * 2 * t->n_code > (uint64_t)(f->in.end - f->in.p))
			f->is_failed = true;
		samples_room(f, t, names, n);
		if (!fields_ok(f))
			return;
		fields_cells(f, &table_samples, t->samples, t->n_code);
		for (uint32_t k = 0; k < n; k++)
			for (uint32_t i = 0; i < t->n_code; i++)
				fields_row(f, &table_reason_counts,
					&t->reason_counts[(size_t)i * n + k], NULL);
	}
	fields_rows(f, &table_metrics, t, 1);
	for (uint32_t i = 0; fields_ok(f) && i < t->n_metrics; i++)
		move_metric(f, &t->metrics[i]);
	fields_table(f, &table_code_links, t);
}

static void move_links(struct fields *f, struct trace *t)
{
	fields_table(f, &table_links, t);
	/* The rest was added later; older files end here. */
	if (!fields_has_more(f, t->n_heads || t->n_tables))
		return;
	fields_table(f, &table_heads, t);
	t->tables = fields_array(f, t->tables, &t->n_tables, sizeof(*t->tables), 4);
	for (uint32_t i = 0; i < t->n_tables; i++)
		move_named_table(f, &t->tables[i]);
}

/* Read notes get the capacity that trace_note() expects: it must be able to add to them. */
static void move_notes(struct fields *f, struct trace *t)
{
	uint32_t cap = 8;
	struct note *v;

	fields_table(f, &table_notes, t);
	if (!f->is_reading || t->n_notes == 0)
		return;
	while (cap < t->n_notes)
		cap *= 2;
	v = arena_zalloc(f->arena, cap, sizeof(*v));
	f->is_nomem |= !v;
	if (v)
		memcpy(v, t->notes, t->n_notes * sizeof(*v));
	t->notes = v;
	t->n_notes = v ? t->n_notes : 0;
}

static const struct {
	const char *name;
	const struct field_table *table; /* the whole section */
	void (*move)(struct fields *f, struct trace *t);
} sections[PACKED_SECTION_END] = {
	[PACKED_META] = {"meta", .move = move_meta},
	[PACKED_CODE] = {"code", .move = move_code},
	[PACKED_TOTALS] = {"totals", .move = move_totals},
	[PACKED_SAMPLES] = {"samples", .move = move_samples},
	[PACKED_SOURCES] = {"sources", .move = move_sources},
	[PACKED_SOURCE_TEXTS] = {"source-texts", .move = move_source_texts},
	[PACKED_CLOCKS] = {"clocks", .move = move_clocks},
	[PACKED_TRACKS] = {"tracks", .move = move_tracks},
	[PACKED_OCCUPANCY] = {"occupancy", .table = &table_occupancy},
	[PACKED_DISPATCHES] = {"dispatches", .move = move_dispatches},
	[PACKED_COUNTERS] = {"counters", .move = move_counters},
	[PACKED_MARKERS] = {"markers", .table = &table_markers},
	[PACKED_OTHER_ISSUES] = {"other-issues", .table = &table_other_issues},
	[PACKED_SERIES] = {"series", .move = move_series},
	[PACKED_LINKS] = {"links", .move = move_links},
	[PACKED_NOTES] = {"notes", .move = move_notes},
	[PACKED_CONTENT] = {.name = "content"},
	[PACKED_BLOCKS] = {.name = "blocks"},
	[PACKED_PLACES] = {.name = "places"},
	[PACKED_SAMPLED] = {"sampled", .move = move_sampled},
};

void packed_move_table(struct fields *f, uint32_t id, struct trace *t)
{
	if (sections[id].table)
		fields_table(f, sections[id].table, t);
	else
		sections[id].move(f, t);
}

const char *packed_section_name(uint32_t id)
{
	return id < PACKED_SECTION_END && sections[id].name ? sections[id].name : "unknown";
}
