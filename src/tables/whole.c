/* SPDX-License-Identifier: Apache-2.0 */
/* whole.c: tables of data that a trace always has in memory: captures, tracks, code, notes. */
#include <math.h>

#include "analysis/code/hot.h"
#include "answer/request.h"
#include "import/import.h"
#include "tables/source.h"

#define CAPTURE_COLUMN(S)                                                                          \
	COLUMN(S, capture, UNIT_INDEX, "number of the capture, as in the other tables")

/* --- captures --- */

struct capture_row {
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
	COLUMN(capture_row, capture, UNIT_INDEX, "number of the capture, as in the other tables"),
	COLUMN(capture_row, path, UNIT_NONE, "path that the capture was read from", NULLABLE),
	COLUMN(capture_row, kernel, UNIT_NONE, "name of the kernel", NULLABLE),
	COLUMN(capture_row, arch, UNIT_NONE, "architecture", NULLABLE),
	COLUMN(capture_row, vendor, UNIT_NONE, "vendor of the device"),
	COLUMN(capture_row, format, UNIT_NONE, "format of the capture", NULLABLE),
	COLUMN(capture_row, evidence, UNIT_NONE, "what the figures rest on"),
	COLUMN(capture_row, clock_mhz, UNIT_MHZ, "frequency of the trace clock", NULLABLE),
	COLUMN(capture_row, tracks, UNIT_COUNT, "number of waves or pipes"),
	COLUMN(capture_row, slices, UNIT_COUNT,
		"executed instructions; null: unknown without reading them", NULLABLE),
	COLUMN(capture_row, rows, UNIT_COUNT, "rows of the code, including labels"),
	COLUMN(capture_row, agent, UNIT_INDEX, "number of the device that the kernel ran on",
		NULLABLE),
	COLUMN(capture_row, dispatch, UNIT_INDEX, "number of the dispatch", NULLABLE),
	COLUMN(capture_row, workgroups, UNIT_COUNT, "workgroups launched", NULLABLE),
	COLUMN(capture_row, waves, UNIT_WAVES, "waves launched", NULLABLE),
	COLUMN(capture_row, vgprs, UNIT_COUNT, "vector registers, as stated", NULLABLE),
	COLUMN(capture_row, sgprs, UNIT_COUNT, "scalar registers, as stated", NULLABLE),
	COLUMN(capture_row, lds_bytes, UNIT_BYTES, "local memory, as stated", NULLABLE),
	COLUMN(capture_row, lost, UNIT_COUNT,
		"notes about lost or guessed data, which are in notes"),
};
static const struct record capture_record = RECORD_OF(capture_row, RECORD_LINE, capture_columns);

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
	struct capture_row *v = TABLE_ROWS(c, 1, capture_row, e);
	double mhz = trace_clock_mhz(t);

	if (!v)
		return false;
	*v = (struct capture_row){.capture = c->scan.capture,
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

static uint64_t estimate_one(const struct trace *t)
{
	(void)t;
	return 1;
}

const struct table captures_table = {
	.name = "captures",
	.doc = "the captures that were given",
	.record = &capture_record,
	.want = IMPORT_SIDE_FILES,
	.source = &(const struct table_source){.make = make_captures, .estimate = estimate_one},
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

static void put_levels(const struct trace *t, const struct track *k, struct track_row *x)
{
	for (unsigned i = 0; i < REQUEST_LEVELS; i++) {
		x->level[i] = NO_I64;
		for (unsigned l = 0; l < TRACK_LEVELS && t->levels[l]; l++)
			if (strcmp(t->levels[l], request_level_names[i]) == 0)
				x->level[i] = k->coord[l];
	}
}

static bool make_tracks(struct table_cursor *c, struct incore_error *e)
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
		put_levels(t, k, &v[i]);
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
	.source = &(const struct table_source){.make = make_tracks, .estimate = estimate_tracks},
};

/* --- code --- */

struct code_line {
	uint32_t capture;
	int64_t row;
	uint64_t address;
	const char *isa, *opcode, *class, *source, *line;
	bool is_label;
	struct code_totals stated;
	uint64_t samples, stalled_samples;
};

static const struct column code_columns[] = {
	CAPTURE_COLUMN(code_line),
	COLUMN(code_line, row, UNIT_ROW, "number of the instruction in the listing"),
	COLUMN(code_line, address, UNIT_ADDRESS, "address of the instruction"),
	COLUMN(code_line, isa, UNIT_NONE, "text of the instruction"),
	COLUMN(code_line, opcode, UNIT_NONE, "mnemonic of the instruction"),
	COLUMN(code_line, class, UNIT_NONE, "class of the instruction, by its text"),
	COLUMN(code_line, source, UNIT_NONE,
		"source file and line; frames of inlined code are joined by arrows", NULLABLE),
	COLUMN(code_line, line, UNIT_NONE, "innermost source line that is known", NULLABLE),
	COLUMN(code_line, is_label, UNIT_NONE,
		"the row is a label, the name of a symbol, and not an instruction"),
	COLUMN_AS(code_line, stated.hit, "stated_hit", UNIT_COUNT,
		"executions, as stated by the producer"),
	COLUMN_AS(code_line, stated.latency, "stated_latency", UNIT_CYCLES,
		"latency in cycles, as stated by the producer"),
	COLUMN_AS(code_line, stated.stall, "stated_stall", UNIT_CYCLES,
		"stall cycles, a part of the latency, as stated by the producer"),
	COLUMN_AS(code_line, stated.idle, "stated_idle", UNIT_CYCLES,
		"idle cycles before the instruction, as stated by the producer"),
	COLUMN(code_line, samples, UNIT_SAMPLES, "samples that found this row; null: not sampled",
		NULLABLE),
	COLUMN(code_line, stalled_samples, UNIT_SAMPLES, "samples that found this row stalled",
		NULLABLE),
};
static const struct record code_record = RECORD_OF(code_line, RECORD_LINE, code_columns);

static bool make_code(struct table_cursor *c, struct incore_error *e)
{
	const struct trace *t = c->trace;
	struct code_line *v = TABLE_ROWS(c, t->n_code, code_line, e);

	for (code_idx i = 0; v && i < t->n_code; i++) {
		const struct code_row *r = &t->code[i];
		const struct code_samples *n = t->samples ? &t->samples[i] : NULL;
		struct str line;

		v[i] = (struct code_line){.capture = c->scan.capture,
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
	.source = &(const struct table_source){.make = make_code},
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
