/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tokens_gfx10.c: the tokens of gfx10, gfx11, gfx12 and MI400 streams: multiples of 4 bits, found
 * by their low byte. This file keeps the clock, sorts tokens and extracts their fields. The loop over
 * tokens and their effects are compiled together.
 *
 * Parts: which token a byte begins; codes of an INST token; tokens.
 */
#include "import/sqtt/gfx10.h"

/* --- which token a byte begins ---------------------------------------------------------------- */

/*
 * The token that a low byte begins, from gfx10 on. A prefix of p bits fills 2^(8-p) of the 256
 * entries; each generation overrides the one before it.
 */

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

static void tokens_gfx10_table_fill(struct gfx10_entry *table, const struct prefix *p, size_t n)
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

#define FILL_PREFIXES(table, prefixes)                                                             \
	tokens_gfx10_table_fill(table, prefixes, sizeof(prefixes) / sizeof((prefixes)[0]))

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

/* Fills the 256 entries, one for each low byte; layout: generation of the fields of INST. */
static void gfx10_table(struct gfx10_entry table[256], const struct sqtt_stream *s, unsigned layout)
{
	for (unsigned b = 0; b < 256; b++)
		table[b] = (struct gfx10_entry){.kind = GFX10_UNKNOWN, .nibbles = 2};
	FILL_PREFIXES(table, gfx10_prefixes);
	if (s->gfx_major >= 11)
		FILL_PREFIXES(table, gfx11_prefixes);
	if (s->gfx_major >= 12)
		FILL_PREFIXES(table, gfx12_prefixes);
	if (s->is_mi400)
		FILL_PREFIXES(table, mi400_prefixes);
	for (unsigned b = 0; b < 256 && !s->is_mi400; b++)
		if (table[b].kind == GFX10_INST || table[b].kind == GFX10_VALU_INST)
			place_issue(&table[b], layout);
}

static struct gfx10_quiet gfx10_tokens_add_up(const struct gfx10_entry *table, unsigned bits)
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

static void gfx10_quiets(
	struct gfx10_quiet quiets[GFX10_QUIETS], const struct gfx10_entry table[256])
{
	for (unsigned i = 0; i < GFX10_QUIETS; i++)
		quiets[i] = gfx10_tokens_add_up(table, i);
}

/* --- codes of an INST token ------------------------------------------------------------------- */

/* Meaning of the codes of an INST token from gfx10 on: category and cycles of each. */

struct code_run { /* codes first..last take cycles, cycles + 1, ... */
	uint8_t first, last, category, cycles;
};

static const struct code_run all_runs[] = {
	{0, 0, SQTT_SALU, 1},
	{1, 1, SQTT_SMEM, 1},
	{2, 2, SQTT_SMEM, 1},
	{3, 3, SQTT_JUMP, 1},
	{4, 4, SQTT_NEXT, 1},
	{5, 5, SQTT_SALU, 1},
	{7, 7, SQTT_SALU, 1},
	{8, 8, SQTT_CONTEXT, 1},
	{9, 9, SQTT_MSG, 1},
	{10, 10, SQTT_VALU, 1},
	{11, 11, SQTT_VALU, 4},
	{12, 12, SQTT_VALU, 1},
	{13, 13, SQTT_VALU, 2},
	{14, 14, SQTT_VALU, 4},
	{15, 15, SQTT_VALU, 16},
	{18, 18, SQTT_VALU, 1},
	{19, 19, SQTT_IMMED, 1},
	{41, 41, SQTT_LDS, 1},
	{42, 46, SQTT_LDS, 1},
	{47, 48, SQTT_VMEM, 1},
	{49, 54, SQTT_VMEM, 1},
	{55, 66, SQTT_VMEM, 1},
	{68, 71, SQTT_VMEM, 1},
	{72, 78, SQTT_VMEM, 2},
	{103, 104, SQTT_BVH, 8},
	{105, 106, SQTT_BVH, 11},
	{110, 110, SQTT_LDS, 1},
	{111, 111, SQTT_LDS, 1},
};

static const struct code_run gfx10_runs[] = {
	{16, 16, SQTT_VALU, 1},
	{17, 17, SQTT_VALU, 1},
	{30, 30, SQTT_FLAT, 1},
	{31, 34, SQTT_FLAT, 2},
	{35, 35, SQTT_VMEM, 1},
	{36, 40, SQTT_VMEM, 1},
	{112, 112, SQTT_SALU, 1},
	{113, 113, SQTT_SALU, 1},
};

static const struct code_run gfx11_up_runs[] = {
	{28, 28, SQTT_FLAT, 2},
	{29, 32, SQTT_FLAT, 3},
	{33, 34, SQTT_VMEM, 1},
	{35, 40, SQTT_VMEM, 1},
	{114, 114, SQTT_SALU, 1},
	{115, 115, SQTT_VALU, 1},
	{116, 116, SQTT_VALU, 2},
};

static const struct code_run gfx11_runs[] = {
	{16, 16, SQTT_VALU, 1},
	{17, 17, SQTT_VALU, 1},
	{112, 112, SQTT_SALU, 1},
	{113, 113, SQTT_SALU, 1},
	{118, 118, SQTT_LDS, 6},
};

static const struct code_run gfx12_runs[] = {
	{118, 118, SQTT_BVH, 6},
	{121, 121, SQTT_BVH, 10},
	{122, 122, SQTT_MSG, 1},
	{135, 135, SQTT_SALU, 1},
	{136, 136, SQTT_SALU, 1},
	{137, 137, SQTT_SALU, 1},
	{138, 138, SQTT_MSG, 1},
	{140, 140, SQTT_VALU, 8},
	{141, 141, SQTT_VALU, 16},
	{142, 142, SQTT_VALU, 32},
	{143, 143, SQTT_VALU, 64},
	{150, 150, SQTT_SMEM, 1},
	{151, 151, SQTT_SMEM, 1},
	{152, 152, SQTT_SALU, 3},
	{153, 153, SQTT_VALU, 1},
	{155, 155, SQTT_SALU, 2},
	{156, 156, SQTT_SALU, 5},
	{222, 255, SQTT_VMEM, 1},
};

/* Issued by another SIMD of the same WGP. */
static const struct code_run gfx11_up_others[] = {{80, 84, SQTT_LDS, 1}, {119, 119, SQTT_LDS, 6}};
static const struct code_run gfx11_others[] = {{85, 89, SQTT_FLAT, 2}, {90, 102, SQTT_VMEM, 1}};
static const struct code_run gfx12_others[] = {
	{85, 89, SQTT_FLAT, 2}, {120, 120, SQTT_LDS, 10}, {188, 221, SQTT_VMEM, 1}};

static void gfx10_tokens_fill(
	struct gfx10_code *codes, const struct code_run *r, size_t n, unsigned kind)
{
	for (size_t i = 0; i < n; i++)
		for (unsigned c = r[i].first; c <= r[i].last; c++)
			codes[c] = (struct gfx10_code){(uint8_t)kind, r[i].category,
				(uint16_t)(r[i].cycles + c - r[i].first), false, false, 0};
}

#define FILL_CODES(codes, runs, kind)                                                              \
	gfx10_tokens_fill(codes, runs, sizeof(runs) / sizeof((runs)[0]), kind)

static void scale(struct gfx10_code *codes, unsigned first, unsigned last, unsigned by)
{
	for (unsigned c = first; c <= last; c++)
		codes[c].cycles = (uint16_t)(codes[c].cycles * by);
}

static void only_gfx10(struct gfx10_code *codes, unsigned dp)
{
	FILL_CODES(codes, gfx10_runs, CODE_PLAIN);
	scale(codes, 12, 17, dp);
}

static void only_gfx11(struct gfx10_code *codes, unsigned dp, bool is_c16)
{
	FILL_CODES(codes, gfx11_runs, CODE_PLAIN);
	FILL_CODES(codes, gfx11_others, CODE_OTHER_SIMD);
	if (is_c16)
		return;
	codes[102] = (struct gfx10_code){0};
	codes[10].cycles = codes[15].cycles = (uint16_t)dp;
}

static void only_gfx12(struct gfx10_code *codes, unsigned dp, unsigned derate, bool is_c16)
{
	FILL_CODES(codes, gfx12_runs, CODE_PLAIN);
	FILL_CODES(codes, gfx12_others, CODE_OTHER_SIMD);
	codes[146] = (struct gfx10_code){CODE_PLAIN, SQTT_VALU, (uint16_t)dp, false, false, 0};
	codes[147] = (struct gfx10_code){
		CODE_PLAIN, SQTT_VALU, (uint16_t)(dp * derate), false, false, 0};
	for (unsigned c = 85; c <= 89 && is_c16; c++)
		codes[c].category = SQTT_LDS;
}

static void fill_codes(struct gfx10_code codes[GFX10_CODES], const struct sqtt_stream *s,
	uint64_t header, bool is_c16)
{
	unsigned field = header >> 28 & (s->gfx_major == 10 ? 15 : 7);
	unsigned dp = (1u << field) >> 1, derate = 1u << (header >> 33 & 7);

	if (!is_c16 && field == 0)
		dp = 1;
	memset(codes, 0, GFX10_CODES * sizeof(codes[0]));
	codes[GFX10_VALU_CODE] = (struct gfx10_code){CODE_PLAIN, SQTT_VALU, 1, false, false, 0};
	FILL_CODES(codes, all_runs, CODE_PLAIN);
	if (s->gfx_major >= 11) {
		FILL_CODES(codes, gfx11_up_runs, CODE_PLAIN);
		FILL_CODES(codes, gfx11_up_others, CODE_OTHER_SIMD);
	}
	if (s->gfx_major == 10)
		only_gfx10(codes, dp);
	else if (s->gfx_major == 11)
		only_gfx11(codes, dp, is_c16);
	else
		only_gfx12(codes, dp, derate, is_c16);
	if (s->is_mi400 && header >> 60 & 1)
		codes[11].cycles = 2;
	codes[5].kind = CODE_SETPC;
	codes[6].kind = CODE_TRAP;
	codes[19].kind = CODE_BARRIER;
	codes[117].kind = CODE_RETURN;
}

/* Fills the meaning of the 256 instruction codes; header: the stream's first 8 bytes. */
static void gfx10_codes(struct gfx10_code codes[GFX10_CODES], const struct sqtt_stream *s,
	uint64_t header, bool is_c16)
{
	struct gfx10_code old[GFX10_CODES];

	fill_codes(codes, s, header, is_c16);
	fill_codes(old, s, header, true);
	for (unsigned i = 0; i < GFX10_CODES; i++) {
		codes[i].is_newer = codes[i].kind != old[i].kind ||
				    codes[i].category != old[i].category ||
				    codes[i].cycles != old[i].cycles;
		codes[i].is_plain = codes[i].kind == CODE_PLAIN && (is_c16 || !codes[i].is_newer);
	}
}

/* --- tokens ----------------------------------------------------------------------------------- */

struct item { /* a token waiting for its time */
	const struct gfx10_entry *x;
	uint64_t t;
	int64_t time;
	uint64_t off;
};

struct token_reader {
	struct decoder *d;
	struct gfx10_entry table[256];
	struct gfx10_quiet quiets[GFX10_QUIETS];
	struct gfx10_code codes[GFX10_CODES];
	int64_t now;	   /* d->now is the time of the token being delivered */
	uint64_t pos, end; /* nibbles */
	unsigned major;
	unsigned layout; /* generation of the tokens' fields: as major, except in 0.1.6 */
	bool is_mi400, is_queued;
	bool is_cut;		/* the current token exceeds the stream */
	bool is_over;		/* the rest is not a complete token, or decoding failed */
	VEC(struct item) queue; /* all of the same time */
	int8_t mru[6];		/* MI400: waves by their last VALU instruction */
};

#define LONG_BYTES 4096u  /* longer streams are worth the table of quiet tokens */
#define SHORT_NIBBLES 15u /* nibbles that a word has from any nibble on */

static unsigned gfx10_tokens_field(uint64_t t, unsigned lo, unsigned hi)
{
	return (unsigned)(t >> lo & (((uint64_t)2 << (hi - lo)) - 1));
}

/* The up to 64 bits of the stream from a nibble on; zeros past its end. */
static uint64_t gfx10_tokens_load_at(const struct token_reader *r, uint64_t pos)
{
	const uint8_t *p = r->d->data + (pos >> 1);
	size_t left = r->d->size - (size_t)(pos >> 1);
	uint64_t t = 0;

	if (pos >= r->end)
		return 0;
	memcpy(&t, p, left < 8 ? left : 8);
	if (pos & 1) {
		t >>= 4;
		if (left > 8)
			t |= (uint64_t)p[8] << 60;
	}
	return t;
}

static void add_time(struct token_reader *r, uint64_t delta)
{
	if (r->now >= SQTT_MAX_TIME || delta > (uint64_t)(SQTT_MAX_TIME - r->now)) {
		sqtt_note(r->d, SQTT_NOTE_CLOCK_RANGE);
	} else {
		r->now += (int64_t)delta;
	}
}

static void packets_lost(struct decoder *d)
{
	d->is_lost = true;
	sqtt_note(d, SQTT_NOTE_PACKET_LOST);
	sqtt_event(d, SQTT_PACKET_LOSS, 0, false);
}

/* gfx12: a sample that is not later in both clocks is averaged into the previous one. 0.1.6 does
 * the opposite for a token truncated by the end of the stream. */
static void gfx10_tokens_add_realtime(struct token_reader *r, uint64_t clock)
{
	struct decoder *d = r->d;
	struct sqtt_realtime s = {r->now, clock, (uint32_t)d->off};
	bool is_merged = r->is_cut ? r->major == 11 : r->major >= 12;

	if (is_merged && d->realtime.n) {
		struct sqtt_realtime *last = &d->realtime.v[d->realtime.n - 1];

		if (s.time <= last->time || s.clock <= last->clock) {
			last->time = (last->time + s.time) / 2;
			last->clock = (last->clock + s.clock) / 2;
			return;
		}
	}
	sqtt_need(d, VEC_PUSH(&d->realtime, s));
}

static void timestamp(struct token_reader *r, uint64_t t)
{
	bool is_rt, is_loss;

	if (r->major == 10) {
		if (gfx10_tokens_field(t, 14, 15) == 1)
			add_time(r, t >> 16);
		else if (gfx10_tokens_field(t, 14, 15) == 2)
			gfx10_tokens_add_realtime(r, t >> 16);
		return;
	}
	is_rt = r->major == 11 ? gfx10_tokens_field(t, 9, 9) : gfx10_tokens_field(t, 7, 7);
	is_loss = gfx10_tokens_field(t, 8, 8);
	t >>= 12;
	if (r->major == 11)
		t &= ((uint64_t)1 << 36) - 1;
	if (!is_rt) {
		add_time(r, t);
		if (is_loss)
			packets_lost(r->d);
	} else if (!is_loss) {
		gfx10_tokens_add_realtime(r, t);
	}
}

static void gfx10_tokens_misc(struct token_reader *r, uint64_t t)
{
	unsigned first = r->is_mi400 ? 10 : 16; /* packet loss or counters */
	unsigned save = r->is_mi400 ? 12 : 19;	/* save context */
	unsigned stall = r->is_mi400 ? 13 : 20; /* trace stall begins */

	if (r->layout == 10 && gfx10_tokens_field(t, first, first))
		packets_lost(r->d);
	if (gfx10_tokens_field(t, save, save)) {
		gfx10_save_context(r->d);
		sqtt_event(r->d, SQTT_SAVE_CONTEXT, 0, false);
	}
	if (gfx10_tokens_field(t, stall, stall)) {
		sqtt_note(r->d, SQTT_NOTE_TRACE_STALL);
		sqtt_event(r->d, SQTT_STALL_BEGIN, 0, false);
	}
	if (gfx10_tokens_field(t, stall + 1, stall + 1))
		sqtt_event(r->d, SQTT_STALL_END, 0, false);
}

static void event(struct token_reader *r, uint64_t t)
{
	/* maps to enum sqtt_event_type; 5: cache flush, 11: trace flush */
	static const uint8_t types[64] = {[0x04] = 5,
		[0x06] = 5,
		[0x07] = SQTT_CS_FLUSH,
		[0x14] = 5,
		[0x16] = 5,
		[0x28] = SQTT_BOTTOM_OF_PIPE,
		[0x36] = 11};
	uint8_t type = types[gfx10_tokens_field(t, 18, 23)];

	if (type && !r->is_mi400)
		sqtt_event(r->d, (enum sqtt_event_type)type,
			gfx10_tokens_field(t, 14, 14) * 4 + gfx10_tokens_field(t, 16, 17),
			gfx10_tokens_field(t, 11, 11));
}

/* Type 2 with bit 0 is a launch: real streams report it here, not in the register. */
static void reg_init(struct token_reader *r, uint64_t t)
{
	if (!r->is_mi400 && gfx10_tokens_field(t, 18, 19) == 2 && gfx10_tokens_field(t, 20, 20))
		sqtt_event(r->d, SQTT_DISPATCH,
			gfx10_tokens_field(t, 16, 16) * 4 + gfx10_tokens_field(t, 14, 15), false);
}

static void gfx10_tokens_reg(struct token_reader *r, uint64_t t)
{
	unsigned queue = (gfx10_tokens_field(t, 9, 9) * 4 + gfx10_tokens_field(t, 7, 8)) & 7,
		 addr = gfx10_tokens_field(t, 16, 31);
	bool is_cs = gfx10_tokens_field(t, 15, 15);
	uint32_t data = (uint32_t)(t >> 32);

	if (is_cs && sqtt_register(r->d, queue, addr, data))
		return;
	if (!is_cs || r->layout == 10)
		userdata_write(r->d, addr, queue, data, r->d->now);
}

static void wave_start(struct token_reader *r, uint64_t t)
{
	struct gfx10_place p = {
		.sa = gfx10_tokens_field(t, 7, 7), .simd = gfx10_tokens_field(t, 8, 9)};
	unsigned pipe, me;

	if (r->layout >= 12) {
		p.wgp = gfx10_tokens_field(t, 10, 13);
		p.wave = gfx10_tokens_field(t, 15, 19);
		pipe = gfx10_tokens_field(t, 20, 21);
		me = gfx10_tokens_field(t, 22, 22);
	} else {
		p.wgp = gfx10_tokens_field(t, 10, 12);
		p.wave = gfx10_tokens_field(t, 13, 17);
		pipe = gfx10_tokens_field(t, 21, 22);
		me = gfx10_tokens_field(t, 23, 23);
	}
	gfx10_wave_start(r->d, &p, me * 4 + pipe, gfx10_tokens_field(t, 25, 31));
}

static void wave_end(struct token_reader *r, uint64_t t)
{
	struct gfx10_place p;

	if (r->is_mi400)
		p = (struct gfx10_place){gfx10_tokens_field(t, 10, 10),
			gfx10_tokens_field(t, 13, 16), gfx10_tokens_field(t, 11, 12),
			gfx10_tokens_field(t, 17, 21)};
	else
		p = (struct gfx10_place){gfx10_tokens_field(t, 8, 8),
			gfx10_tokens_field(t, 11, r->layout >= 12 ? 14 : 13),
			gfx10_tokens_field(t, 9, 10), gfx10_tokens_field(t, 15, 19)};
	gfx10_wave_end(r->d, &p);
}

static void shader_data(struct token_reader *r, uint64_t t, bool is_short)
{
	struct sqtt_shaderdata s = {.time = r->d->now, .off = (uint32_t)r->d->off};
	unsigned first = r->layout >= 12 ? 22 : 20, priv = 0;

	if (r->layout >= 12) {
		s.cu = (uint8_t)(gfx10_tokens_field(t, 10, 10) << 7 |
				 gfx10_tokens_field(t, 13, 16));
		s.simd = (uint8_t)gfx10_tokens_field(t, 11, 12);
		s.slot = (uint8_t)gfx10_tokens_field(t, 17, 21);
		priv = is_short ? gfx10_tokens_field(t, 30, 31) : gfx10_tokens_field(t, 54, 55);
	} else {
		if (r->layout == 11 && gfx10_tokens_field(t, 14, 14)) /* no lane was active */
			return;
		s.cu = (uint8_t)(gfx10_tokens_field(t, 8, 8) << 7 | gfx10_tokens_field(t, 11, 13));
		s.simd = (uint8_t)gfx10_tokens_field(t, 9, 10);
		s.slot = (uint8_t)gfx10_tokens_field(t, 15, 19);
	}
	s.value = is_short ? gfx10_tokens_field(t, first, first + 7) : (uint32_t)(t >> first);
	s.flags = (uint8_t)(is_short | (priv != 0) << 1);
	sqtt_need(r->d, VEC_PUSH(&r->d->shaderdata, s));
	if (r->d->shaderdata.n >= BATCH)
		sqtt_flush(r->d, false);
}

/* Moves the most recently used wave to the front: MI400 names waves by their place there. */
static void mru_touch(struct token_reader *r, unsigned wave)
{
	unsigned at = 1;

	if (r->mru[0] == (int8_t)wave)
		return;
	while (at < 5 && r->mru[at] != (int8_t)wave)
		at++;
	memmove(r->mru + 1, r->mru, at);
	r->mru[0] = (int8_t)wave;
}

static void valu_mi400(struct token_reader *r, unsigned v)
{
	static const uint8_t place[16] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 4, 4};
	int8_t wave = r->mru[place[v & 15]];

	if (wave < 0) {
		sqtt_note(r->d, SQTT_NOTE_NO_START);
		return;
	}
	mru_touch(r, (unsigned)wave);
	gfx10_inst(r->d, (unsigned)wave, r->codes[GFX10_VALU_CODE]);
}

static void other_simd(struct decoder *d, struct gfx10_code c)
{
	struct sqtt_other_simd o = {
		d->now, c.cycles, (uint32_t)d->off, (uint8_t)d->target_cu, c.category};

	sqtt_need(d, VEC_PUSH(&d->other_simd, o));
	if (d->other_simd.n >= BATCH)
		sqtt_flush(d, false);
}

/* Handles a code that is not the plain case; see issue(). */
static void issue_code(
	struct token_reader *r, unsigned wave, const struct gfx10_code *code, bool is_w64)
{
	struct gfx10_code c = *code;
	struct decoder *d = r->d;

	if (c.is_newer)
		sqtt_newer(d);
	if (c.kind == CODE_OTHER_SIMD) {
		other_simd(d, c);
		return;
	}
	if (is_w64 && c.kind != CODE_BARRIER) {
		if (d->is_c16)
			c.cycles = (uint16_t)(c.cycles * 2);
		else
			sqtt_note(d, SQTT_DIFF_W64);
	}
	gfx10_inst(d, wave, c);
}

static inline void gfx10_tokens_issue(
	struct token_reader *r, const struct gfx10_entry *x, uint64_t t)
{
	const struct gfx10_code *c = &r->codes[x->code_base + (t >> x->code_shift & x->code_mask)];
	unsigned at = (unsigned)(t >> x->w64_shift), slot = at >> 1 & 31;
	struct wave *w = &r->d->waves[slot];

	if (__builtin_expect(c->is_plain && !(at & 1) && wave_is_plain(w), 1))
		gfx10_add_inst(r->d, w, c->category, c->cycles);
	else
		issue_code(r, slot, c, at & 1);
}

static void inst_mi400(struct token_reader *r, uint64_t t)
{
	unsigned wave = gfx10_tokens_field(t, 7, 11), code = gfx10_tokens_field(t, 12, 20);

	if (code > 255)
		return;
	if (code >= 10 && code <= 14)
		mru_touch(r, wave);
	if (code == 79)
		gfx10_replay(r->d, wave);
	else if (code == 183)
		gfx10_load_scale(r->d, wave);
	else
		issue_code(r, wave, &r->codes[code], false);
}

static void immediates(struct decoder *d, uint32_t mask)
{
	for (; mask; mask &= mask - 1)
		if (sqtt_has_room(d))
			gfx10_immediate(d, (unsigned)__builtin_ctz(mask));
}

/* Delivers a token in order; d->now and d->off are those of the token. */
static void deliver(struct token_reader *r, unsigned kind, uint64_t t)
{
	struct decoder *d = r->d;

	switch (kind) {
	case GFX10_INST:
		inst_mi400(r, t);
		break;
	case GFX10_VALU_INST:
		valu_mi400(r, gfx10_tokens_field(t, 4, 7));
		break;
	case GFX10_IMM_ONE:
		gfx10_immediate(d,
			r->is_mi400 ? gfx10_tokens_field(t, 10, 14) : gfx10_tokens_field(t, 7, 11));
		break;
	case GFX10_IMMEDIATE:
		immediates(d, gfx10_tokens_field(t, 8, 23));
		break;
	case GFX10_WAVE_READY:
		gfx10_wave_ready(d, gfx10_tokens_field(t, 8, 23));
		break;
	case GFX10_WAVE_START_EXT:
		if (d->is_c16)
			break;
		sqtt_note(d, SQTT_DIFF_START_EXT);
		wave_start(r, t);
		break;
	case GFX10_WAVE_START:
		wave_start(r, t);
		break;
	case GFX10_WAVE_END:
		wave_end(r, t);
		break;
	case GFX10_SHADER_DATA:
	case GFX10_SHADER_DATA_SHORT:
		shader_data(r, t, kind == GFX10_SHADER_DATA_SHORT);
		break;
	case GFX10_MISC:
		gfx10_tokens_misc(r, t);
		break;
	case GFX10_EVENT:
		event(r, t);
		break;
	case GFX10_REG:
		gfx10_tokens_reg(r, t);
		break;
	case GFX10_REG_INIT:
		reg_init(r, t);
		break;
	case GFX10_NEW_PC: /* with 46 bits; gfx12's 55 are handled when read */
		gfx10_new_pc(d, gfx10_tokens_field(t, 11, 15),
			(t >> 16 & (((uint64_t)1 << 46) - 1)) << 2);
		break;
	default:
		break;
	}
}

static inline void take_item(struct token_reader *r, const struct gfx10_entry *x, uint64_t t)
{
	if (x->kind == GFX10_ISSUE)
		gfx10_tokens_issue(r, x, t);
	else if (x->kind == GFX10_WAVE_READY)
		gfx10_wave_ready(r->d, gfx10_tokens_field(t, 8, 23));
	else
		deliver(r, x->kind, t);
}

static void flush_queue(struct token_reader *r)
{
	for (size_t i = 0; i < r->queue.n; i++) {
		const struct item *item = &r->queue.v[i];

		r->d->now = item->time;
		r->d->off = item->off;
		take_item(r, item->x, item->t);
	}
	r->queue.n = 0;
}

/* gfx10, gfx11: WAVE_READY happened a cycle before its stamp, so before tokens already seen. */
static inline void enqueue(
	struct token_reader *r, const struct gfx10_entry *x, uint64_t t, int64_t now, uint64_t off)
{
	int64_t time = now - (x->kind == GFX10_WAVE_READY);
	struct item *item;

	if (r->queue.n) {
		int64_t waiting = r->queue.v[0].time;

		if (time > waiting && r->queue.n == 1) { /* the usual case */
			item = r->queue.v;
			r->queue.n = 0;
			r->d->now = waiting;
			r->d->off = item->off;
			take_item(r, item->x, item->t);
		} else if (time > waiting) {
			flush_queue(r);
		} else if (time < waiting) {
			r->d->now = time;
			r->d->off = off;
			deliver(r, x->kind, t);
			return;
		}
	}
	if (__builtin_expect(!VEC_RESERVE(&r->queue, r->queue.n + 1), 0)) {
		r->d->is_failed = true;
		return;
	}
	item = &r->queue.v[r->queue.n++];
	item->x = x;
	item->t = t;
	item->time = time;
	item->off = off;
}

static void new_pc_gfx12(struct token_reader *r, uint64_t t)
{
	uint64_t high = gfx10_tokens_load_at(r, r->pos + 16) & 0x7f; /* bits 64..70 */

	gfx10_new_pc(r->d, gfx10_tokens_field(t, 11, 15), (t >> 16 | high << 48) << 2);
}

/* gfx12: bytes with bit 0 set extend a WAVE_START_EXT. */
static void skip_extensions(struct token_reader *r)
{
	while (r->pos + 2 <= r->end && (gfx10_tokens_load_at(r, r->pos) & 1))
		r->pos += 2;
}

/* The first is at the beginning. 0.1.6 obeys later ones too, except for token lengths. */
static void gfx10_tokens_header(struct token_reader *r, uint64_t t)
{
	struct decoder *d = r->d;
	struct sqtt_stream s = d->stream;
	unsigned version = gfx10_tokens_field(t, 7, 12);

	if (r->pos && !d->is_c16) {
		sqtt_note(d, SQTT_DIFF_HEADER);
		return;
	}
	if (r->pos) {
		d->stream.target_simd = gfx10_tokens_field(t, 13, 14);
		d->target_cu = gfx10_tokens_field(t, 15, 17) | gfx10_tokens_field(t, 19, 19) << 7;
		s.gfx_major = version <= 2 ? 10 : version == 3 ? 11 : 12;
	}
	r->layout = s.gfx_major;
	d->has_exbar = r->layout == 12 && t >> 59 & 1;
	gfx10_codes(r->codes, &s, t, d->is_c16);
	gfx10_table(r->table, &d->stream, r->layout);
	if (d->size >= LONG_BYTES)
		gfx10_quiets(r->quiets, r->table);
}

static void gfx10_tokens_token(struct token_reader *r, const struct gfx10_entry *x, uint64_t t)
{
	struct decoder *d = r->d;

	switch (x->kind) {
	case GFX10_UNKNOWN:
		sqtt_note(d, SQTT_NOTE_UNKNOWN_TOKEN);
		return;
	case GFX10_TIMESTAMP:
		timestamp(r, t);
		return;
	case GFX10_HEADER:
		gfx10_tokens_header(r, t);
		return;
	default:
		break;
	}
	if (r->is_queued) {
		enqueue(r, x, t, r->now, d->off);
		return;
	}
	d->now = r->now;
	if (x->kind == GFX10_NEW_PC)
		new_pc_gfx12(r, t);
	else
		take_item(r, x, t);
}

/* MI400 VALU_INST: the delta depends on the value of its four bits. */
static uint64_t valu_delta(uint64_t t)
{
	static const uint8_t delta[16] = {1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 1, 2};

	return delta[gfx10_tokens_field(t, 4, 7)];
}

/* Handles a token that does more than pass time. */
static void read_token(struct token_reader *r, const struct gfx10_entry *x, uint64_t t)
{
	unsigned nibbles = x->nibbles, kind = x->kind; /* a header may change the table */

	if (nibbles > SHORT_NIBBLES)
		t = gfx10_tokens_load_at(r, r->pos);
	if (r->is_mi400 && kind == GFX10_VALU_INST)
		add_time(r, valu_delta(t));
	gfx10_tokens_token(r, x, t);
	r->pos += nibbles;
	if (kind == GFX10_WAVE_START_EXT && r->major >= 12)
		skip_extensions(r);
}

/* Handles a token truncated by the end of the stream. True: it is read anyway. */
static bool take_cut(struct token_reader *r, uint64_t pos)
{
	sqtt_note_at(r->d, SQTT_NOTE_CUT, pos >> 1);
	if (!r->d->is_c16)
		sqtt_note_at(r->d, SQTT_DIFF_CUT, pos >> 1);
	r->is_cut = r->d->is_c16; /* 0.1.6 reads missing bits as zeros */
	return r->is_cut;
}

#define NOP_STOP ((uint64_t)1 << 56) /* ends a run of zero nibbles within a word */

/* The reading position; a separate copy, so that the loops keep it in registers. */
struct token_place {
	uint64_t pos;
	int64_t now;
	uint64_t t; /* the token at pos */
};

/* Most tokens are followed by padding and an execution, whose bits are already loaded. */
static inline void pass_next(const struct token_reader *r, uint64_t behind, struct token_place *at)
{
	struct gfx10_quiet q = r->quiets[behind % GFX10_QUIETS];

	at->pos += q.nibbles;
	at->now += q.delta;
}

/* Moves to the next token that does more than pass time, or to `end`, before which whole words can
 * be read. */
static inline const struct gfx10_entry *pass_time(
	const struct token_reader *r, const uint8_t *data, uint64_t end, struct token_place *at)
{
	while (at->pos < end) {
		uint64_t t = load64(data + (at->pos >> 1)) >> (at->pos & 1) * 4;
		const struct gfx10_entry *x = &r->table[t & 0xff];

		at->now += (int64_t)((t >> x->shift & x->mask) + x->add);
		if (x->kind > GFX10_LAST_QUIET) {
			at->t = t;
			return x;
		}
		at->pos += x->nibbles;
		if (x->nibbles == 1) /* padding: skips all following zeros at once */
			at->pos += (unsigned)__builtin_ctzll(t >> 4 | NOP_STOP) / 4;
		else if (x->nibbles == 2)
			pass_next(r, t >> 8, at);
	}
	return NULL;
}

/* pass_time() for one token near the end, which may be truncated. */
static const struct gfx10_entry *pass_last(struct token_reader *r, struct token_place *at)
{
	const struct gfx10_entry *x;

	at->t = gfx10_tokens_load_at(r, at->pos);
	x = &r->table[at->t & 0xff];
	if (at->pos + x->nibbles > r->end && !take_cut(r, at->pos)) {
		r->is_over = true;
		return NULL;
	}
	at->now += (int64_t)((at->t >> x->shift & x->mask) + x->add);
	if (x->kind > GFX10_LAST_QUIET)
		return x;
	at->pos += x->nibbles;
	return NULL;
}

/* A token that does more than pass time, of any kind; *at moves past it. */
static inline void read_any(
	struct token_reader *r, const struct gfx10_entry *x, struct token_place *at)
{
	struct decoder *d = r->d;

	d->off = at->pos >> 1;
	if (x->kind <= GFX10_LAST_COMMON) {
		d->now = at->now;
		at->pos += x->nibbles;
		if (r->is_queued)
			enqueue(r, x, at->t, at->now, d->off);
		else
			take_item(r, x, at->t);
		return;
	}
	r->pos = at->pos;
	r->now = at->now;
	read_token(r, x, at->t);
	at->pos = r->pos;
	at->now = r->now;
	r->is_over |= d->is_failed;
}

static void read_tokens(struct token_reader *r)
{
	struct decoder *d = r->d;
	uint64_t fast_end = d->size >= 24 ? 2 * ((uint64_t)d->size - 24) : 0;
	const struct gfx10_entry *x;
	struct token_place at = {0};

	while ((x = pass_time(r, d->data, fast_end, &at)) && !r->is_over) {
		unsigned nibbles = x->nibbles;

		read_any(r, x, &at);
		if (nibbles <= SHORT_NIBBLES - 3)
			pass_next(r, at.t >> 4 * nibbles, &at);
	}
	while (at.pos < r->end && !r->is_over)
		if ((x = pass_last(r, &at)))
			read_any(r, x, &at);
	d->res->last_cyc = at.now;
	d->res->decoded_bytes = at.pos / 2 < d->size ? at.pos / 2 : d->size;
}

void sqtt_run_gfx10(struct decoder *d)
{
	struct token_reader *r = mem_zalloc(1, sizeof(*r));

	if (!r) {
		d->is_failed = true;
		return;
	}
	r->d = d;
	r->major = d->stream.gfx_major;
	r->is_mi400 = d->stream.is_mi400;
	r->is_queued = r->major < 12;
	r->end = 2 * (uint64_t)d->size;
	memset(r->mru, -1, sizeof(r->mru));
	gfx10_tokens_header(r, load64(d->data));
	read_tokens(r);
	flush_queue(r);
	gfx10_finish(d);
	VEC_FREE(&r->queue);
	mem_free(r);
}
