/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed_file.c: is this a whole packed file, and where are its sections? Nothing in it is trusted
 * before it is checked against the size of the file.
 *
 * Parts: tables as sections; tracks, blocks and places; the sections of a file.
 */
#include "trace/packed_file.h"

#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "codec/zstd.h"
#include "trace/packed.h"

/* --- tables as sections ----------------------------------------------------------------------- */

/*
 * The tables of a trace as sections, driven by the list of their fields. Tables go column by
 * column, which compresses best, or row by row where the rows are few. One function per section
 * serves the writer and the reader.
 */

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

static void packed_file_move_code(struct fields *f, struct trace *t)
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

static void packed_file_move_sources(struct fields *f, struct trace *t)
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

static void packed_file_move_tracks(struct fields *f, struct trace *t)
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

static void packed_file_move_counters(struct fields *f, struct trace *t)
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

static void packed_file_move_series(struct fields *f, struct trace *t)
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

static void packed_file_move_links(struct fields *f, struct trace *t)
{
	fields_table(f, &table_links, t);
	/* The rest was added later; older files end here. */
	if (!fields_has_more(f, t->n_heads || t->n_tables || t->n_moved))
		return;
	fields_table(f, &table_heads, t);
	t->tables = fields_array(f, t->tables, &t->n_tables, sizeof(*t->tables), 4);
	for (uint32_t i = 0; i < t->n_tables; i++)
		move_named_table(f, &t->tables[i]);
	if (fields_has_more(f, t->n_moved))
		fields_table(f, &table_moved, t);
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
	[PACKED_CODE] = {"code", .move = packed_file_move_code},
	[PACKED_TOTALS] = {"totals", .move = move_totals},
	[PACKED_SAMPLES] = {"samples", .move = move_samples},
	[PACKED_SOURCES] = {"sources", .move = packed_file_move_sources},
	[PACKED_SOURCE_TEXTS] = {"source-texts", .move = move_source_texts},
	[PACKED_CLOCKS] = {"clocks", .move = move_clocks},
	[PACKED_TRACKS] = {"tracks", .move = packed_file_move_tracks},
	[PACKED_OCCUPANCY] = {"occupancy", .table = &table_occupancy},
	[PACKED_DISPATCHES] = {"dispatches", .move = move_dispatches},
	[PACKED_COUNTERS] = {"counters", .move = packed_file_move_counters},
	[PACKED_MARKERS] = {"markers", .table = &table_markers},
	[PACKED_OTHER_ISSUES] = {"other-issues", .table = &table_other_issues},
	[PACKED_SERIES] = {"series", .move = packed_file_move_series},
	[PACKED_LINKS] = {"links", .move = packed_file_move_links},
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

/* --- tracks, blocks and places ---------------------------------------------------------------- */

/* Writes and reads the tracks, blocks and places of a packed file. */

#define MAX_ERROR_LINKS 16

static struct stored_error *error_slot(struct fields *f, struct stored_error *s)
{
	if (!f->is_reading)
		return s;
	s = arena_zalloc(f->arena, 1, sizeof(*s));
	f->is_nomem |= !s;
	return s;
}

static void move_error(struct fields *f, struct stored_error **at)
{
	uint32_t n = 0;

	for (const struct stored_error *s = *at; s && !f->is_reading; s = s->cause)
		n++;
	fields_u32(f, &n);
	if (n > MAX_ERROR_LINKS)
		f->is_failed = true;
	for (uint32_t i = 0; i < n && !f->is_failed; i++) {
		struct stored_error *s = error_slot(f, *at);

		if (!s)
			return;
		fields_u32(f, &s->status);
		fields_str(f, &s->code);
		fields_str(f, &s->message);
		fields_str(f, &s->path);
		fields_u64(f, &s->offset);
		fields_u32(f, &s->line);
		fields_u32(f, &s->column);
		if (f->is_reading)
			*at = s;
		at = &s->cause;
	}
}

/* Most values repeat those of the track table: store the difference to them. */
static void move_from_track(struct fields *f, const struct track *k, struct track_content *c)
{
	uint64_t begin = k->begin_cyc, end = k->end_cyc;
	uint32_t stated = k->n_slices;

	fields_delta_u64(f, &c->begin_cyc, &begin);
	fields_delta_u64(f, &c->end_cyc, &end);
	fields_delta_u32(f, &c->stated_slices, &stated);
	for (int i = 0; i < TRACK_LEVELS; i++) {
		uint32_t coord = k->coord[i];

		fields_delta_u32(f, &c->coord_file[i], &coord);
	}
}

void packed_move_contents(struct fields *f, const struct trace *t, struct packed_dir *dir)
{
	uint32_t n = t->n_tracks;
	struct track_content *c = fields_array(f, dir->contents, &n, sizeof(*c), 15);

	if (n != t->n_tracks) {
		f->is_failed = true;
		return;
	}
	for (int k = 0; k < PIECE_KINDS; k++)
		for (uint32_t i = 0; i < n; i++)
			fields_u32(f, &c[i].n[k]);
	for (uint32_t i = 0; i < n; i++)
		fields_u32(f, &c[i].n_unknown_code);
	for (uint32_t i = 0; i < n; i++)
		move_from_track(f, &t->tracks[i], &c[i]);
	for (uint32_t i = 0; i < n; i++) {
		fields_u32(f, &c[i].error_want);
		move_error(f, &c[i].error);
	}
	if (f->is_reading)
		dir->contents = c;
}

/* Classes from this one on are written only if a block has it or a later one. */
#define ALWAYS_STORED_CLASSES CLASS_SCALAR

static void move_sums(struct fields *f, struct packed_class_sum *sums)
{
	uint32_t n = CLASS_COUNT;

	while (!f->is_reading && n > ALWAYS_STORED_CLASSES && sums[n - 1].hit == 0)
		n--;
	fields_u32(f, &n);
	if (n > CLASS_COUNT) { /* a class added by a later version */
		f->is_failed = true;
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		fields_u64(f, &sums[i].hit);
		fields_u64(f, &sums[i].dur_cyc);
		fields_u64(f, &sums[i].stall_cyc);
	}
}

void packed_move_blocks(struct fields *f, struct packed_dir *dir)
{
	dir->blocks = fields_array(
		f, dir->blocks, &dir->n_blocks, sizeof(*dir->blocks), 8 + STREAM_COUNT);
	EACH (struct block_info, b, dir->blocks, dir->n_blocks) {
		fields_u32(f, &b->first_track);
		fields_u32(f, &b->n_pieces);
		fields_u32(f, &b->n_rows);
		fields_u64(f, &b->min_cyc);
		fields_u64(f, &b->max_cyc);
		for (int s = 0; s < STREAM_COUNT; s++)
			fields_u64(f, &b->raw_bytes[s]);
		fields_u64(f, &b->hash[0]);
		fields_u64(f, &b->hash[1]);
		move_sums(f, b->sums);
	}
}

void packed_move_places(struct fields *f, struct packed_dir *dir)
{
	uint32_t n = dir->n_blocks;

	dir->places = fields_array(f, dir->places, &n, sizeof(*dir->places), 1 + 2 * STREAM_COUNT);
	if (n != dir->n_blocks) {
		f->is_failed = true;
		return;
	}
	EACH (struct block_place, p, dir->places, n) {
		fields_u64(f, &p->offset);
		for (int s = 0; s < STREAM_COUNT; s++) {
			fields_u64(f, &p->stored_bytes[s]);
			fields_u64(f, &p->checksum[s]);
		}
	}
}

bool stored_error_of(struct arena *a, const struct incore_error *e, struct stored_error **out)
{
	struct stored_error **at = out;

	for (int i = 0; e && i < MAX_ERROR_LINKS; i++, e = e->cause) {
		struct stored_error *s = arena_zalloc(a, 1, sizeof(*s));

		if (!s)
			return false;
		s->status = e->status;
		s->code = e->code ? arena_strdup(a, e->code) : NULL;
		s->message = e->message ? arena_strdup(a, e->message) : NULL;
		s->path = e->path ? arena_strdup(a, e->path) : NULL;
		s->offset = e->offset;
		s->line = e->line;
		s->column = e->column;
		if ((e->code && !s->code) || (e->message && !s->message) || (e->path && !s->path))
			return false;
		*at = s;
		at = &s->cause;
	}
	return true;
}

/* An error's code must live as long as the program, so only codes known here are restored. */
static const char *packed_file_known_code(const char *code)
{
	static const char *const known[] = {"bad-json", "truncated", "bad-type", "out-of-range",
		"too-deep", "duplicate-key", "bad-value", "missing-key", "bad-path", "not-found",
		"not-readable", "is-directory", "link-loop", "link-outside", "not-regular",
		"too-large", "io", "bad-zstd", "bad-packed"};

	for (size_t i = 0; code && i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(known[i], code) == 0)
			return known[i];
	return "bad-track";
}

bool stored_error_raise(const struct stored_error *s, struct incore_error *e)
{
	enum incore_status status = INCORE_BAD_INPUT;

	if (!e)
		return false;
	if (s->cause) {
		stored_error_raise(s->cause, e);
		err_wrap(e, "%s", s->message ? s->message : "");
	} else {
		if (s->status > INCORE_OK && s->status <= INCORE_FAILED)
			status = (enum incore_status)s->status;
		err_set(e, status, packed_file_known_code(s->code), "%s",
			s->message ? s->message : "");
	}
	if (s->path && !e->path)
		e->path = mem_strndup(s->path, strlen(s->path));
	e->offset = s->offset;
	e->line = s->line;
	e->column = s->column;
	return false;
}

/* --- the sections of a file ------------------------------------------------------------------- */

static bool packed_is_magic(const uint8_t *head, size_t n)
{
	return n >= 8 && memcmp(head, PACKED_MAGIC, 8) == 0;
}

bool packed_checksum_ok(const uint8_t *p, size_t n, uint64_t seed, uint64_t want)
{
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
	(void)p, (void)n, (void)seed, (void)want;
	return true;
#else
	return hash_bytes(p, n, seed) == want;
#endif
}

static bool packed_file_bad(struct incore_error *e, const char *path, uint64_t at, const char *what)
{
	return err_file(e, "bad-packed", path, at, "%s", what);
}

static bool check_header(const struct packed_file *f, const char *path, struct incore_error *e)
{
	const uint8_t *p = f->data.data;
	size_t n = f->data.size;

	if (!packed_is_magic(p, n))
		return err_file(e, "bad-magic", path, 0, "not a packed trace (wrong first bytes)");
	if (n < PACKED_HEADER_BYTES + PACKED_TRAILER_BYTES)
		return err_file(e, "truncated", path, n, "packed trace ends after %zu bytes", n);
	if (le32(p + 8) != PACKED_VERSION)
		return err_file(e, "bad-version", path, 8,
			"packed trace of version %u, expected %u", le32(p + 8), PACKED_VERSION);
	if (le32(p + 12) != PACKED_HEADER_BYTES)
		return packed_file_bad(e, path, 12, "header of unexpected size");
	return true;
}

static bool check_trailer(struct packed_file *f, const char *path, struct incore_error *e)
{
	size_t n = f->data.size, at = n - PACKED_TRAILER_BYTES;
	const uint8_t *p = f->data.data + at;
	struct packed_trailer *t = &f->trailer;
	uint64_t table_bytes;

	packed_trailer_get(p, t);
	if (memcmp(t->magic, PACKED_END_MAGIC, 8) != 0)
		return err_file(e, "truncated", path, n,
			"packed trace was cut: its last bytes are not there (%zu bytes found)", n);
	if (!packed_checksum_ok(p, PACKED_TRAILER_CHECKED, 0, t->trailer_checksum))
		return packed_file_bad(e, path, at, "trailer is damaged (checksum)");
	if (t->file_bytes != n)
		return err_file(e, "truncated", path, n, "expected %llu bytes, found %zu",
			(unsigned long long)t->file_bytes, n);
	table_bytes = (uint64_t)t->n_sections * PACKED_SECTION_BYTES;
	if (t->table_offset < PACKED_HEADER_BYTES || t->table_offset > at ||
		table_bytes != at - t->table_offset)
		return packed_file_bad(e, path, at, "section table out of bounds");
	if (!packed_checksum_ok(
		    f->data.data + t->table_offset, (size_t)table_bytes, 0, t->table_checksum))
		return packed_file_bad(
			e, path, t->table_offset, "section table is damaged (checksum)");
	return true;
}

static bool check_section(const struct packed_file *f, const struct packed_section *s)
{
	uint64_t end = f->trailer.table_offset;

	if (s->offset < PACKED_HEADER_BYTES || s->offset > end || s->stored_bytes > end - s->offset)
		return false;
	if (s->codec == PACKED_RAW)
		return s->raw_bytes == s->stored_bytes;
	return s->codec == PACKED_ZSTD && s->stored_bytes > 0;
}

static uint64_t memory_bytes(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

	return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
}

static bool packed_file_read_table(struct packed_file *f, const char *path, struct incore_error *e)
{
	uint64_t raw_bytes = 0;

	for (uint32_t i = 0; i < f->trailer.n_sections; i++) {
		uint64_t at = f->trailer.table_offset + (uint64_t)i * PACKED_SECTION_BYTES;
		struct packed_section s;

		packed_section_get(f->data.data + at, &s);
		if (s.id == 0 || !check_section(f, &s))
			return packed_file_bad(e, path, at, "section out of bounds");
		if (!packed_may_grow(s.stored_bytes, s.raw_bytes))
			return packed_file_bad(
				e, path, at, "section grows too much when it is unpacked");
		if (s.id >= PACKED_SECTION_END)
			continue; /* section written by a later minor version */
		raw_bytes += s.raw_bytes;
		if (f->sections[s.id].id)
			return packed_file_bad(e, path, at, "section given twice");
		f->sections[s.id] = s;
	}
	for (uint32_t id = PACKED_META; id < PACKED_OPTIONAL; id++)
		if (!f->sections[id].id)
			return err_file(e, "bad-packed", path, f->trailer.table_offset,
				"section %s is missing", packed_section_name(id));
	if (raw_bytes > memory_bytes() / 2)
		return err_file(e, "too-large", path, f->trailer.table_offset,
			"its tables need %llu MB, more than half of this machine's memory",
			(unsigned long long)(raw_bytes / 1000000));
	return true;
}

bool packed_file_open(
	struct packed_file *f, struct file_data data, const char *path, struct incore_error *e)
{
	*f = (struct packed_file){.data = data};
	if (check_header(f, path, e) && check_trailer(f, path, e) &&
		packed_file_read_table(f, path, e))
		return true;
	packed_file_close(f);
	return false;
}

void packed_file_close(struct packed_file *f)
{
	file_unload(&f->data);
}

bool packed_file_section(const struct packed_file *f, const char *path, uint32_t id, uint8_t **out,
	size_t *n, struct incore_error *e)
{
	const struct packed_section *s = &f->sections[id];
	const uint8_t *p = f->data.data + s->offset;
	uint8_t *raw;

	if (!packed_checksum_ok(p, (size_t)s->stored_bytes, id, s->checksum))
		return err_file(e, "bad-packed", path, s->offset,
			"section %s is damaged (checksum)", packed_section_name(id));
	raw = mem_alloc((size_t)s->raw_bytes + 1);
	if (!raw)
		return err_nomem(e);
	if (s->codec == PACKED_RAW) {
		if (s->raw_bytes)
			memcpy(raw, p, (size_t)s->raw_bytes);
	} else if (!zstd_unpack(p, (size_t)s->stored_bytes, raw, (size_t)s->raw_bytes, e)) {
		mem_free(raw);
		return err_wrap(e, "section %s of %s", packed_section_name(id), path);
	}
	*out = raw;
	*n = (size_t)s->raw_bytes;
	return true;
}
