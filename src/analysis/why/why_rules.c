/* SPDX-License-Identifier: Apache-2.0 */
/* why_rules.c: how long one instruction delays another, by generation. */
#include "analysis/why/why_rules.h"

#include "analysis/waves/matrix_passes.h"
#include "base/mem.h"
#include "isa/amd_waits.h"

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
