/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The token that a low byte begins, from gfx10 on. A prefix of p bits fills 2^(8-p) of the 256
 * entries; each generation overrides the one before it.
 */
#include "import/sqtt/gfx10.h"

struct prefix {
	uint8_t bits, value; /* the low `bits` of the token */
	uint8_t kind, length_bits;
	uint8_t time_lo, time_hi; /* 0, 0: no time field */
	uint8_t add;
};

static const struct prefix gfx10_prefixes[] = {
	{3, 0x2, GFX10_INST, 20, 4, 6, 0}, {3, 0x3, GFX10_VALU_INST, 12, 3, 5, 0},
	{4, 0xd, GFX10_IMM_ONE, 12, 4, 6, 0}, {5, 0x04, GFX10_IMMEDIATE, 24, 5, 7, 0},
	{5, 0x14, GFX10_WAVE_READY, 24, 5, 7, 0}, {7, 0x21, GFX10_NEW_PC, 64, 8, 10, 0},
	{5, 0x0c, GFX10_WAVE_START, 32, 5, 6, 0}, {5, 0x1c, GFX10_WAVE_START_EXT, 48, 5, 6, 0},
	{5, 0x05, GFX10_SKIP, 20, 5, 7, 0}, /* WAVE_ALLOC */
	{5, 0x15, GFX10_WAVE_END, 20, 5, 7, 0}, {5, 0x06, GFX10_SHADER_DATA, 52, 5, 7, 0},
	{5, 0x16, GFX10_SHADER_DATA_SHORT, 28, 5, 7, 0},
	{7, 0x31, GFX10_SKIP, 64, 7, 8, 0}, /* UTIL_COUNTER */
	{4, 0x8, GFX10_TIME, 8, 4, 7, 4}, {4, 0x0, GFX10_NOP, 4, 0, 0, 0},
	{7, 0x51, GFX10_MISC, 24, 7, 15, 0}, {8, 0x61, GFX10_EVENT, 24, 8, 10, 0},
	{8, 0xe1, GFX10_SKIP, 32, 8, 10, 0}, /* EVENT_SYNC */
	{4, 0x9, GFX10_REG, 64, 4, 6, 0}, {7, 0x71, GFX10_REG_INIT, 64, 7, 9, 0},
	{7, 0x01, GFX10_TIMESTAMP, 64, 0, 0, 0}, {7, 0x11, GFX10_HEADER, 64, 0, 0, 0},
	{4, 0xe, GFX10_SKIP, 8, 4, 5, 0}, /* ALU_EXEC */
	{4, 0xf, GFX10_SKIP, 8, 4, 5, 0}, /* VMEM_EXEC */
};

static const struct prefix gfx11_prefixes[] = {
	{7, 0x31, GFX10_SKIP, 48, 7, 8, 0}, /* UTIL_COUNTER */
	{7, 0x01, GFX10_TIMESTAMP, 48, 0, 0, 0},
};

static const struct prefix gfx12_prefixes[] = {
	{3, 0x2, GFX10_INST, 20, 3, 5, 0},
	{7, 0x21, GFX10_NEW_PC, 72, 8, 10, 0},
	{5, 0x1c, GFX10_WAVE_START_EXT, 40, 5, 6, 0},
	{5, 0x05, GFX10_SKIP, 24, 5, 7, 0}, /* WAVE_ALLOC */
	{5, 0x06, GFX10_UNKNOWN, 8, 0, 0, 0},
	{5, 0x16, GFX10_UNKNOWN, 8, 0, 0, 0},
	{7, 0x06, GFX10_SHADER_DATA, 56, 7, 9, 0},
	{7, 0x46, GFX10_SHADER_DATA_SHORT, 32, 7, 9, 0},
	{7, 0x66, GFX10_SKIP, 24, 7, 9, 0}, /* EXEC_POPCOUNT1 */
	{6, 0x16, GFX10_SKIP, 48, 6, 8, 0}, /* EXEC_POPCOUNT3 */
	{7, 0x01, GFX10_TIMESTAMP, 64, 0, 0, 0},
};

/* MI400: taken from source text, never seen. VALU_INST encodes its time in its value. */
static const struct prefix mi400_prefixes[] = {
	{3, 0x2, GFX10_UNKNOWN, 8, 0, 0, 0}, {4, 0x2, GFX10_INST, 24, 4, 5, 0},
	{3, 0x3, GFX10_VALU_INST, 8, 0, 0, 0}, {4, 0x0, GFX10_NOP, 8, 0, 0, 0},
	{4, 0xd, GFX10_IMM_ONE, 16, 7, 9, 0}, {5, 0x15, GFX10_UNKNOWN, 8, 0, 0, 0},
	{7, 0x41, GFX10_WAVE_END, 24, 7, 9, 0}, {8, 0x26, GFX10_SKIP, 24, 8, 9, 0}, /* LDS_CONFIG */
	{7, 0x51, GFX10_MISC, 24, 7, 9, 0}, {4, 0x8, GFX10_UNKNOWN, 8, 0, 0, 0},
	{4, 0xe, GFX10_TIME, 8, 4, 7, 1}, {8, 0xa6, GFX10_SKIP, 16, 8, 15, 0}, /* MEDIUM_TIME */
};

static void fill(struct gfx10_entry *table, const struct prefix *p, size_t n)
{
	for (; n--; p++) {
		struct gfx10_entry x = {.kind = p->kind,
			.nibbles = (uint8_t)(p->length_bits / 4),
			.shift = p->time_lo,
			.add = p->add};

		if (p->time_hi)
			x.mask = (uint16_t)((2u << (p->time_hi - p->time_lo)) - 1);
		for (unsigned b = p->value; b < 256; b += 1u << p->bits)
			table[b] = x;
	}
}

#define FILL(table, prefixes) fill(table, prefixes, sizeof(prefixes) / sizeof((prefixes)[0]))

/* Two equivalent tokens: both name the wave; the kind is a code, or implied. */
static void place_issue(struct gfx10_entry *x, unsigned layout)
{
	unsigned at = layout >= 12 ? 6 : 7;

	if (x->kind == GFX10_INST) {
		x->w64_shift = (uint8_t)at;
		x->code_shift = (uint8_t)(at + 6);
		x->code_mask = layout >= 12 ? 0xff : 0x7f;
	} else {
		x->w64_shift = 6;
		x->code_base = GFX10_VALU_CODE;
	}
	x->kind = GFX10_ISSUE;
}

void gfx10_table(struct gfx10_entry table[256], const struct sqtt_stream *s, unsigned layout)
{
	for (unsigned b = 0; b < 256; b++)
		table[b] = (struct gfx10_entry){.kind = GFX10_UNKNOWN, .nibbles = 2};
	FILL(table, gfx10_prefixes);
	if (s->gfx_major >= 11)
		FILL(table, gfx11_prefixes);
	if (s->gfx_major >= 12)
		FILL(table, gfx12_prefixes);
	if (s->is_mi400)
		FILL(table, mi400_prefixes);
	for (unsigned b = 0; b < 256 && !s->is_mi400; b++)
		if (table[b].kind == GFX10_INST || table[b].kind == GFX10_VALU_INST)
			place_issue(&table[b], layout);
}

static struct gfx10_quiet add_up(const struct gfx10_entry *table, unsigned bits)
{
	struct gfx10_quiet q = {0, 0};

	/* a run of only padding is skipped word by word, as it may continue after these 12 bits */
	while (bits && q.nibbles < 3) {
		const struct gfx10_entry *x = &table[bits & 0xff];

		if (x->kind > GFX10_LAST_QUIET || x->nibbles > 2 || q.nibbles + x->nibbles > 3)
			break;
		q.delta = (uint8_t)(q.delta + (bits >> x->shift & x->mask) + x->add);
		q.nibbles = (uint8_t)(q.nibbles + x->nibbles);
		bits >>= 4 * x->nibbles;
	}
	return q;
}

void gfx10_quiets(struct gfx10_quiet quiets[GFX10_QUIETS], const struct gfx10_entry table[256])
{
	for (unsigned i = 0; i < GFX10_QUIETS; i++)
		quiets[i] = add_up(table, i);
}
