/* SPDX-License-Identifier: Apache-2.0 */
/* why.c: sums the parts of causes by row and by wave, independently of the number of workers. */
#include "analysis/why/why.h"

#include "analysis/waves/matrix_passes.h"
#include "analysis/why/why_internal.h"
#include "analysis/why/why_rules.h"
#include "base/mem.h"
#include "base/search.h"
#include "isa/amd_waits.h"

/* --- rules ------------------------------------------------------------------------------------ */

#define BIT(c) (UINT32_C(1) << CLASS_##c)
#define VMEM_BITS (BIT(VMEM_LOAD) | BIT(VMEM_STORE) | BIT(VMEM_ATOMIC) | BIT(VMEM_TO_LDS))
#define LDS_BITS (BIT(LDS) | BIT(LDS_XLANE))
#define MEMORY_BITS (VMEM_BITS | LDS_BITS)
#define SCALAR_BITS (BIT(SALU) | BIT(SMEM))
#define VECTOR_BITS (BIT(VALU) | BIT(TRANS) | BIT(MATRIX))

/* gfx950, 984 waves of 15 captures. */
static const struct why_rule gfx9_rules[] = {
	{BIT(VALU), MEMORY_BITS, WHEN_ANY, 12},
	{BIT(TRANS), MEMORY_BITS, WHEN_ANY, 16},
	{BIT(VALU), SCALAR_BITS, WHEN_SCALAR, 20},
	{BIT(VALU), BIT(BRANCH), WHEN_READS, 24},
	{BIT(SALU), MEMORY_BITS, WHEN_ANY, 8},
	{BIT(SALU), BIT(BRANCH), WHEN_READS, 8},
	{0, 0, 0, 0},
};

/* gfx1100 and gfx1200 share the first three; one clock per cycle. */
static const struct why_rule gfx11_rules[] = {
	{BIT(VALU), VECTOR_BITS, WHEN_READS, 5},
	{BIT(VALU) | BIT(TRANS), MEMORY_BITS, WHEN_ANY, 17},
	{BIT(VALU), BIT(BRANCH), WHEN_READS, 16},
	{BIT(SALU), BIT(SALU), WHEN_READS, 2},
	{0, 0, 0, 0},
};

static const struct why_rule gfx12_rules[] = {
	{BIT(VALU), VECTOR_BITS, WHEN_READS, 5},
	{BIT(VALU) | BIT(TRANS), MEMORY_BITS, WHEN_ANY, 17},
	{BIT(VALU), BIT(BRANCH), WHEN_READS, 16},
	{BIT(SALU), BIT(SALU), WHEN_READS, 9},
	{BIT(SALU), BIT(BRANCH), WHEN_READS, 10},
	{0, 0, 0, 0},
};

const struct why_chip *why_chip_of(const struct trace *t)
{
	static const struct why_chip gfx9 = {.rules = gfx9_rules,
		.fetch_bytes = 32,
		.cold_cyc = 32,
		.silence_cyc = 160,
		.wake_cyc = 8,
		.packed_cyc = 12,
		.has_turns = true};
	static const struct why_chip gfx11 = {
		.rules = gfx11_rules, .fetch_bytes = 32, .cold_cyc = 32, .matrix_is_serial = true};
	static const struct why_chip gfx12 = {
		.rules = gfx12_rules, .fetch_bytes = 32, .cold_cyc = 32, .matrix_is_serial = true};

	return t->meta.gfx_major <= 9 ? &gfx9 : t->meta.gfx_major < 12 ? &gfx11 : &gfx12;
}

static uint8_t queue_of(const struct amd_wait_row *w)
{
	if (w->role != AMD_ROLE_PRODUCER)
		return QUEUE_NONE;
	switch (w->order) {
	case AMD_ORDER_LDS:
		return QUEUE_LDS;
	case AMD_ORDER_SMEM:
		return QUEUE_SMEM;
	case AMD_ORDER_MSG:
	case AMD_ORDER_EXPORT:
		return QUEUE_NONE;
	default:
		return QUEUE_VMEM;
	}
}

/* Bytes up to the next row of the same code; the longest instruction has 20 bytes. */
static uint16_t bytes_of(const struct trace *t, code_idx i)
{
	const struct code_row *r = &t->code[i];

	for (code_idx k = i + 1; k < t->n_code && k < i + 3; k++)
		if (!t->code[k].is_label && t->code[k].code_object == r->code_object &&
			t->code[k].address > r->address && t->code[k].address - r->address <= 20)
			return (uint16_t)(t->code[k].address - r->address);
	return 4;
}

/* How long a matrix instruction of gfx9 takes to read its operands: scaled ones have more operands,
 * and 8-bit operands are twice as wide. */
static uint16_t hold_of(struct str text, const struct amd_reg_list *reads)
{
	bool is_wide = false;

	for (unsigned i = 0; i < reads->n; i++)
		is_wide |= reads->v[i].first + 7 == reads->v[i].last;
	return !str_has(text, "f8f6f4") ? 8 : is_wide ? 16 : 12;
}

struct why_code *why_code_new(const struct trace *t)
{
	struct why_code *v = mem_zalloc((size_t)t->n_code + 1, sizeof(*v));
	uint32_t *passes = mem_zalloc((size_t)t->n_code + 1, sizeof(*passes));

	if (v && passes)
		matrix_passes(t, passes);
	for (code_idx i = 0; v && passes && i < t->n_code; i++) {
		const struct code_row *r = &t->code[i];
		struct str text = {r->text, r->text_len};
		struct amd_wait_row w;

		if (r->is_label)
			continue;
		w = amd_wait_row(t->meta.gfx_major, text);
		amd_operands_row(t->meta.gfx_major, text, &v[i].regs);
		v[i].bytes = bytes_of(t, i);
		v[i].kind = queue_of(&w);
		v[i].writes_scalar = amd_regs_has_scalar(&v[i].regs.writes);
		v[i].is_packed = str_starts(text, "v_pk_") && str_has(text, "_f32");
		v[i].passes_cyc = (uint16_t)(passes[i] < 1024 ? passes[i] : 0);
		if (r->inst_class == CLASS_MATRIX && t->meta.gfx_major == 9)
			v[i].hold_cyc = hold_of(text, &v[i].regs.reads);
	}
	mem_free(passes);
	if (!passes) {
		mem_free(v);
		return NULL;
	}
	return v;
}

/* The matrix pipe is held for all passes if the later instruction needs it, too, else until the
 * operands are read. */
static uint64_t matrix_hold(
	const struct why_chip *chip, const struct why_code *first, struct why_inst then)
{
	enum simd_unit unit = class_unit(then.inst_class);
	bool is_vector = unit == SIMD_VALU || unit == SIMD_MATRIX;

	if (!is_vector && then.code->kind != QUEUE_VMEM && then.code->kind != QUEUE_LDS)
		return 0;
	if (first->passes_cyc && then.inst_class == CLASS_MATRIX)
		return first->passes_cyc;
	if (first->passes_cyc && then.code->is_packed && chip->packed_cyc)
		return (uint64_t)first->passes_cyc + chip->packed_cyc;
	return first->hold_cyc;
}

uint64_t why_hold_cyc(
	const struct why_chip *chip, struct why_inst first, struct why_inst then, bool *reads)
{
	uint64_t most = 0, hold;

	*reads = amd_regs_meet(&first.code->regs.writes, &then.code->regs.reads);
	for (const struct why_rule *r = chip->rules; r->cyc; r++)
		if (r->first >> first.inst_class & 1 && r->then >> then.inst_class & 1 &&
			r->cyc > most &&
			(r->when == WHEN_ANY || (r->when == WHEN_READS && *reads) ||
				(r->when == WHEN_SCALAR && first.code->writes_scalar)))
			most = r->cyc;
	hold = first.inst_class == CLASS_MATRIX ? matrix_hold(chip, first.code, then) : 0;
	return hold > most ? hold : most;
}

/* --- all units -------------------------------------------------------------------------------- */

const char *why_word_name(enum why_word w)
{
	static const char *const names[WHY_WORDS] = {"register", "own-pipe", "other-wave",
		"other-simd", "queue", "wake", "fetch", "hazard-padding", "launch", "tail",
		"unknown"};

	return (unsigned)w < WHY_WORDS ? names[w] : "unknown";
}

const char *why_sure_name(enum why_sure s)
{
	static const char *const names[WHY_SURES] = {"certain", "likely", "weak", "none"};

	return (unsigned)s < WHY_SURES ? names[s] : "none";
}

bool why_splits(enum cause_kind k)
{
	return k == CAUSE_PIPE_STALL || (k >= CAUSE_NOP_PADDING && k <= CAUSE_TAIL);
}

struct why *why_new(const struct trace *t, const struct busy *busy, const struct causes *causes,
	struct incore_error *e)
{
	struct why *w = mem_zalloc(1, sizeof(*w));

	if (w) {
		w->trace = t;
		w->busy = busy;
		w->causes = causes;
		w->code = why_code_new(t);
		w->tracks = mem_zalloc((size_t)t->n_tracks + 1, sizeof(*w->tracks));
		if (w->code && w->tracks)
			return w;
	}
	why_free(w);
	return err_nomem_null(e);
}

void why_free(struct why *w)
{
	if (!w)
		return;
	mem_free(w->code);
	mem_free(w->tracks);
	mem_free(w->cells);
	mem_free(w);
}

static bool same_verdict(const struct why_cell *a, const struct why_cell *b)
{
	return a->kind == b->kind && a->inst_class == b->inst_class && a->word == b->word &&
	       a->sure == b->sure;
}

void why_gather_add(struct why_gather *g, const struct why_cell *c)
{
	uint64_t *at = u64_map_at(&g->index, (uint64_t)c->code << 32 | c->of), i;

	for (i = at ? *at : 0; i && !same_verdict(&g->cells.v[i - 1], c);
		i = g->cells.v[i - 1].next)
		;
	if (i) {
		struct why_cell *to = &g->cells.v[i - 1];

		to->cyc += c->cyc;
		to->hidden_cyc += c->hidden_cyc;
		to->hits += c->hits;
		to->latency_cyc += c->latency_cyc;
	} else if (at && VEC_PUSH(&g->cells, *c)) {
		g->cells.v[g->cells.n - 1].next = (uint32_t)*at;
		*at = g->cells.n;
	} else {
		g->has_failed = true;
	}
}

/* --- all compute units ---------------------------------------------------------------------- */

struct why_units {
	struct why *why;
	struct selection selection;
	struct progress *progress;
	VEC(track_idx) first; /* first and end track of each unit with a selected wave */
	struct why_gather *gathers;
};

static bool same_unit(const struct trace *t, track_idx a, track_idx b)
{
	for (int k = 0; k < TRACK_LEVELS && t->levels[k]; k++) {
		if (strcmp(t->levels[k], "simd") == 0)
			return t->tracks[a].clock == t->tracks[b].clock;
		if (t->tracks[a].coord[k] != t->tracks[b].coord[k])
			return false;
	}
	return false;
}

/* Tracks are sorted by coordinates, so the waves of a compute unit are adjacent. */
static bool find_units(struct why_units *u, struct incore_error *e)
{
	const struct trace *t = u->why->trace;

	for (track_idx i = 0, end; i < t->n_tracks; i = end) {
		bool is_wanted = false;

		for (end = i; end < t->n_tracks && (end == i || same_unit(t, i, end)); end++)
			is_wanted |= selection_has(&u->selection, t, &t->tracks[end]);
		if (is_wanted && (!VEC_PUSH(&u->first, i) || !VEC_PUSH(&u->first, end)))
			return err_nomem(e);
	}
	return true;
}

static bool run_unit(void *ctx, size_t item, unsigned worker, struct incore_error *e)
{
	struct why_units *u = ctx;
	const track_idx unit[2] = {u->first.v[2 * item], u->first.v[2 * item + 1]};

	progress_add(u->progress, 1);
	if (progress_is_cancelled(u->progress))
		return err_set(e, INCORE_FAILED, "cancelled", "cancelled");
	return why_sweep_unit(u->why, &u->selection, unit, &u->gathers[worker], e);
}

ORDER(by_place, struct why_cell,
	UP(code) UP(kind) UP(inst_class) DOWN(cyc) UP(word) UP(sure) UP(of))

static bool why_finish(struct why *w, struct why_gather *g, struct incore_error *e)
{
	if (g->has_failed)
		return err_nomem(e);
	w->cells = g->cells.v;
	w->n_cells = (uint32_t)g->cells.n;
	g->cells.v = NULL;
	g->cells.n = g->cells.cap = 0;
	SORT(w->cells, w->n_cells, by_place);
	EACH (const struct why_track, k, w->tracks, w->trace->n_tracks) {
		uint64_t parts = 0;

		if (!k->is_selected)
			continue;
		w->n_waves++;
		w->lump_cyc += k->lump_cyc;
		for (unsigned i = 0; i < WHY_WORDS; i++) {
			parts += k->cyc[i];
			w->cyc[i] += k->cyc[i];
			w->hidden_cyc[i] += k->hidden_cyc[i];
		}
		w->residue_cyc +=
			(int64_t)(parts > k->lump_cyc ? parts - k->lump_cyc : k->lump_cyc - parts);
	}
	return true;
}

static bool merge_gathers(struct why_units *u, unsigned n, struct incore_error *e)
{
	for (unsigned i = 1; i < n; i++) {
		EACH (const struct why_cell, c, u->gathers[i].cells.v, u->gathers[i].cells.n)
			why_gather_add(&u->gathers[0], c);
		u->gathers[0].has_failed |= u->gathers[i].has_failed;
	}
	return why_finish(u->why, &u->gathers[0], e);
}

/* Both passes read every wave; one that only the first could read would be missing from the
 * parts. */
static bool is_same_capture(const struct why *w, struct incore_error *e)
{
	uint64_t cyc = 0;

	EACH (const struct cause, c, w->causes->v, w->causes->n)
		cyc += why_splits(c->kind) ? c->cyc : 0;
	return cyc == w->lump_cyc ||
	       err_set(e, INCORE_BAD_INPUT, "unreadable",
		       "a wave was read once and could not be read again: the capture changed meanwhile");
}

bool why_run(struct why *w, const struct walk_options *o, struct incore_error *e)
{
	struct why_units u = {.why = w, .progress = o->progress};
	unsigned n = o->pool ? pool_size(o->pool) : 1;
	bool ok;

	if (o->selection)
		u.selection = *o->selection; /* its sets are borrowed */
	u.selection.origin_cyc = trace_origin(w->trace);
	u.selection.has_origin = true;
	u.gathers = mem_zalloc(n, sizeof(*u.gathers));
	ok = (u.gathers || err_nomem(e)) && find_units(&u, e);
	if (ok) {
		progress_begin(o->progress, "units", u.first.n / 2);
		ok = pool_run(o->pool, u.first.n / 2, 1, run_unit, &u, e);
		progress_end(o->progress);
	}
	ok = ok && merge_gathers(&u, n, e) && is_same_capture(w, e);
	for (unsigned i = 0; u.gathers && i < n; i++) {
		VEC_FREE(&u.gathers[i].cells);
		u64_map_deinit(&u.gathers[i].index);
	}
	mem_free(u.gathers);
	VEC_FREE(&u.first);
	return ok;
}
