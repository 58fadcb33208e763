/* SPDX-License-Identifier: Apache-2.0 */
/* encode_gfx9.c: waves -> ISSUE and INST tokens -> bytes with a clock. */
#include "encode_gfx9.h"

#define REG_USERDATA2 0xc342u
#define REG_USERDATA3 0xc343u
#define PGM_LO 0x0cu
#define PGM_HI 0x0du
#define PHASE 15u	/* of a stream whose instructions never overlap */
#define CLOCK_BASE 5000 /* any; the first TIME token says it */

enum token {
	MISC = 0,
	TIME = 1,
	REG = 2,
	WAVE_START = 3,
	WAVE_ALLOC = 4,
	REG_CS = 5,
	WAVE_END = 6,
	EVENT = 7,
	INST = 10,
	INST_PC = 11,
	SHADERDATA = 12,
	ISSUE = 13,
	PERF = 14,
};

enum misc_kind { MISC_TIME = 0, MISC_RESET = 1, MISC_LOST = 2 };

struct encoder {
	const struct sq_stream *s;
	struct strbuf *out;
	int64_t now;
	uint64_t state; /* of random choices */
	unsigned me, pipe;
};

static uint64_t bits(uint64_t value, unsigned lo, unsigned hi)
{
	return (value & (((uint64_t)2 << (hi - lo)) - 1)) << lo;
}

/* --- waves to events --- */

/* How many phases of four cycles the confirmation of a type comes late. */
static unsigned phases_of(unsigned type)
{
	static const uint8_t add[32] = {[0] = 5,
		[16] = 5,
		[1] = 5,
		[17] = 5,
		[5] = 2,
		[18] = 2,
		[28] = 2,
		[6] = 1,
		[12] = 1,
		[13] = 1,
		[15] = 1};

	return add[type & 31];
}

static int64_t issue_of(const struct sq_inst *x, bool is_c16)
{
	if (is_c16 && x->category == SQTT_MSG)
		return x->time + x->dur - 4;
	return x->time + x->stall;
}

int64_t sq_confirm_gfx9(const struct sq_inst *x, unsigned simd, bool is_c16)
{
	int64_t late = 4 * (int64_t)(((PHASE + simd) % 4 + phases_of(x->code)) / 4);
	int64_t issue = issue_of(x, is_c16);

	if (x->category == SQTT_IMMED)
		return INT64_MIN;
	return issue + (x->time + x->dur - issue - 4) + late;
}

static void add_inst(
	struct sq_events *v, const struct sq_stream *s, const struct sq_wave *w, size_t i)
{
	const struct sq_inst *x = &w->insts.v[i];
	struct sq_event e = {.kind = SQ_ISSUE, .simd = (uint8_t)w->simd, .slot = (uint8_t)w->slot};

	if (x->category == SQTT_IMMED) {
		e.time = x->time + x->dur - 4;
		e.value = 3;
		sq_add_event(v, e);
		return;
	}
	if (x->stall) {
		e.time = x->time;
		e.value = 1;
		sq_add_event(v, e);
	}
	e.time = issue_of(x, s->is_c16);
	e.value = 2;
	sq_add_event(v, e);
	e.kind = SQ_INST;
	e.time = sq_confirm_gfx9(x, w->simd, s->is_c16);
	e.value = x->code;
	sq_add_event(v, e);
	if (x->line < s->program->n && s->program->lines[x->line].op == SQ_OP_SETPC) {
		uint32_t to = s->program->lines[x->line].target;

		e.kind = SQ_NEW_PC;
		e.value = s->load_base + s->program->lines[to].vaddr;
		sq_add_event(v, e);
	}
}

void sq_wave_events_gfx9(struct sq_events *v, const struct sq_stream *s, const struct sq_wave *w)
{
	struct sq_event e = {.time = w->begin,
		.kind = SQ_START,
		.cu = (uint16_t)w->cu,
		.simd = (uint8_t)w->simd,
		.slot = (uint8_t)w->slot};

	sq_add_event(v, e);
	for (size_t i = 0; i < w->insts.n; i++)
		add_inst(v, s, w, i);
	e.kind = SQ_END;
	e.time = w->end - (!s->is_c16 && w->cu == s->cu ? 4 : 0);
	sq_add_event(v, e);
}

/* --- tokens --- */

static void put(struct encoder *c, uint64_t token, unsigned n_bytes)
{
	sb_add(c->out, (const char *)&token, n_bytes); /* little endian, as the machine */
}

static void put_misc(struct encoder *c, unsigned kind, uint64_t delta)
{
	put(c, bits(MISC, 0, 3) | bits(delta, 4, 11) | bits(kind, 13, 15), 2);
	c->now += 4 * (int64_t)delta;
}

/* Leaves at most one tick for the next token, whose bit 4 this returns. */
static uint64_t advance(struct encoder *c, int64_t time)
{
	int64_t ticks = (time - c->now) / 4;

	if (ticks > 1000) { /* a reset says it in ten bytes */
		put_misc(c, MISC_RESET, sq_below(&c->state, 256));
		put(c, TIME | bits((uint64_t)(CLOCK_BASE + time - 4), 16, 63), 8);
		c->now = time - 4;
		ticks = 1;
	}
	while (ticks > 1 || (ticks == 1 && sq_below(&c->state, 4) == 0)) {
		uint64_t delta = ticks > 255 ? 255 : (uint64_t)ticks - sq_below(&c->state, 2);

		put_misc(c, MISC_TIME, delta);
		ticks -= (int64_t)delta;
	}
	c->now += 4 * ticks;
	return bits((uint64_t)ticks, 4, 4);
}

static void put_reg(struct encoder *c, unsigned address, uint32_t data)
{
	put(c,
		REG | bits(c->pipe, 5, 6) | bits(c->me + 1, 7, 8) | bits(1, 15, 15) |
			bits(address, 16, 31) | bits(data, 32, 63),
		8);
}

static void put_cs(struct encoder *c, unsigned which, uint32_t data)
{
	put(c,
		REG_CS | bits(c->pipe, 5, 6) | bits(c->me + 1, 7, 8) | bits(which, 9, 15) |
			bits(data, 16, 47),
		6);
}

static void put_object(struct encoder *c, unsigned type, uint32_t payload)
{
	put_reg(c, REG_USERDATA2, 4 | type << 8);
	put_reg(c, REG_USERDATA2, payload);
}

static void put_markers(struct encoder *c)
{
	const struct sq_stream *s = c->s;

	if (!s->object && !s->rt_khz)
		return;
	put_reg(c, REG_USERDATA2, 0x434f5200);
	if (s->rt_khz)
		put_reg(c, REG_USERDATA2, 6 | s->rt_khz << 12);
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
	uint64_t entry = s->load_base + s->program->vaddr;

	put(c,
		bits(0x11, 0, 12) | bits(6, 13, 15) | bits(0xf, 16, 19) | bits(s->cu, 20, 24) |
			bits(s->se, 26, 31),
		8);
	put_misc(c, MISC_RESET, 255);
	put(c, TIME | bits((uint64_t)(CLOCK_BASE + c->now - 4), 16, 63), 8);
	c->now -= 4;
	put_cs(c, PGM_LO, (uint32_t)(entry >> 8));
	put_cs(c, PGM_HI, (uint32_t)(entry >> 40));
	put_cs(c, 0x10, 0x12345678); /* a register that says nothing here */
	put_markers(c);
}

static void put_perf(struct encoder *c, const struct sqtt_perf *p, uint64_t tick)
{
	put(c,
		PERF | tick | bits(p->cu, 6, 9) | bits(p->bank, 10, 11) |
			bits(p->counter[0], 12, 24) | bits(p->counter[1], 25, 37) |
			bits(p->counter[2], 38, 50) | bits(p->counter[3], 51, 63),
		8);
}

static void put_realtime(struct encoder *c, uint64_t clock)
{
	uint32_t low = (uint32_t)clock;

	put_reg(c, REG_USERDATA3, 5);
	put_reg(c, REG_USERDATA3, low - sq_below(&c->state, low < 50 ? low + 1 : 50));
	put_reg(c, REG_USERDATA3, (uint32_t)(clock >> 32));
	put_reg(c, REG_USERDATA3, low);
}

/* All slots of a SIMD that issue at once share a token. Returns how many events it took. */
static size_t put_issue(struct encoder *c, const struct sq_event *e, size_t left)
{
	uint64_t token = ISSUE | advance(c, e->time) | bits(e->simd, 5, 6);
	uint32_t taken = 0;
	size_t n = 0;

	for (; n < left && e[n].kind == SQ_ISSUE && e[n].time == e->time && e[n].simd == e->simd &&
		!(taken >> e[n].slot & 1);
		n++) {
		token |= bits(e[n].value, 8 + 2u * e[n].slot, 9 + 2u * e[n].slot);
		taken |= 1u << e[n].slot;
	}
	put(c, token, 4);
	return n;
}

static void put_event(struct encoder *c, const struct sq_event *e)
{
	uint64_t tick = advance(c, e->time);
	uint64_t place = bits(e->cu, 6, 9) | bits(e->slot, 10, 13) | bits(e->simd, 14, 15);

	switch (e->kind) {
	case SQ_START:
		if (sq_below(&c->state, 2))
			put(c, WAVE_ALLOC | place, 2);
		put(c,
			WAVE_START | tick | place | bits(c->pipe, 16, 17) | bits(c->me, 18, 19) |
				bits(1 + sq_below(&c->state, 64), 22, 28),
			4);
		break;
	case SQ_END:
		put(c, WAVE_END | tick | place, 2);
		break;
	case SQ_INST:
		put(c,
			INST | tick | bits(e->slot, 5, 8) | bits(e->simd, 9, 10) |
				bits(e->value, 11, 15),
			2);
		break;
	case SQ_NEW_PC:
		put(c,
			INST_PC | tick | bits(e->slot, 5, 8) | bits(e->simd, 9, 10) |
				bits(e->value >> 2, 16, 63),
			8);
		break;
	case SQ_DATA:
		put(c, SHADERDATA | tick | place | bits(e->value, 16, 47), 6);
		break;
	case SQ_PERF:
		put_perf(c, &c->s->perf.v[e->value], tick);
		break;
	case SQ_REALTIME:
		put(c, EVENT | tick, 2); /* takes the time; the writes come at once */
		put_realtime(c, e->value);
		break;
	case SQ_LOSS:
		put(c, EVENT | tick, 2);
		put_misc(c, MISC_LOST, 0);
		break;
	default:
		break;
	}
}

bool sq_encode_gfx9(const struct sq_stream *s, struct strbuf *out)
{
	struct encoder c = {.s = s, .out = out, .state = s->seed, .me = 1};
	struct sq_events v = {.is_failed = false};

	c.pipe = sq_below(&c.state, 4);
	for (size_t i = 0; i < s->waves.n; i++)
		sq_wave_events_gfx9(&v, s, &s->waves.v[i]);
	sq_add_extras(&v, s);
	sq_sort_events(&v);
	put_start(&c);
	for (size_t i = 0, n; i < v.all.n; i += n) {
		n = 1;
		if (v.all.v[i].kind == SQ_ISSUE)
			n = put_issue(&c, &v.all.v[i], v.all.n - i);
		else
			put_event(&c, &v.all.v[i]);
	}
	VEC_FREE(&v.all);
	return !v.is_failed && !out->failed;
}
