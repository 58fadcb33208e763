/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.c: the list of tables, and functions common to all cursors. Parts: tables of a whole
 * capture; the list and the cursor.
 */
#include "tables/tables.h"

#include <math.h>
#include <string.h>

#include "analysis/code/hot.h"
#include "analysis/selection.h"
#include "answer/request.h"
#include "base/search.h"
#include "import/import.h"
#include "tables/source.h"

/* --- tables of a whole capture ---------------------------------------------------------------- */

/*
 * Tables of data that a trace always has in memory: captures, tracks, code, notes.
 */

#define CAPTURE_COLUMN(S)                                                                          \
	COLUMN(S, capture, UNIT_INDEX, "number of the capture, as in the other tables")

/* --- captures --- */

struct table_capture_row {
	uint32_t capture;
	const char *path, *kernel, *arch, *vendor, *format, *evidence;
	double clock_mhz;
	uint32_t tracks;
	uint64_t slices;
	uint32_t rows;
	int64_t agent, dispatch, workgroups, waves, vgprs, sgprs, lds_bytes;
	uint64_t lost;
};

static const struct column capture_columns[] = {
	COLUMN(table_capture_row, capture, UNIT_INDEX,
		"number of the capture, as in the other tables"),
	COLUMN(table_capture_row, path, UNIT_NONE, "path that the capture was read from", NULLABLE),
	COLUMN(table_capture_row, kernel, UNIT_NONE, "name of the kernel", NULLABLE),
	COLUMN(table_capture_row, arch, UNIT_NONE, "architecture", NULLABLE),
	COLUMN(table_capture_row, vendor, UNIT_NONE, "vendor of the device"),
	COLUMN(table_capture_row, format, UNIT_NONE, "format of the capture", NULLABLE),
	COLUMN(table_capture_row, evidence, UNIT_NONE, "what the figures rest on"),
	COLUMN(table_capture_row, clock_mhz, UNIT_MHZ, "frequency of the trace clock", NULLABLE),
	COLUMN(table_capture_row, tracks, UNIT_COUNT, "number of waves or pipes"),
	COLUMN(table_capture_row, slices, UNIT_COUNT,
		"executed instructions; null: unknown without reading them", NULLABLE),
	COLUMN(table_capture_row, rows, UNIT_COUNT, "rows of the code, including labels"),
	COLUMN(table_capture_row, agent, UNIT_INDEX, "number of the device that the kernel ran on",
		NULLABLE),
	COLUMN(table_capture_row, dispatch, UNIT_INDEX, "number of the dispatch", NULLABLE),
	COLUMN(table_capture_row, workgroups, UNIT_COUNT, "workgroups launched", NULLABLE),
	COLUMN(table_capture_row, waves, UNIT_WAVES, "waves launched", NULLABLE),
	COLUMN(table_capture_row, vgprs, UNIT_COUNT, "vector registers, as stated", NULLABLE),
	COLUMN(table_capture_row, sgprs, UNIT_COUNT, "scalar registers, as stated", NULLABLE),
	COLUMN(table_capture_row, lds_bytes, UNIT_BYTES, "local memory, as stated", NULLABLE),
	COLUMN(table_capture_row, lost, UNIT_COUNT,
		"notes about lost or guessed data, which are in notes"),
};
static const struct record capture_record =
	RECORD_OF(table_capture_row, RECORD_LINE, capture_columns);

static uint64_t count_losses(const struct trace *t)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < t->n_notes; i++)
		n += t->notes[i].kind != NOTE_INFO;
	return n;
}

/* Number of slices; NO_U64 if some track does not state it. */
static uint64_t count_stated(const struct trace *t)
{
	uint64_t n = 0;

	for (track_idx i = 0; i < t->n_tracks; i++) {
		if (!t->tracks[i].n_slices)
			return NO_U64;
		n += t->tracks[i].n_slices;
	}
	return n;
}

static bool make_captures(struct table_cursor *c, struct incore_error *e)
{
	const struct trace *t = c->trace;
	const struct trace_launch *l = &t->meta.launch;
	struct table_capture_row *v = TABLE_ROWS(c, 1, table_capture_row, e);
	double mhz = trace_clock_mhz(t);

	if (!v)
		return false;
	*v = (struct table_capture_row){.capture = c->scan.capture,
		.path = t->meta.origin,
		.kernel = t->meta.kernel,
		.arch = t->meta.arch,
		.vendor = vendor_name(t->meta.vendor),
		.format = t->meta.format,
		.evidence = evidence_name(t->meta.evidence),
		.clock_mhz = mhz > 0 ? mhz : NAN,
		.tracks = t->n_tracks,
		.slices = count_stated(t),
		.rows = t->n_code,
		.agent = l->agent,
		.dispatch = l->dispatch,
		.workgroups = l->workgroups,
		.waves = l->waves,
		.vgprs = l->vgprs,
		.sgprs = l->sgprs,
		.lds_bytes = l->lds_bytes,
		.lost = count_losses(t)};
	return true;
}

static uint64_t whole_table_estimate_one(const struct trace *t)
{
	(void)t;
	return 1;
}

const struct table captures_table = {
	.name = "captures",
	.doc = "the captures that were given",
	.record = &capture_record,
	.want = IMPORT_SIDE_FILES,
	.source = &(const struct table_source){.make = make_captures,
		.estimate = whole_table_estimate_one},
};

/* --- tracks --- */

struct track_row {
	uint32_t capture, track;
	const char *name;
	int64_t level[REQUEST_LEVELS];
	int64_t begin, end;
	int64_t slices;
	int64_t kernel_id, workgroup;
};

#define LEVEL_COLUMN(NAME, AT)                                                                     \
	COLUMN_AS(track_row, level[AT], NAME, UNIT_INDEX, "number of the track's " NAME, NULLABLE)

static const struct column track_columns[] = {
	CAPTURE_COLUMN(track_row),
	COLUMN(track_row, track, UNIT_INDEX, "number of the track, as in slices"),
	COLUMN(track_row, name, UNIT_NONE, "name of the wave's file or of the lane", NULLABLE),
	LEVEL_COLUMN("se", 0),
	LEVEL_COLUMN("cu", 1),
	LEVEL_COLUMN("simd", 2),
	LEVEL_COLUMN("slot", 3),
	LEVEL_COLUMN("wave", 4),
	LEVEL_COLUMN("core", 5),
	LEVEL_COLUMN("unit", 6),
	LEVEL_COLUMN("pipe", 7),
	COLUMN(track_row, begin, UNIT_CYCLES, "begin of the track, on the clock of slices.start"),
	COLUMN(track_row, end, UNIT_CYCLES, "end of the track, on the clock of slices.start"),
	COLUMN(track_row, slices, UNIT_COUNT,
		"instructions on the track; null: unknown without reading it", NULLABLE),
	COLUMN(track_row, kernel_id, UNIT_INDEX, "number of the kernel, if several ran", NULLABLE),
	COLUMN(track_row, workgroup, UNIT_INDEX, "number of the workgroup", NULLABLE),
};
static const struct record track_record = RECORD_OF(track_row, RECORD_LINE, track_columns);

static void whole_table_put_levels(
	const struct trace *t, const struct track *k, struct track_row *x)
{
	for (unsigned i = 0; i < REQUEST_LEVELS; i++) {
		x->level[i] = NO_I64;
		for (unsigned l = 0; l < TRACK_LEVELS && t->levels[l]; l++)
			if (strcmp(t->levels[l], request_level_names[i]) == 0)
				x->level[i] = k->coord[l];
	}
}

static bool whole_table_make_tracks(struct table_cursor *c, struct incore_error *e)
{
	const struct trace *t = c->trace;
	struct track_row *v = TABLE_ROWS(c, t->n_tracks, track_row, e);

	for (track_idx i = 0; v && i < t->n_tracks; i++) {
		const struct track *k = &t->tracks[i];
		int64_t shift = table_shift(c, i);

		v[i] = (struct track_row){.capture = c->scan.capture,
			.track = i,
			.name = k->name,
			.begin = (int64_t)k->begin_cyc + shift,
			.end = (int64_t)k->end_cyc + shift,
			.slices = k->n_slices ? k->n_slices : NO_I64,
			.kernel_id = k->kernel_id == UINT32_MAX ? NO_I64 : k->kernel_id,
			.workgroup = k->workgroup};
		whole_table_put_levels(t, k, &v[i]);
	}
	return v != NULL;
}

static uint64_t estimate_tracks(const struct trace *t)
{
	return t->n_tracks;
}

const struct table tracks_table = {
	.name = "tracks",
	.doc = "lanes of execution: waves of AMD, pipes of Ascend",
	.record = &track_record,
	.want = IMPORT_OCCUPANCY,
	.source = &(const struct table_source){.make = whole_table_make_tracks,
		.estimate = estimate_tracks},
};

/* --- code --- */

struct table_code_line {
	uint32_t capture;
	int64_t row;
	uint64_t address;
	const char *isa, *opcode, *class, *source, *line;
	bool is_label;
	struct code_totals stated;
	uint64_t samples, stalled_samples;
};

static const struct column code_columns[] = {
	CAPTURE_COLUMN(table_code_line),
	COLUMN(table_code_line, row, UNIT_ROW, "number of the instruction in the listing"),
	COLUMN(table_code_line, address, UNIT_ADDRESS, "address of the instruction"),
	COLUMN(table_code_line, isa, UNIT_NONE, "text of the instruction"),
	COLUMN(table_code_line, opcode, UNIT_NONE, "mnemonic of the instruction"),
	COLUMN(table_code_line, class, UNIT_NONE, "class of the instruction, by its text"),
	COLUMN(table_code_line, source, UNIT_NONE,
		"source file and line; frames of inlined code are joined by arrows", NULLABLE),
	COLUMN(table_code_line, line, UNIT_NONE, "innermost source line that is known", NULLABLE),
	COLUMN(table_code_line, is_label, UNIT_NONE,
		"the row is a label, the name of a symbol, and not an instruction"),
	COLUMN_AS(table_code_line, stated.hit, "stated_hit", UNIT_COUNT,
		"executions, as stated by the producer"),
	COLUMN_AS(table_code_line, stated.latency, "stated_latency", UNIT_CYCLES,
		"latency in cycles, as stated by the producer"),
	COLUMN_AS(table_code_line, stated.stall, "stated_stall", UNIT_CYCLES,
		"stall cycles, a part of the latency, as stated by the producer"),
	COLUMN_AS(table_code_line, stated.idle, "stated_idle", UNIT_CYCLES,
		"idle cycles before the instruction, as stated by the producer"),
	COLUMN(table_code_line, samples, UNIT_SAMPLES,
		"samples that found this row; null: not sampled", NULLABLE),
	COLUMN(table_code_line, stalled_samples, UNIT_SAMPLES,
		"samples that found this row stalled", NULLABLE),
};
static const struct record code_record = RECORD_OF(table_code_line, RECORD_LINE, code_columns);

static bool whole_table_make_code(struct table_cursor *c, struct incore_error *e)
{
	const struct trace *t = c->trace;
	struct table_code_line *v = TABLE_ROWS(c, t->n_code, table_code_line, e);

	for (code_idx i = 0; v && i < t->n_code; i++) {
		const struct code_row *r = &t->code[i];
		const struct code_samples *n = t->samples ? &t->samples[i] : NULL;
		struct str line;

		v[i] = (struct table_code_line){.capture = c->scan.capture,
			.row = r->number,
			.address = r->address,
			.isa = r->text,
			.opcode = t->opcodes[r->opcode],
			.class = class_name((enum inst_class)r->inst_class),
			.source = r->source && r->source[0] ? r->source : NULL,
			.is_label = r->is_label,
			.stated = r->stated,
			.samples = n ? n->issued + n->stalled : NO_U64,
			.stalled_samples = n ? n->stalled : NO_U64};
		line = hot_line_of(r);
		if (v[i].source && !(v[i].line = arena_strndup(&c->arena, line.p, line.n)))
			return err_nomem(e);
	}
	return v != NULL;
}

const struct table code_table = {
	.name = "code",
	.doc = "the instructions of the kernel, with what its producer states of them",
	.record = &code_record,
	.source = &(const struct table_source){.make = whole_table_make_code},
};

/* --- notes --- */

struct note_row {
	uint32_t capture;
	const char *kind, *code, *message, *path;
	uint64_t count;
};

static const struct column note_columns[] = {
	CAPTURE_COLUMN(note_row),
	COLUMN(note_row, kind, UNIT_NONE, "what the note means for the data: lost, guessed, ..."),
	COLUMN(note_row, code, UNIT_NONE, "stable identifier for scripts"),
	COLUMN(note_row, message, UNIT_NONE, "text of the note"),
	COLUMN(note_row, path, UNIT_NONE, "file that the note is about", NULLABLE),
	COLUMN(note_row, count, UNIT_COUNT, "number of occurrences"),
};
static const struct record note_record = RECORD_OF(note_row, RECORD_LINE, note_columns);

static bool make_notes(struct table_cursor *c, struct incore_error *e)
{
	const struct trace *t = c->trace;
	struct note_row *v = TABLE_ROWS(c, t->n_notes, note_row, e);

	for (uint32_t i = 0; v && i < t->n_notes; i++) {
		const struct note *n = &t->notes[i];

		v[i] = (struct note_row){c->scan.capture, note_kind_name(n->kind), n->code,
			n->message, n->path, n->count};
	}
	return v != NULL;
}

static uint64_t estimate_notes(const struct trace *t)
{
	return t->n_notes;
}

const struct table notes_table = {
	.name = "notes",
	.doc = "what was lost, cut, guessed or contradictory when a capture was read",
	.record = &note_record,
	.source = &(const struct table_source){.make = make_notes, .estimate = estimate_notes},
};

/* --- the list and the cursor ------------------------------------------------------------------ */

const struct table *const table_list[] = {&captures_table, &tracks_table, &code_table,
	&slices_table, &links_table, &causes_table, &producers_table, &findings_table, &notes_table,
	&metrics_table, &vendor_rules_table, NULL};

const struct table *table_find(const char *name)
{
	for (const struct table *const *t = table_list; *t; t++)
		if (strcmp((*t)->name, name) == 0)
			return *t;
	return NULL;
}

int table_column(const struct table *t, const char *name)
{
	for (uint16_t i = 0; i < t->record->n_columns; i++)
		if (strcmp(t->record->columns[i].name, name) == 0)
			return i;
	return -1;
}

size_t column_width(enum column_type type)
{
	static const uint8_t width[] = {
		[COLUMN_U64] = sizeof(uint64_t),
		[COLUMN_U32] = sizeof(uint32_t),
		[COLUMN_U16] = sizeof(uint16_t),
		[COLUMN_U8] = sizeof(uint8_t),
		[COLUMN_I64] = sizeof(int64_t),
		[COLUMN_F64] = sizeof(double),
		[COLUMN_BOOL] = sizeof(bool),
		[COLUMN_TEXT] = sizeof(const char *),
	};

	return type < sizeof(width) ? width[type] : 0;
}

/* --- a cursor --- */

static bool make_vectors(struct table_cursor *c, struct incore_error *e)
{
	const struct record *r = c->table->record;

	c->vector = arena_zalloc(&c->arena, r->n_columns, sizeof(*c->vector));
	c->column = arena_zalloc(&c->arena, r->n_columns, sizeof(*c->column));
	if (!c->vector || !c->column)
		return err_nomem(e);
	for (uint16_t i = 0; i < r->n_columns; i++) {
		if (!(c->scan.columns >> i & 1))
			continue;
		c->vector[i] =
			arena_zalloc(&c->arena, TABLE_BATCH, column_width(r->columns[i].type));
		if (!c->vector[i])
			return err_nomem(e);
		c->column[i] = c->vector[i];
	}
	return true;
}

struct table_cursor *table_open(const struct table *table, const struct trace *t,
	const struct table_scan *scan, struct incore_error *e)
{
	struct table_cursor *c = mem_zalloc(1, sizeof(*c));

	if (!c)
		return err_nomem_null(e);
	c->table = table;
	c->trace = t;
	c->scan = *scan;
	c->n_columns = table->record->n_columns;
	arena_init(&c->arena);
	c->origin_cyc = trace_origin(t);
	if (make_vectors(c, e))
		return c;
	table_close(c);
	return NULL;
}

void table_close(struct table_cursor *c)
{
	if (!c)
		return;
	if (c->table->source->close)
		c->table->source->close(c);
	arena_deinit(&c->arena);
	mem_free(c);
}

uint32_t table_failed(const struct table_cursor *c)
{
	return c->n_failed;
}

uint64_t table_estimate(const struct table *table, const struct trace *t)
{
	return table->source->estimate ? table->source->estimate(t) : (uint64_t)t->n_code + 1;
}

void *table_rows(struct table_cursor *c, size_t n, size_t size, struct incore_error *e)
{
	void *v = arena_zalloc(&c->arena, n + 1, size);

	if (!v)
		return err_nomem_null(e);
	c->rows = (struct rows){v, n};
	return v;
}

static int64_t tables_key_of(const struct table_cursor *c, const struct column *k, size_t i)
{
	const void *p = (const char *)c->rows.v + i * c->table->record->size + k->offset;

	return k->type == COLUMN_I64 ? *(const int64_t *)p : (int64_t)column_u64(k, p);
}

static bool is_rising(const struct table_cursor *c, const struct column *k)
{
	for (size_t i = 1; i < c->rows.n; i++)
		if (tables_key_of(c, k, i - 1) > tables_key_of(c, k, i))
			return false;
	return true;
}

/* Limits the rows to those whose key is in [first, last], if they are sorted by that key. */
static void narrow(
	struct table_cursor *c, const char *name, bool is_sorted, int64_t first, int64_t last)
{
	int at = table_column(c->table, name);
	const struct column *k = at < 0 ? NULL : &c->table->record->columns[at];
	size_t lo = c->at, hi = c->end;

	if (!k || !is_sorted)
		return;
	BISECT(lo, hi, i, tables_key_of(c, k, i) < first);
	c->at = lo;
	hi = c->end;
	BISECT(lo, hi, i, tables_key_of(c, k, i) <= last);
	c->end = lo;
}

/* Applies the limits on the keys that the rows are sorted by. */
static void limit_rows(struct table_cursor *c)
{
	const struct table_scan *s = &c->scan;

	c->at = 0;
	c->end = c->rows.n;
	if (s->first_track > 0 || s->last_track < UINT32_MAX)
		narrow(c, TABLE_TRACK, c->is_by_track, s->first_track, s->last_track);
	else if (s->first_row > INT64_MIN || s->last_row < INT64_MAX)
		narrow(c, TABLE_ROW, c->is_by_row, s->first_row, s->last_row);
}

static bool tables_make_rows(struct table_cursor *c, struct incore_error *e)
{
	int track = table_column(c->table, TABLE_TRACK), row = table_column(c->table, TABLE_ROW);

	if (!c->table->source->make(c, e))
		return false;
	c->is_made = true;
	c->is_by_track = track >= 0 && is_rising(c, &c->table->record->columns[track]);
	c->is_by_row = row >= 0 && is_rising(c, &c->table->record->columns[row]);
	limit_rows(c);
	return true;
}

/* Copies the next rows of an array of structs into the vectors, column by column. */
static void transpose(struct table_cursor *c)
{
	const struct record *r = c->table->record;
	size_t left = c->end - c->at;
	uint32_t n = left < TABLE_BATCH ? (uint32_t)left : TABLE_BATCH;

	for (uint16_t k = 0; k < r->n_columns; k++) {
		size_t width = column_width(r->columns[k].type);
		const char *from = (const char *)c->rows.v + c->at * r->size + r->columns[k].offset;
		char *to = c->vector[k];

		for (uint32_t i = 0; to && i < n; i++, to += width, from += r->size)
			memcpy(to, from, width);
	}
	c->at += n;
	c->n_out = n;
}

static bool next_rows(struct table_cursor *c, struct incore_error *e)
{
	const struct table_source *s = c->table->source;

	if (s->next)
		return s->next(c, e);
	if (!c->is_made && !tables_make_rows(c, e))
		return false;
	transpose(c);
	return true;
}

bool table_next(struct table_cursor *c, struct table_batch *out, struct incore_error *e)
{
	c->n_out = 0;
	if (progress_is_cancelled(c->scan.progress))
		return err_set(e, INCORE_FAILED, "cancelled", "cancelled");
	if (!next_rows(c, e))
		return false;
	*out = (struct table_batch){c->n_out, c->column};
	return true;
}

void table_rescan(struct table_cursor *c, const struct table_scan *scan)
{
	uint64_t columns = c->scan.columns;

	c->scan = *scan;
	c->scan.columns = columns;
	if (c->table->source->rewind)
		c->table->source->rewind(c);
	else if (c->is_made)
		limit_rows(c);
}

/* --- tracks --- */

#define USUAL_SLICES 1000u /* assumed for a track with an unknown number of slices */

uint64_t table_count_slices(const struct trace *t)
{
	uint64_t n = 0;

	for (track_idx i = 0; i < t->n_tracks; i++)
		n += t->tracks[i].n_slices ? t->tracks[i].n_slices : USUAL_SLICES;
	return n;
}

int64_t table_shift(const struct table_cursor *c, track_idx track)
{
	return trace_aligned(c->trace, c->trace->tracks[track].clock, 0) - c->origin_cyc;
}

/* Did the track live within the limits on time? */
static bool lived(const struct table_cursor *c, track_idx i)
{
	const struct track *k = &c->trace->tracks[i];
	int64_t shift = table_shift(c, i);

	return (int64_t)k->begin_cyc + shift <= c->scan.last_cyc &&
	       (int64_t)k->end_cyc + shift >= c->scan.first_cyc;
}

/* Converts a limit on time to the clock of a track. */
static uint64_t in_clock(int64_t cyc, int64_t shift)
{
	int64_t at;

	if (__builtin_sub_overflow(cyc, shift, &at))
		return cyc < 0 ? 0 : UINT64_MAX;
	return at > 0 ? (uint64_t)at : 0;
}

/* Sets which slices of a track are needed; false: all of them, also if tracks are cached, as later
 * scans may need the rest. */
static bool limit_slices(const struct track_walk *w, const struct table_cursor *c, track_idx i,
	struct slice_filter *f)
{
	const struct table_scan *s = &c->scan;
	int64_t shift = table_shift(c, i);

	*f = (struct slice_filter){in_clock(s->first_cyc, shift),
		s->last_cyc == INT64_MAX ? UINT64_MAX : in_clock(s->last_cyc, shift), w->first_code,
		w->last_code};
	return w->may_be_part && !s->keep &&
	       (f->first_cyc || f->last_cyc < UINT64_MAX || f->first_code ||
		       f->last_code < UINT32_MAX);
}

/* Loads a track; one that cannot be read is counted and does not end the walk. */
static bool tables_load(
	struct track_walk *w, struct table_cursor *c, track_idx i, struct incore_error *e)
{
	const struct track_data *kept = table_keep_get(c->scan.keep, i);
	unsigned less = c->scan.keep ? 0 : w->less; /* later scans may need other columns */
	struct incore_error why = {0};
	struct slice_filter filter;

	w->data = kept ? kept : &w->own;
	w->loaded = i;
	if (kept || (w->has_data && w->held == i && !(w->held_less & ~less)))
		return true;
	w->own.filter = limit_slices(w, c, i, &filter) ? &filter : NULL;
	w->has_data = trace_load_track(c->trace, i, less, &w->own, &why);
	w->own.filter = NULL;
	w->held = w->own.is_part ? NO_TRACK : i;
	w->held_less = less;
	if (w->has_data) {
		table_keep_put(c->scan.keep, i, &w->own);
		return true;
	}
	w->loaded = NO_TRACK;
	if (track_error_is_fatal(&why)) {
		err_move(e, &why);
		return false;
	}
	incore_error_clear(&why);
	c->n_failed++;
	return true;
}

bool track_walk_next(struct track_walk *w, struct table_cursor *c, struct incore_error *e)
{
	if (w->next < c->scan.first_track)
		w->next = c->scan.first_track;
	for (; w->next < c->trace->n_tracks && w->next <= c->scan.last_track; w->next++) {
		if (!lived(c, w->next))
			continue;
		if (progress_is_cancelled(c->scan.progress))
			return err_set(e, INCORE_FAILED, "cancelled", "cancelled");
		if (!tables_load(w, c, w->next, e))
			return false;
		if (w->loaded == w->next) {
			w->next++;
			return true;
		}
	}
	w->loaded = NO_TRACK;
	return true;
}
