/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.c: the code table of the trace, with the data of API_INSTR or the CSV files for each row,
 * the sources, and the notes about everything that was only counted.
 */
#include <math.h>

#include "base/hash.h"
#include "import/ascend/ascend.h"

/* --- totals --- */

struct stated_check {
	uint64_t n_counts, n_cycles; /* rows where trace and table disagree */
	uint64_t example;
};

static uint64_t ascend_rows_row_key(unsigned kind, uint64_t pc, struct str opcode)
{
	return hash_bytes(opcode.p, opcode.n, hash_mix64(pc) ^ (uint64_t)kind << 1);
}

static struct str ascend_rows_first_word(struct str text)
{
	ptrdiff_t blank = str_find(text, " ");

	return blank > 0 ? str_sub(text, 0, (size_t)blank) : text;
}

/* First row of each PC; a flag may have several. */
static bool ascend_rows_index_rows(struct asc_build *b, struct u64_map *at)
{
	for (size_t i = 0; i < b->code.n; i++) {
		const struct code_row *c = &b->code.v[i];
		uint64_t *k = u64_map_at(at, ascend_rows_row_key(c->code_object, c->address,
						     b->opcodes.strs[c->opcode]));

		if (!k)
			return false;
		if (*k == 0)
			*k = i + 1;
	}
	return true;
}

static bool add_stated_row(struct asc_build *b, const struct asc_stated *s, uint64_t *at)
{
	ptrdiff_t blank = str_find(s->text, " ");
	struct asc_op op = {.kind = s->kind,
		.is_kind_known = true,
		.pc = s->pc,
		.name = blank > 0 ? str_sub(s->text, 0, (size_t)blank) : s->text,
		.detail = blank > 0 ? str_sub(s->text, (size_t)blank + 1, s->text.n) : STR(""),
		.code = s->source};
	uint32_t code = asc_code(b, &op);

	if (code == NO_CODE)
		return false;
	*at = (uint64_t)code + 1;
	b->code.v[code].inst_class = (uint8_t)ascend_class(
		ascend_pipe_of_lane(s->pipe), b->opcodes.strs[b->code.v[code].opcode]);
	return true;
}

static void ascend_rows_compare(
	const struct asc_build *b, const struct asc_stated *s, code_idx i, struct stated_check *c)
{
	const struct asc_row *r = &b->rows.v[i];
	uint64_t off;

	if (r->n == 0 || s->calls < 0 || r->sync != SYNC_NONE)
		return;
	if ((uint64_t)s->calls != r->n) {
		c->example = c->n_counts++ ? c->example : s->pc;
		return;
	}
	off = r->cyc > (uint64_t)s->cycles ? r->cyc - (uint64_t)s->cycles
					   : (uint64_t)s->cycles - r->cyc;
	/* Rounding to 1 ns changes an execution by up to 2 cycles, a 32-bit float by one. */
	if (s->cycles >= 0 && off > 2 * r->n)
		c->n_cycles++;
}

static bool ascend_rows_put_stated(struct asc_build *b, struct stated_check *c)
{
	struct u64_map at = {0};
	bool ok = ascend_rows_index_rows(b, &at);

	for (size_t i = 0; ok && i < b->stated.n; i++) {
		const struct asc_stated *s = &b->stated.v[i];
		uint64_t *k = u64_map_at(
			&at, ascend_rows_row_key(s->kind, s->pc, ascend_rows_first_word(s->text)));
		struct code_row *row;

		ok = k && (*k || s->calls <= 0 || add_stated_row(b, s, k));
		if (!ok || !*k)
			continue;
		row = &b->code.v[*k - 1];
		ok = row->n_frames || !s->source.n || asc_add_frames(b, row, s->source);
		row->stated.hit += s->calls > 0 ? (uint64_t)s->calls : 0;
		row->stated.latency += s->cycles > 0 ? (uint64_t)s->cycles : 0;
		b->trace->has_stated_totals = true;
		ascend_rows_compare(b, s, (code_idx)(*k - 1), c);
	}
	u64_map_deinit(&at);
	return ok;
}

static bool note_stated(struct asc_build *b, const struct stated_check *c)
{
	const char *who = b->has_api ? "API_INSTR" : "instr_exe";

	if (c->n_counts &&
		!trace_note(b->trace, "stated-counts", b->path, INCORE_NO_OFFSET, c->n_counts,
			"%s states another number of executions than the trace has, for %llu instructions (0x%llx is one)",
			who, (unsigned long long)c->n_counts, (unsigned long long)c->example))
		return false;
	return !c->n_cycles ||
	       trace_note(b->trace, "stated-cycles", b->path, INCORE_NO_OFFSET, c->n_cycles,
		       "%s states other cycles than the trace makes at %.0f MHz, for %llu instructions",
		       who, trace_clock_mhz(b->trace), (unsigned long long)c->n_cycles);
}

/* --- CSV files beside API_INSTR --- */

/* Sums per kind and PC: a CSV file is of one core, a row of the code table of all cores of a
 * kind. */
static bool sum_csv(struct asc_build *b, struct u64_map *at)
{
	size_t n = 0;

	EACH (struct asc_stated, s, b->csv.v, b->csv.n) {
		uint64_t *k = u64_map_at(
			at, ascend_rows_row_key(s->kind, s->pc, ascend_rows_first_word(s->text)));

		if (!k)
			return false;
		if (*k == 0) {
			b->csv.v[n] = *s;
			*k = ++n;
		} else {
			b->csv.v[*k - 1].calls += s->calls;
			b->csv.v[*k - 1].cycles += s->cycles;
		}
	}
	b->csv.n = n;
	return true;
}

/* A table that names no core belongs to the only kind there is. */
static void settle_kinds(struct asc_build *b)
{
	enum ascend_core kind = b->units.n ? b->units.v[0].at.kind : ASCEND_PLAIN;

	for (size_t i = 0; i < b->units.n; i++)
		if (b->units.v[i].at.kind != kind)
			return;
	for (size_t i = 0; i < b->csv.n; i++)
		if (!b->csv.v[i].is_kind_known)
			b->csv.v[i].kind = kind;
	for (size_t i = 0; i < b->stated.n; i++)
		if (!b->stated.v[i].is_kind_known)
			b->stated.v[i].kind = kind;
}

bool asc_merge_csv(struct asc_build *b)
{
	struct u64_map at = {0};
	uint64_t n_differ = 0;
	bool ok;

	settle_kinds(b);
	ok = sum_csv(b, &at);

	if (ok && !b->has_api) {
		for (size_t i = 0; ok && i < b->csv.n; i++)
			ok = VEC_PUSH(&b->stated, b->csv.v[i]);
		u64_map_deinit(&at);
		return ok;
	}
	for (size_t i = 0; ok && b->csv.n && i < b->stated.n; i++) {
		const struct asc_stated *s = &b->stated.v[i];
		uint64_t *k = u64_map_find(
			&at, ascend_rows_row_key(s->kind, s->pc, ascend_rows_first_word(s->text)));

		n_differ += k && (b->csv.v[*k - 1].cycles != s->cycles ||
					 b->csv.v[*k - 1].calls != s->calls);
	}
	u64_map_deinit(&at);
	return ok &&
	       (!n_differ ||
		       trace_note(b->trace, "csv-differs", b->path, INCORE_NO_OFFSET, n_differ,
			       "API_INSTR and the CSV files state different totals for %llu instructions",
			       (unsigned long long)n_differ));
}

/* --- sources --- */

static uint32_t ascend_rows_count_lines(struct str text)
{
	uint32_t n = 0;

	for (size_t i = 0; i < text.n && n < UINT32_MAX; i++)
		n += text.p[i] == '\n';
	return n + (text.n && text.p[text.n - 1] != '\n');
}

bool asc_add_source(struct asc_build *b, struct str path, struct str text)
{
	struct source_file f = {0};
	uint32_t at = intern_add(&b->sources, path);

	if (at == INTERN_NONE)
		return false;
	f.snapshot = arena_strndup(&b->trace->arena, path.p, path.n);
	f.text = arena_strndup(&b->trace->arena, text.n ? text.p : "", text.n);
	f.text_len = text.n;
	f.n_lines = ascend_rows_count_lines(text);
	while (b->texts.n <= at)
		if (!VEC_PUSH(&b->texts, (struct source_file){0}))
			return false;
	b->texts.v[at] = f;
	return f.snapshot && f.text;
}

static bool ascend_rows_put_sources(struct asc_build *b)
{
	struct trace *t = b->trace;

	t->n_sources = b->sources.n;
	t->sources = arena_zalloc(&t->arena, (size_t)b->sources.n + 1, sizeof(*t->sources));
	if (!t->sources)
		return false;
	for (uint32_t i = 0; i < b->sources.n; i++) {
		if (i < b->texts.n)
			t->sources[i] = b->texts.v[i];
		t->sources[i].path =
			arena_strndup(&t->arena, b->sources.strs[i].p, b->sources.strs[i].n);
		if (!t->sources[i].path)
			return false;
	}
	t->n_frames = (uint32_t)b->frames.n;
	t->frames = arena_memdup(&t->arena, b->frames.v, b->frames.n * sizeof(*b->frames.v));
	return b->frames.n == 0 || t->frames;
}

bool asc_put_code(struct asc_build *b, struct incore_error *e)
{
	struct trace *t = b->trace;
	struct stated_check c = {0};

	if (!ascend_rows_put_stated(b, &c) || !note_stated(b, &c) || !ascend_rows_put_sources(b))
		return err_nomem(e);
	t->n_opcodes = b->opcodes.n;
	t->opcodes = arena_zalloc(&t->arena, (size_t)b->opcodes.n + 1, sizeof(*t->opcodes));
	if (!t->opcodes)
		return err_nomem(e);
	for (uint32_t i = 0; i < b->opcodes.n; i++) {
		t->opcodes[i] =
			arena_strndup(&t->arena, b->opcodes.strs[i].p, b->opcodes.strs[i].n);
		if (!t->opcodes[i])
			return err_nomem(e);
	}
	t->n_code = (uint32_t)b->code.n;
	t->code = arena_memdup(&t->arena, b->code.v, b->code.n * sizeof(*b->code.v));
	return b->code.n == 0 || t->code || err_nomem(e);
}

/* --- counted losses --- */

static const struct {
	const char *code, *what;
} count_notes[ASC_COUNTS] = {
	[ASC_NO_TS] = {"no-timestamp", "events without a time were dropped"},
	[ASC_BAD_TS] = {"bad-timestamp",
		"events were dropped: their time is negative, no number or too large"},
	[ASC_BAD_DUR] = {"bad-duration",
		"slices have a length that is negative or no number: taken as 0"},
	[ASC_UNPAIRED] = {"unpaired", "B or E events have no other half and were dropped"},
	[ASC_BACKWARDS] = {"backwards", "slices end before they begin: taken as empty"},
	[ASC_UNKNOWN_PH] = {"unknown-phase", "events of an unknown kind were passed over"},
	[ASC_NO_LANE] = {"no-lane", "events have no pid or tid and were dropped"},
	[ASC_NOT_OBJECT] = {"not-an-event", "items of traceEvents are no objects"},
	[ASC_LONE_HEAD] = {"lone-head",
		"cache_time or ccu_time slices belong to no instruction and were dropped"},
	[ASC_CLAMPED] = {"clamped", "lengths were cut to what 32 bits hold"},
	[ASC_BAD_COUNTER] = {"bad-counter", "counter values are no number"},
};

/* The step between two times at the end of the trace; with a step of at most 1, cycles are
 * exact. */
static double float_step_cyc(const struct asc_build *b)
{
	double step_us = b->float_us > 0 ? ldexp(1, ilogb(b->float_us) - 23) : 0;

	if (b->is_ticks || b->has_metadata || b->has_late_double)
		return 0;
	return step_us * trace_clock_mhz(b->trace);
}

bool asc_count_notes(struct asc_build *b, struct incore_error *e)
{
	b->counts[ASC_UNPAIRED] += b->n_open;
	for (int i = 0; i < ASC_COUNTS; i++)
		if (b->counts[i] && !trace_note(b->trace, count_notes[i].code, b->path,
					    INCORE_NO_OFFSET, b->counts[i], "%llu %s",
					    (unsigned long long)b->counts[i], count_notes[i].what))
			return err_nomem(e);
	/* Our own files state the clock, and their times round to whole cycles. */
	if (!b->is_ticks && !b->has_metadata && b->n_slices && b->is_quantised && !b->is_inexact &&
		!asc_note(b, "quantised", INCORE_NO_OFFSET,
			"time quantised to 1 ns: a start or an end is right to +-1 cycle"))
		return err_nomem(e);
	if (float_step_cyc(b) > 1 &&
		!asc_note(b, "float-time", INCORE_NO_OFFSET,
			"late times are floats of 32 bits: at %.0f us their step is %.1f cycles",
			b->float_us, float_step_cyc(b)))
		return err_nomem(e);
	if (b->is_cleaned &&
		!asc_note(b, "cleaned-input", INCORE_NO_OFFSET,
			"this is cleaned output: its sub-lanes were folded back into their pipes"))
		return err_nomem(e);
	return true;
}
