/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encode_gfx10.c: waves -> tokens of multiples of 4 bits, each with a small time difference; larger
 * ones are said by tokens of their own.
 */
#include "encode_gfx10.h"

#define REG_USERDATA2 0xc342u
#define PGM_LO 0x0cu
#define PGM_HI 0x0du
#define CODE_SETPC 5u
#define CODE_BARRIER 19u

enum token { /* prefixes, from bit 0 */
	INST = 2,
	VALU_INST = 3,
	IMM_ONE = 13,
	IMMEDIATE = 4,
	WAVE_READY = 20,
	NEW_PC = 33,
	WAVE_START = 12,
	WAVE_START_EXT = 28,
	WAVE_END = 21,
	SHADER_DATA = 6,
	SHADER_DATA_SHORT = 22,
	SHADER_DATA_SHORT_GFX12 = 70,
	TIME = 8,
	MISC = 81,
	REG = 9,
	TIMESTAMP = 1,
	HEADER = 17,
};

struct encoder {
	const struct sq_stream *s;
	struct strbuf *out;
	int64_t now;
	uint64_t state;
	uint64_t half; /* a nibble that waits for its other one */
	bool has_half;
	unsigned me, pipe;
};

static uint64_t bits(uint64_t value, unsigned lo, unsigned hi)
{
	return (value & (((uint64_t)2 << (hi - lo)) - 1)) << lo;
}

static bool is_gfx12(const struct encoder *c)
{
	return c->s->gen == SQ_GFX12;
}

unsigned sq_other_code(enum sq_gen gen, unsigned category, unsigned cycles)
{
	if (gen < SQ_GFX11 || cycles == 0)
		return 0;
	if (category == SQTT_LDS)
		return cycles <= 5 ? 79 + cycles : cycles == 6 ? 119 : 0;
	if (category == SQTT_VMEM)
		return cycles <= 12 ? (gen == SQ_GFX11 ? 89 : 187) + cycles : 0;
	return 0;
}

/* --- waves to events --- */

static void add_inst(
	struct sq_events *v, const struct sq_stream *s, const struct sq_wave *w, size_t i)
{
	const struct sq_inst *x = &w->insts.v[i];
	struct sq_event e = {.kind = SQ_INST, .slot = (uint8_t)w->slot, .value = x->code};

	e.time = x->time + x->stall;
	if (x->category == SQTT_IMMED && x->code != CODE_BARRIER)
		e.kind = SQ_IMMED;
	sq_add_event(v, e);
	if (x->code == CODE_SETPC && x->category == SQTT_SALU) {
		uint32_t to = s->program->lines[x->line].target;

		e.kind = SQ_NEW_PC;
		e.value = s->load_base + s->program->lines[to].vaddr;
		sq_add_event(v, e);
	}
	if (x->stall && x->category != SQTT_IMMED) {
		/* before gfx12 its stamp is a cycle late: it may stand behind its instruction */
		e.kind = SQ_READY;
		e.time = x->time + (s->gen < SQ_GFX12);
		sq_add_event(v, e);
	}
}

void sq_wave_events_gfx10(struct sq_events *v, const struct sq_stream *s, const struct sq_wave *w)
{
	struct sq_event e = {.time = w->begin,
		.kind = SQ_START,
		.cu = (uint16_t)w->cu,
		.simd = (uint8_t)w->simd,
		.slot = (uint8_t)w->slot,
		.aux = w->is_long_start};
	size_t n = w->insts.n;

	sq_add_event(v, e);
	if (n && w->insts.v[n - 1].category == SQTT_MSG && w->insts.v[n - 1].code == 0)
		n--; /* s_endpgm has no token */
	for (size_t i = 0; i < n; i++)
		add_inst(v, s, w, i);
	e.kind = SQ_END;
	e.time = w->end;
	sq_add_event(v, e);
}

/* --- tokens --- */

static void put(struct encoder *c, uint64_t low, uint64_t high, unsigned n_bits)
{
	for (unsigned at = 0; at < n_bits; at += 4) {
		uint64_t nibble = (at < 64 ? low >> at : high >> (at - 64)) & 15;

		if (c->has_half)
			sb_putc(c->out, (char)(c->half | nibble << 4));
		c->half = nibble;
		c->has_half = !c->has_half;
	}
}

static void put_timestamp(struct encoder *c, uint64_t value, bool is_realtime, bool is_loss)
{
	if (c->s->gen == SQ_GFX10)
		put(c, TIMESTAMP | bits(is_realtime ? 2 : 1, 14, 15) | bits(value, 16, 63), 0, 64);
	else if (c->s->gen == SQ_GFX11)
		put(c,
			TIMESTAMP | bits(is_loss, 8, 8) | bits(is_realtime, 9, 9) |
				bits(value, 12, 47),
			0, 48);
	else
		put(c,
			TIMESTAMP | bits(is_realtime, 7, 7) | bits(is_loss, 8, 8) |
				bits(value, 12, 63),
			0, 64);
	if (!is_realtime)
		c->now += (int64_t)value;
}

/* Tokens that say nothing of waves, but take time like all others. */
static const struct {
	uint8_t prefix, first, last; /* bits of the time */
	uint8_t bits[SQ_GENS];	     /* length; 0: not of this generation */
} fillers[] = {
	{81, 7, 15, {0, 24, 24, 24}},  /* MISC */
	{97, 8, 10, {0, 24, 24, 24}},  /* EVENT */
	{225, 8, 10, {0, 32, 32, 32}}, /* EVENT_SYNC */
	{14, 4, 5, {0, 8, 8, 8}},      /* ALU_EXEC */
	{15, 4, 5, {0, 8, 8, 8}},      /* VMEM_EXEC */
	{49, 7, 8, {0, 64, 48, 48}},   /* UTIL_COUNTER */
	{113, 7, 9, {0, 64, 64, 64}},  /* REG_INIT */
	{5, 5, 7, {0, 20, 20, 24}},    /* WAVE_ALLOC */
	{102, 7, 9, {0, 0, 0, 24}},    /* EXEC_POPCOUNT1 */
	{22, 6, 8, {0, 0, 0, 48}},     /* EXEC_POPCOUNT3 */
};
#define N_FILLERS ((uint32_t)(sizeof(fillers) / sizeof(fillers[0])))

/* One token that only takes time; returns how much. */
static int64_t put_filler(struct encoder *c, int64_t gap)
{
	unsigned choice = sq_below(&c->state, 4), which = sq_below(&c->state, N_FILLERS);
	int64_t took, most;

	if (gap > 600 && choice) {
		put_timestamp(c, (uint64_t)gap, false, false);
		c->now -= gap; /* counted by the caller */
		return gap;
	}
	if (gap >= 4 && gap < 60 && choice) {
		took = gap > 19 ? 19 : gap;
		put(c, TIME | bits((uint64_t)took - 4, 4, 7), 0, 8);
		return took;
	}
	if (gap > 60 || !fillers[which].bits[c->s->gen])
		which = 0;
	most = ((int64_t)2 << (fillers[which].last - fillers[which].first)) - 1;
	took = gap > most ? most : gap;
	put(c,
		fillers[which].prefix |
			bits((uint64_t)took, fillers[which].first, fillers[which].last),
		0, fillers[which].bits[c->s->gen]);
	return took;
}

/* Leaves at most `max` cycles for the next token, and returns them. */
static uint64_t advance(struct encoder *c, int64_t time, int64_t max)
{
	int64_t gap = time - c->now, left;

	if (sq_below(&c->state, 8) == 0)
		put(c, 0, 0, 4); /* NOP */
	if (gap > 0 && gap <= max && sq_below(&c->state, 8) == 0)
		max = 0;
	while (gap > max) {
		int64_t took = put_filler(c, gap);

		gap -= took;
		c->now += took;
	}
	left = gap;
	c->now += left;
	return (uint64_t)left;
}

static void put_reg(struct encoder *c, unsigned address, bool is_cs, uint32_t data)
{
	put(c,
		REG | bits(c->pipe, 7, 8) | bits(c->me, 9, 10) | bits(is_cs, 15, 15) |
			bits(address, 16, 31) | bits(data, 32, 63),
		0, 64);
}

static void put_object(struct encoder *c, unsigned type, uint32_t payload)
{
	put_reg(c, REG_USERDATA2, false, 4 | type << 8);
	put_reg(c, REG_USERDATA2, false, payload);
}

static void put_markers(struct encoder *c)
{
	const struct sq_stream *s = c->s;

	if (!s->object && !s->rt_khz)
		return;
	put_reg(c, REG_USERDATA2, false, 0x434f5200);
	if (s->rt_khz)
		put_reg(c, REG_USERDATA2, false, 6 | s->rt_khz << 12);
	if (!s->object)
		return;
	put_object(c, 1, (uint32_t)(s->program->vaddr + s->program->size));
	put_object(c, 4, 0);
	put_object(c, 2, (uint32_t)s->load_base);
	put_object(c, 3, (uint32_t)(s->load_base >> 32));
	put_object(c, 5, s->object);
	put_object(c, 6, 0);
	put_object(c, 0, 2);
}

static void put_start(struct encoder *c)
{
	const struct sq_stream *s = c->s;
	static const uint8_t versions[SQ_GENS] = {[SQ_GFX10] = 2, [SQ_GFX11] = 3, [SQ_GFX12] = 4};
	uint64_t entry = s->load_base + s->program->vaddr;

	put(c,
		HEADER | bits(versions[s->gen], 7, 12) | bits(s->simd, 13, 14) |
			bits(s->cu & 7, 15, 17) | bits(s->cu >> 7, 19, 19) | bits(1, 28, 31),
		0, 64);
	put_reg(c, PGM_LO, true, (uint32_t)(entry >> 8));
	put_reg(c, PGM_HI, true, (uint32_t)(entry >> 40));
	put_markers(c);
}

static void put_wave_start(struct encoder *c, const struct sq_event *e)
{
	uint64_t delta = advance(c, e->time, 3), count = 96 + sq_below(&c->state, 32);
	uint64_t t = (e->aux ? WAVE_START_EXT : WAVE_START) | bits(delta, 5, 6) |
		     bits(e->cu >> 7, 7, 7) | bits(e->simd, 8, 9) | bits(count, 25, 31);

	if (is_gfx12(c))
		t |= bits(e->cu & 127, 10, 13) | bits(e->slot, 15, 19) | bits(c->pipe, 20, 21) |
		     bits(c->me, 22, 22);
	else
		t |= bits(e->cu & 127, 10, 12) | bits(e->slot, 13, 17) | bits(c->pipe, 21, 22) |
		     bits(c->me, 23, 23);
	put(c, t, 0, !e->aux ? 32 : is_gfx12(c) ? 40 : 48);
	if (e->aux && is_gfx12(c)) { /* extension bytes have bit 0 set, what follows has not */
		if (sq_below(&c->state, 2))
			put(c, 0x35, 0, 8);
		put(c, 0, 0, 4);
	}
}

static void put_inst(struct encoder *c, const struct sq_event *e)
{
	uint64_t delta = advance(c, e->time, 7);
	uint64_t w64 = c->s->is_c16 ? 0 : sq_below(&c->state, 2);

	if (e->kind == SQ_INST && e->value == SQ_VALU_TOKEN)
		put(c, VALU_INST | bits(delta, 3, 5) | bits(w64, 6, 6) | bits(e->slot, 7, 11), 0,
			12);
	else if (is_gfx12(c))
		put(c,
			INST | bits(delta, 3, 5) | bits(w64, 6, 6) | bits(e->slot, 7, 11) |
				bits(e->value, 12, 19),
			0, 20);
	else
		put(c,
			INST | bits(delta, 4, 6) | bits(w64, 7, 7) | bits(e->slot, 8, 12) |
				bits(e->value, 13, 19),
			0, 20);
}

/* Waves that do the same at once share a token. Returns how many events it took. */
static size_t put_mask(struct encoder *c, const struct sq_event *e, size_t left)
{
	uint64_t delta = advance(c, e->time, 7), mask = 0;
	bool is_ready = e->kind == SQ_READY;
	size_t n = 0;

	if (!is_ready && (e->slot > 15 || sq_below(&c->state, 2))) {
		put(c, IMM_ONE | bits(delta, 4, 6) | bits(e->slot, 7, 11), 0, 12);
		return 1;
	}
	for (; n < left && e[n].kind == e->kind && e[n].time == e->time && e[n].slot < 16 &&
		!(mask >> e[n].slot & 1);
		n++)
		mask |= (uint64_t)1 << e[n].slot;
	put(c, (is_ready ? WAVE_READY : IMMEDIATE) | bits(delta, 5, 7) | bits(mask, 8, 23), 0, 24);
	return n;
}

static void put_data(struct encoder *c, const struct sq_event *e)
{
	uint64_t delta = advance(c, e->time, 7), t;
	bool is_short = e->aux & 1;

	if (is_gfx12(c)) {
		t = bits(delta, 7, 9) | bits(e->cu >> 7, 10, 10) | bits(e->simd, 11, 12) |
		    bits(e->cu & 127, 13, 16) | bits(e->slot, 17, 21);
		if (is_short)
			t |= SHADER_DATA_SHORT_GFX12 | bits(e->value, 22, 29) |
			     bits(e->aux >> 1, 30, 31);
		else
			t |= SHADER_DATA | bits(e->value, 22, 53) | bits(e->aux >> 1, 54, 55);
		put(c, t, 0, is_short ? 32 : 56);
		return;
	}
	t = bits(delta, 5, 7) | bits(e->cu >> 7, 8, 8) | bits(e->simd, 9, 10) |
	    bits(e->cu & 127, 11, 13) | bits(e->slot, 15, 19);
	if (is_short)
		t |= SHADER_DATA_SHORT | bits(e->value, 20, 27);
	else
		t |= SHADER_DATA | bits(e->value, 20, 51);
	put(c, t, 0, is_short ? 28 : 52);
}

static void put_new_pc(struct encoder *c, const struct sq_event *e)
{
	uint64_t t = NEW_PC | bits(advance(c, e->time, 7), 8, 10) | bits(e->slot, 11, 15);

	if (is_gfx12(c))
		put(c, t | e->value >> 2 << 16, e->value >> 50 & 0x7f, 72);
	else
		put(c, t | bits(e->value >> 2, 16, 61), 0, 64);
}

static void put_loss(struct encoder *c, const struct sq_event *e)
{
	if (c->s->gen == SQ_GFX10) {
		uint64_t delta = advance(c, e->time, 511);

		put(c, MISC | bits(delta, 7, 15) | bits(1, 16, 16), 0, 24);
	} else {
		put_timestamp(c, (uint64_t)(e->time - c->now), false, true);
	}
}

static void put_event(struct encoder *c, const struct sq_event *e)
{
	const struct sqtt_other_simd *o;
	struct sq_event other = *e;

	switch (e->kind) {
	case SQ_START:
		put_wave_start(c, e);
		break;
	case SQ_END:
		put(c,
			WAVE_END | bits(advance(c, e->time, 7), 5, 7) | bits(e->cu >> 7, 8, 8) |
				bits(e->simd, 9, 10) | bits(e->cu & 127, 11, 14) |
				bits(e->slot, 15, 19),
			0, 20);
		break;
	case SQ_INST:
		put_inst(c, e);
		break;
	case SQ_NEW_PC:
		put_new_pc(c, e);
		break;
	case SQ_DATA:
		put_data(c, e);
		break;
	case SQ_OTHER:
		o = &c->s->other.v[e->value];
		other.value = sq_other_code(c->s->gen, o->category, o->cycles);
		put_inst(c, &other);
		break;
	case SQ_REALTIME:
		advance(c, e->time, 0);
		put_timestamp(c, e->value, true, false);
		break;
	case SQ_LOSS:
		put_loss(c, e);
		break;
	default:
		break;
	}
}

bool sq_encode_gfx10(const struct sq_stream *s, struct strbuf *out)
{
	struct encoder c = {.s = s, .out = out, .state = s->seed, .me = 1};
	struct sq_events v = {.is_failed = false};

	c.pipe = sq_below(&c.state, 4);
	for (size_t i = 0; i < s->waves.n; i++)
		sq_wave_events_gfx10(&v, s, &s->waves.v[i]);
	sq_add_extras(&v, s);
	sq_sort_events(&v);
	put_start(&c);
	for (size_t i = 0, n; i < v.all.n; i += n) {
		n = 1;
		if (v.all.v[i].kind == SQ_IMMED || v.all.v[i].kind == SQ_READY)
			n = put_mask(&c, &v.all.v[i], v.all.n - i);
		else
			put_event(&c, &v.all.v[i]);
	}
	if (c.has_half)
		put(&c, 0, 0, 4);
	VEC_FREE(&v.all);
	return !v.is_failed && !out->failed;
}
