/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tokens of a gfx9 stream: 2, 4, 6 or 8 bytes, depending on the low four bits of the first.
 * This file keeps the clock and passes each token to its handler.
 */
#include "import/sqtt/waves_gfx9.h"

enum token {
	TOKEN_MISC = 0,
	TOKEN_TIME = 1,
	TOKEN_REG = 2,
	TOKEN_WAVE_START = 3,
	TOKEN_WAVE_ALLOC = 4,
	TOKEN_REG_CS = 5,
	TOKEN_WAVE_END = 6,
	TOKEN_EVENT = 7,
	TOKEN_EVENT_CS = 8,
	TOKEN_EVENT_GFX1 = 9,
	TOKEN_INST = 10,
	TOKEN_INST_PC = 11,
	TOKEN_SHADERDATA = 12,
	TOKEN_ISSUE = 13,
	TOKEN_PERF = 14,
	TOKEN_REG_CS_PRIV = 15,
};

enum misc {
	MISC_TIME_RESET = 1,
	MISC_PACKET_LOST = 2,
	MISC_STALL_BEGIN = 4,
	MISC_STALL_END = 5,
	MISC_SAVE_CONTEXT = 6,
};

#define HEADER_BYTES 8u

static const uint8_t lengths[16] = {2, 8, 8, 4, 2, 6, 2, 2, 2, 2, 2, 8, 6, 4, 8, 6};

static unsigned field(uint64_t t, unsigned lo, unsigned hi)
{
	return (unsigned)(t >> lo & (((uint64_t)2 << (hi - lo)) - 1));
}

static uint64_t load_token(const struct decoder *d, uint64_t off, unsigned len)
{
	uint64_t t = 0;

	memcpy(&t, d->data + off, len);
	return t;
}

/* Finds the TIME token after `off`, the base of the clock. If another reset comes first there is
 * none, and 0.1.6 overlooks that reset. Each byte is searched once: a reset ends the search. */
static bool find_time(struct decoder *d, uint64_t off, uint64_t *value)
{
	while (off + 2 <= d->size) {
		unsigned type = d->data[off] & 0xf, len = lengths[type];

		if (off + len > d->size)
			return false;
		if (type == TOKEN_TIME) {
			d->claimed_off = off;
			*value = load_token(d, off, len) >> 16;
			return true;
		}
		if (type == TOKEN_MISC && d->data[off + 1] >> 5 == MISC_TIME_RESET) {
			sqtt_newer(d);
			if (d->is_c16)
				d->swallowed_off = off;
			return false;
		}
		off += len;
	}
	return false;
}

static void reset_time(struct decoder *d)
{
	uint64_t value;
	int64_t ts;

	if (!find_time(d, d->off + 2, &value))
		return;
	ts = (int64_t)value;
	if (d->clock_base == 0)
		d->clock_base = ts - d->now + 4;
	if (ts > d->clock_base)
		d->now = (ts - d->clock_base) & ~(int64_t)3;
}

static void misc(struct decoder *d, uint64_t t)
{
	switch (field(t, 13, 15)) {
	case MISC_TIME_RESET:
		reset_time(d);
		break;
	case MISC_PACKET_LOST:
		d->is_lost = true;
		sqtt_note(d, SQTT_NOTE_PACKET_LOST);
		sqtt_event(d, SQTT_PACKET_LOSS, 0, false);
		break;
	case MISC_STALL_BEGIN:
		sqtt_note(d, SQTT_NOTE_TRACE_STALL);
		sqtt_event(d, SQTT_STALL_BEGIN, 0, false);
		break;
	case MISC_STALL_END:
		sqtt_event(d, SQTT_STALL_END, 0, false);
		break;
	case MISC_SAVE_CONTEXT:
		gfx9_save_context(d);
		sqtt_event(d, SQTT_SAVE_CONTEXT, 0, false);
		break;
	default:
		break;
	}
}

static unsigned queue_of(unsigned me, unsigned pipe)
{
	return (me & 1) * 4 + pipe;
}

static void reg(struct decoder *d, uint64_t t)
{
	if (!d->is_c16 && !field(t, 15, 15)) {
		sqtt_newer(d);
		return;
	}
	userdata_write(d, field(t, 16, 31), queue_of(field(t, 7, 8) + 1, field(t, 5, 6)),
		(uint32_t)(t >> 32), d->now);
}

static void reg_cs(struct decoder *d, uint64_t t)
{
	sqtt_register(d, queue_of(field(t, 7, 8) + 1, field(t, 5, 6)), field(t, 9, 15),
		(uint32_t)(t >> 16));
}

static struct gfx9_place place_of(uint64_t t)
{
	return (struct gfx9_place){
		field(t, 5, 5), field(t, 6, 9), field(t, 10, 13), field(t, 14, 15)};
}

/* Slots are 0 to 9; others are corruption, for which 0.1.6 rejects the whole stream. */
static bool is_slot_ok(struct decoder *d, unsigned slot)
{
	if (slot < GFX9_SLOTS)
		return true;
	sqtt_note(d, SQTT_NOTE_BAD_SLOT);
	sqtt_note(d, d->is_c16 ? SQTT_NOTE_REJECTED : SQTT_DIFF_BAD_SLOT);
	if (d->is_c16)
		d->res->status = SQTT_INVALID_DATA;
	return false;
}

static void shaderdata(struct decoder *d, uint64_t t, const struct gfx9_place *p)
{
	struct sqtt_shaderdata s = {d->now, (uint32_t)(t >> 16), (uint32_t)d->off, (uint8_t)p->cu,
		(uint8_t)p->simd, (uint8_t)p->slot, 0};

	sqtt_need(d, VEC_PUSH(&d->shaderdata, s));
	if (d->shaderdata.n >= BATCH)
		sqtt_flush(d, false);
}

static void perf(struct decoder *d, uint64_t t)
{
	unsigned cu = field(t, 6, 9), bank = field(t, 10, 11);
	struct sqtt_perf p = {.time = d->now - 4 * (int64_t)cu,
		.off = (uint32_t)d->off,
		.cu = (uint8_t)cu,
		.bank = (uint8_t)bank};
	int64_t last = d->perf_last[cu][bank];

	if (field(t, 5, 5))
		return;
	if (d->perf_interval && last > 0 && p.time > last + d->perf_interval)
		sqtt_need(d, VEC_PUSH(&d->perf, p));
	for (unsigned i = 0; i < 4; i++)
		p.counter[i] = (uint16_t)field(t, 12 + 13 * i, 24 + 13 * i);
	sqtt_need(d, VEC_PUSH(&d->perf, p));
	d->perf_last[cu][bank] = p.time;
	if (d->perf.n >= BATCH)
		sqtt_flush(d, false);
}

/* Counters that stopped become zero one interval after their last sample. */
static void finish_perf(struct decoder *d)
{
	for (unsigned cu = 0; cu < 16 && d->perf_interval; cu++)
		for (unsigned bank = 0; bank < 4; bank++)
			if (d->perf_last[cu][bank] != INT64_MIN)
				sqtt_need(d,
					VEC_PUSH(&d->perf,
						(struct sqtt_perf){.time = d->perf_last[cu][bank] +
									   d->perf_interval,
							.off = (uint32_t)d->off,
							.cu = (uint8_t)cu,
							.bank = (uint8_t)bank}));
}

static void issue(struct decoder *d, uint64_t t)
{
	uint32_t codes = (uint32_t)(t >> 8) & 0xfffff;
	uint32_t busy = (codes | codes >> 1) & 0x55555;
	struct wave *w = gfx9_wave(d, field(t, 5, 6), 0);

	for (; busy; busy &= busy - 1) {
		unsigned bit = (unsigned)__builtin_ctz(busy);

		gfx9_issue(d, w + bit / 2, codes >> bit & 3);
	}
}

/* INST and INST_PC name a slot of the target CU; an INST opens the wave if its start was lost. */
static void inst(struct decoder *d, uint64_t t)
{
	unsigned slot = field(t, 5, 8), simd = field(t, 9, 10);
	struct wave *w;

	if (!is_slot_ok(d, slot))
		return;
	w = gfx9_wave(d, simd, slot);
	if ((t & 0xf) == TOKEN_INST_PC) {
		gfx9_inst_pc(d, w, t >> 16 << 2);
		return;
	}
	if (!w->is_open)
		gfx9_open_unstarted(d, w, &(struct gfx9_place){0, d->target_cu, slot, simd});
	gfx9_inst(d, w, field(t, 11, 15));
}

static void wave_token(struct decoder *d, uint64_t t)
{
	struct gfx9_place p = place_of(t);

	if (!is_slot_ok(d, p.slot))
		return;
	switch (t & 0xf) {
	case TOKEN_WAVE_START:
		gfx9_wave_start(
			d, &p, queue_of(field(t, 18, 19), field(t, 16, 17)), field(t, 22, 28));
		break;
	case TOKEN_WAVE_END:
		gfx9_wave_end(d, &p);
		break;
	case TOKEN_SHADERDATA:
		shaderdata(d, t, &p);
		break;
	default:
		break;
	}
}

static void other_token(struct decoder *d, uint64_t t)
{
	switch (t & 0xf) {
	case TOKEN_REG:
		reg(d, t);
		break;
	case TOKEN_REG_CS:
	case TOKEN_REG_CS_PRIV:
		reg_cs(d, t);
		break;
	case TOKEN_WAVE_START:
	case TOKEN_WAVE_ALLOC:
	case TOKEN_WAVE_END:
	case TOKEN_SHADERDATA:
		wave_token(d, t);
		break;
	case TOKEN_PERF:
		perf(d, t);
		break;
	default:
		break;
	}
}

static void token(struct decoder *d, uint64_t t)
{
	unsigned type = (unsigned)t & 0xf;

	if (type == TOKEN_MISC) {
		if (d->off == d->swallowed_off)
			return;
		d->now += 4 * (int64_t)field(t, 4, 11);
		if (field(t, 13, 15))
			misc(d, t);
		return;
	}
	if (type == TOKEN_TIME && d->off == d->claimed_off)
		return;
	d->now += 4 * (int64_t)field(t, 4, 4);
	if (type == TOKEN_ISSUE)
		issue(d, t);
	else if (type == TOKEN_INST || type == TOKEN_INST_PC)
		inst(d, t);
	else
		other_token(d, t);
}

void sqtt_run_gfx9(struct decoder *d)
{
	uint64_t off = HEADER_BYTES;

	while (off < d->size && !d->is_failed && d->res->status == SQTT_OK) {
		uint64_t t = off + 8 <= d->size ? load64(d->data + off)
						: load_token(d, off, (unsigned)(d->size - off));
		unsigned len = lengths[t & 0xf];

		d->off = off;
		if (off + len > d->size) {
			sqtt_note(d, SQTT_NOTE_CUT);
			if (!d->is_c16) {
				sqtt_note(d, SQTT_DIFF_CUT);
				break;
			} /* 0.1.6 reads missing bits as zeros */
		}
		off += len;
		token(d, t);
	}
	d->res->last_cyc = d->now;
	d->res->decoded_bytes = off < d->size ? off : d->size;
	if (d->res->status == SQTT_OK || !d->is_c16)
		gfx9_finish(d);
	finish_perf(d);
}
