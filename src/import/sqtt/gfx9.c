/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gfx9.c: the tokens of a gfx9 stream: 2, 4, 6 or 8 bytes, depending on the low four bits of the
 * first. This file keeps the clock and passes each token to its handler.
 *
 * Parts: waves; tokens.
 */
#include "import/sqtt/internal.h"

/*
 * Effects of gfx9 tokens on waves. The fields are already extracted from the token.
 */

struct gfx9_place {
	unsigned sh, cu, slot, simd;
};

static inline struct wave *gfx9_wave(struct decoder *d, unsigned simd, unsigned slot)
{
	return &d->waves[simd * GFX9_SLOTS + slot];
}

/* --- waves ------------------------------------------------------------------------------------ */

/*
 * Waves of a gfx9 compute unit. An ISSUE token states which slots issued, stalled or executed an
 * immediate; a later INST token confirms the oldest issued one and states its type.
 */

enum inst_type {
	TYPE_SETPC = 7,
	TYPE_MESSAGE = 15,
	TYPE_TRAP = 29,
	FIRST_REPLAY = 19,
	LAST_REPLAY = 24
};

/* By instruction type: category (0: removed) and the issue phases it takes. */
static const struct {
	uint8_t category, phases;
} types[32] = {[0] = {SQTT_SMEM, 5},
	[16] = {SQTT_SMEM, 5},
	[1] = {SQTT_SALU, 5},
	[17] = {SQTT_SALU, 5},
	[2] = {SQTT_VMEM, 0},
	[3] = {SQTT_VMEM, 0},
	[4] = {SQTT_FLAT, 0},
	[14] = {SQTT_FLAT, 0},
	[5] = {SQTT_VALU, 2},
	[18] = {SQTT_VALU, 2},
	[28] = {SQTT_VALU, 2},
	[6] = {SQTT_LDS, 1},
	[12] = {SQTT_JUMP, 1},
	[13] = {SQTT_NEXT, 1},
	[TYPE_SETPC] = {SQTT_SALU, 0},
	[TYPE_MESSAGE] = {SQTT_MSG, 1},
	[TYPE_TRAP] = {SQTT_CONTEXT, 0}};

/* Which of the replay types 19.. repeats this type; index + 1. */
static const uint8_t replay_of[32] = {[0] = 1, [16] = 2, [2] = 3, [3] = 4, [4] = 5, [14] = 6};

static void gfx9_clip(struct wave *w, struct sqtt_inst *p, int64_t time)
{
	int64_t dur = time - p->time;

	if (time >= inst_end(p))
		return;
	p->dur = clamp_dur(w, dur > 4 ? dur : 4);
	if ((int64_t)p->stall > p->dur)
		p->stall = (uint32_t)p->dur;
}

static void gfx9_set_stall(struct decoder *d, struct sqtt_inst *x, int64_t stall)
{
	if (stall > 0xffffff && !d->is_c16)
		sqtt_note_at(d, SQTT_DIFF_LONG_STALL, x->off);
	x->stall = (uint32_t)stall & d->stall_mask;
}

static void issue_immediate(struct decoder *d, struct wave *w)
{
	int64_t now = d->now, t = now, dur;
	struct sqtt_inst x;

	if (w->insts.n && wave_last(w)->category != SQTT_NONE) {
		gfx9_clip(w, wave_last(w), now);
		t = inst_end(wave_last(w));
		if (w->has_msg && w->msg > t)
			t = w->msg;
		if (t > now)
			t = now;
	}
	w->has_msg = false;
	dur = 4 + now - t;
	x = (struct sqtt_inst){.time = t,
		.dur = clamp_dur(w, dur),
		.off = (uint32_t)d->off,
		.category = SQTT_IMMED};
	gfx9_set_stall(d, &x, dur);
	sqtt_need(d, VEC_PUSH(&w->insts, x));
	if (w->mark < t)
		sqtt_need(d, wave_add(w, w->state, t - w->mark));
	sqtt_need(d, wave_span(w, SQTT_WAIT, dur));
	w->mark = t + dur;
	w->state = SQTT_EXEC;
}

/* Only corrupt streams exceed these; then the older half is dropped. */
#define MAX_PENDING 256u  /* issued and not confirmed: the hardware has room for a few */
#define MAX_STALLS 65536u /* not yet charged: if there are more, the latest one counts */

/* The queues begin at a head index; an empty one is reset, a full one is moved down. */
static bool push_issued(struct wave *w, uint32_t index)
{
	if (w->issued.n - w->issued_head >= MAX_PENDING)
		w->issued_head += MAX_PENDING / 2;
	if (w->issued_head && w->issued.n == w->issued.cap) {
		w->issued.n -= w->issued_head;
		memmove(w->issued.v, w->issued.v + w->issued_head,
			w->issued.n * sizeof(w->issued.v[0]));
		w->issued_head = 0;
	}
	return VEC_PUSH(&w->issued, index);
}

static bool push_stall(struct wave *w, int64_t time)
{
	if (w->stalls.n - w->stalls_head >= MAX_STALLS)
		w->stalls_head += MAX_STALLS / 2;
	if (w->stalls_head && w->stalls.n == w->stalls.cap) {
		w->stalls.n -= w->stalls_head;
		memmove(w->stalls.v, w->stalls.v + w->stalls_head,
			w->stalls.n * sizeof(w->stalls.v[0]));
		w->stalls_head = 0;
	}
	return VEC_PUSH(&w->stalls, time);
}

/* Code: 1 stall, 2 issued, 3 immediate executed. */
static void gfx9_issue(struct decoder *d, struct wave *w, unsigned code)
{
	int64_t now = d->now;
	int before = w->state;

	if (!w->is_open || w->status != WAVE_OK || (code != 1 && !sqtt_has_room(d)))
		return;
	if (code == 3) {
		issue_immediate(d, w);
	} else if (code == 1) {
		w->state = SQTT_STALL;
		sqtt_need(d, push_stall(w, now));
		w->last_stall = now;
	} else {
		struct sqtt_inst x = {.time = now, .off = (uint32_t)d->off};

		w->state = SQTT_EXEC;
		sqtt_need(d, push_issued(w, (uint32_t)w->insts.n) && VEC_PUSH(&w->insts, x));
	}
	if (now > w->mark) {
		sqtt_need(d, wave_add(w, before, now - w->mark));
		w->mark = now;
	}
}

/* Removes instruction k; queued ones after it move down. 0.1.6 leaves the queue unchanged. */
static void remove_inst(struct decoder *d, struct wave *w, uint32_t k)
{
	w->insts.n--;
	memmove(&w->insts.v[k], &w->insts.v[k + 1], (w->insts.n - k) * sizeof(w->insts.v[0]));
	if (d->is_c16)
		return;
	if (w->issued_head < w->issued.n)
		sqtt_note(d, SQTT_DIFF_QUEUE_INDEX);
	for (size_t i = w->issued_head; i < w->issued.n; i++)
		w->issued.v[i]--;
	for (size_t i = w->infos.n;
		i > 0 && w->infos.v[i - 1].index > k && w->infos.n - i < MAX_PENDING; i--)
		w->infos.v[i - 1].index--;
}

/* xnack: the repeated access lasted until now. */
static void replay(struct decoder *d, struct wave *w, unsigned type, uint32_t k)
{
	uint32_t j = w->replay_last[type - FIRST_REPLAY];

	w->replay_last[type - FIRST_REPLAY] = 0;
	if (j > 0 && j < w->insts.n && j < k) {
		struct sqtt_inst *p = &w->insts.v[j - 1];
		int64_t dur = d->now + 4 - p->time;

		if (dur > p->dur) {
			gfx9_set_stall(d, p, (int64_t)p->stall + dur - p->dur);
			p->dur = clamp_dur(w, dur);
		}
	}
	remove_inst(d, w, k);
}

/* Stalled cycles before the issue belong to the instruction. */
static void charge_stalls(struct decoder *d, struct wave *w, struct sqtt_inst *x, uint32_t k)
{
	int64_t after = k ? inst_end(x - 1) : 0, s = 0, end = inst_end(x);

	while (w->stalls_head < w->stalls.n && w->stalls.v[w->stalls_head] < x->time) {
		s = w->stalls.v[w->stalls_head++];
		if (s < after)
			s = after;
	}
	if (w->stalls_head == w->stalls.n)
		w->stalls_head = w->stalls.n = 0;
	gfx9_set_stall(d, x, x->time > s ? x->time - s : 0);
	x->dur = clamp_dur(w, end - s > 4 ? end - s : 4);
	x->time = s;
}

static void confirm(struct decoder *d, struct wave *w, unsigned type, uint32_t k)
{
	struct sqtt_inst *x = &w->insts.v[k];
	int64_t phase = (d->phase + w->simd) % 4 + types[type].phases;
	int64_t late = d->now - x->time - 4 * (phase / 4);

	x->category = types[type].category;
	x->dur = clamp_dur(w, 4 + (late > 0 ? late : 0));
	if (replay_of[type])
		w->replay_last[replay_of[type] - 1] = k + 1;
	if (w->stalls_head < w->stalls.n && w->stalls.v[w->stalls_head] < x->time)
		charge_stalls(d, w, x, k);
	if (type == TYPE_SETPC)
		sqtt_add_info(d, w, k + 1, NULL);
	if (type == TYPE_TRAP) {
		w->status = WAVE_NEWPC;
		w->had_switch = true;
		for (size_t i = w->infos.n; i > 0 && w->infos.n - i < MAX_PENDING; i--)
			if (w->infos.v[i - 1].index == w->insts.n - 1)
				w->infos.v[i - 1].index++;
	}
}

/* The trap handler returned to an address that is not known yet. */
static void gfx9_return_from_trap(struct decoder *d, struct wave *w)
{
	sqtt_add_info(d, w, (uint32_t)w->insts.n, NULL);
	w->status = WAVE_OK;
	if (w->insts.n && wave_last(w)->category == SQTT_CONTEXT)
		wave_last(w)->dur = clamp_dur(w, d->now + 4 - wave_last(w)->time);
}

static void gfx9_inst(struct decoder *d, struct wave *w, unsigned type)
{
	struct sqtt_inst *x;
	uint32_t k;

	if (w->status == WAVE_NEWPC && type == TYPE_SETPC) {
		gfx9_return_from_trap(d, w);
		return;
	}
	if (w->status != WAVE_OK || w->issued_head == w->issued.n)
		return;
	k = w->issued.v[w->issued_head++];
	if (w->issued_head == w->issued.n)
		w->issued_head = w->issued.n = 0;
	if (k >= w->insts.n) { /* a stale index, on which 0.1.6 crashes */
		sqtt_note(d, SQTT_NOTE_REJECTED);
		d->res->status = SQTT_INVALID_DATA;
		return;
	}
	x = &w->insts.v[k];
	if (w->insts.n >= 2 && x->time < inst_end(&w->insts.v[w->insts.n - 2]))
		d->phase++;
	if (k > 0)
		gfx9_clip(w, x - 1, x->time);
	if (type == TYPE_MESSAGE && d->is_c16) {
		w->msg = x->time;
		w->has_msg = true;
		remove_inst(d, w, k);
	} else if (type >= FIRST_REPLAY && type <= LAST_REPLAY) {
		replay(d, w, type, k);
	} else if (types[type].category == SQTT_NONE) {
		remove_inst(d, w, k);
	} else {
		if (type == TYPE_MESSAGE)
			sqtt_newer(d);
		confirm(d, w, type, k);
	}
}

static void gfx9_inst_pc(struct decoder *d, struct wave *w, uint64_t addr)
{
	if (w->is_open && w->status == WAVE_OK && w->infos.n)
		sqtt_fill_info(d, w, addr);
}

static void gfx9_open_wave(struct decoder *d, struct wave *w, const struct gfx9_place *p)
{
	wave_open(w, d->now, d->off);
	w->simd = (uint8_t)p->simd;
	w->slot = (uint8_t)p->slot;
	w->cu = (uint8_t)d->target_cu;
}

static struct running_wave *gfx9_running_of(struct decoder *d, const struct gfx9_place *p)
{
	return &d->running[((p->cu & 31) * 4 + p->simd) * 16 + p->slot];
}

/* Opens a wave that has an instruction but no start. */
static void gfx9_open_unstarted(struct decoder *d, struct wave *w, const struct gfx9_place *p)
{
	struct running_wave *r = gfx9_running_of(d, p);

	gfx9_open_wave(d, w, p);
	sqtt_note(d, SQTT_NOTE_NO_START);
	if (d->rules != SQTT_RULES_RIGHT || r->is_running)
		return;
	/* it starts here, so that wave and occupancy agree; 0.1.6 has no start */
	sqtt_occupancy(d, d->now, PLACE(p->cu, p->simd, p->slot), (struct sqtt_pc){0, 0}, true);
	*r = (struct running_wave){.is_running = true};
	sqtt_note(d, SQTT_DIFF_OPEN_START);
}

static bool gfx9_is_target(const struct decoder *d, const struct gfx9_place *p)
{
	return p->cu == d->target_cu && p->sh == 0;
}

static void context_switch(struct decoder *d, struct wave *w)
{
	struct sqtt_inst x = {
		.time = d->now, .dur = 4, .off = (uint32_t)d->off, .category = SQTT_CONTEXT};

	if (!w->is_open)
		return;
	w->had_switch = true;
	if (w->status == WAVE_REQUEST) {
		w->status = WAVE_STANDBY;
		w->contexts += w->contexts < 255;
		sqtt_need(d, VEC_PUSH(&w->insts, x));
	} else if (w->status == WAVE_STANDBY) {
		w->status = WAVE_NEWPC;
	}
}

static void gfx9_wave_start(
	struct decoder *d, const struct gfx9_place *p, unsigned queue, unsigned count)
{
	struct running_wave *r = gfx9_running_of(d, p);
	struct wave *w = gfx9_wave(d, p->simd, p->slot);
	struct sqtt_pc entry;

	if (gfx9_is_target(d, p) && count > 64) {
		context_switch(d, w);
		return;
	}
	entry = userdata_entry(d, queue);
	if (gfx9_is_target(d, p) && !w->is_open) {
		gfx9_open_wave(d, w, p);
		if (entry.addr || entry.object)
			sqtt_add_info(d, w, 0, &entry);
	}
	if (!r->is_running)
		sqtt_occupancy(d, d->now, PLACE(p->cu, p->simd, p->slot), entry, true);
	*r = (struct running_wave){entry.addr, entry.object, true};
}

/* 0.1.6: the last message, s_endpgm, takes the time since the previous instruction. */
static void end_by_message(struct decoder *d, struct wave *w)
{
	struct sqtt_inst x = {.off = (uint32_t)d->off, .category = SQTT_MSG};
	int64_t start = inst_end(wave_last(w)), now = d->now;
	int state = SQTT_WAIT;

	if (start <= w->last_stall && w->last_stall <= w->msg) {
		start = w->last_stall;
		state = SQTT_STALL;
	}
	x.time = start;
	x.dur = clamp_dur(w, w->msg + 4 - start);
	if (state == SQTT_STALL)
		gfx9_set_stall(d, &x, w->msg - start);
	if (w->spans.n) {
		struct sqtt_span *last = &w->spans.v[w->spans.n - 1];

		last->dur = clamp_dur(w, last->dur - (w->msg - start));
	}
	sqtt_need(d, VEC_PUSH(&w->insts, x) && wave_span(w, state, w->msg + 4 - start));
	if (now > w->msg + 4)
		sqtt_need(d, wave_span(w, SQTT_IDLE, now - w->msg - 4));
}

static void gfx9_finish_wave(struct decoder *d, struct wave *w)
{
	w->end_off = (uint32_t)d->off;
	if (d->is_c16) {
		w->end = d->now;
		if (w->insts.n && w->has_msg && w->msg > wave_last(w)->time)
			end_by_message(d, w);
		else if (d->now > w->mark)
			sqtt_need(d, wave_span(w, SQTT_IDLE, d->now - w->mark));
	} else {
		sqtt_newer(d);
		w->end = d->now + 4;
		if (w->insts.n && w->spans.n && w->end > w->mark)
			sqtt_need(d, wave_span(w, w->state, w->end - w->mark));
	}
	sqtt_emit_wave(d, w, false);
}

/* 0.1.6 ends such a wave at 0, and leaves it out if packets were lost. */
static void end_unstarted(struct decoder *d, unsigned place)
{
	bool is_right = d->rules == SQTT_RULES_RIGHT;

	if (d->is_lost && !is_right) {
		sqtt_note(d, SQTT_NOTE_NO_START);
		return;
	}
	sqtt_occupancy_front(d, place);
	sqtt_occupancy(d, is_right ? d->now : 0, place, (struct sqtt_pc){0, 0}, false);
	if (is_right)
		sqtt_note(d, SQTT_DIFF_OPEN_START);
}

static void gfx9_wave_end(struct decoder *d, const struct gfx9_place *p)
{
	struct running_wave *r = gfx9_running_of(d, p);
	struct wave *w = gfx9_wave(d, p->simd, p->slot);
	unsigned place = PLACE(p->cu, p->simd, p->slot);

	if (gfx9_is_target(d, p)) {
		bool is_seen = w->is_open && w->status == WAVE_OK;

		/* 0.1.6 ignores the end of a wave that it has not seen */
		if (!is_seen && (w->is_open || d->rules != SQTT_RULES_RIGHT))
			return;
		if (is_seen)
			gfx9_finish_wave(d, w);
	}
	if (r->is_running)
		sqtt_occupancy(d, d->now, place, running_entry(r), false);
	else
		end_unstarted(d, place);
	r->is_running = false;
}

static void gfx9_save_context(struct decoder *d)
{
	for (unsigned i = 0; i < WAVE_COUNT; i++)
		if (d->waves[i].is_open)
			d->waves[i].status = WAVE_REQUEST;
}

/* End of the buffer: open waves leave as they are. */
static void gfx9_finish(struct decoder *d)
{
	for (unsigned i = 0; i < WAVE_COUNT && !d->is_failed; i++)
		if (d->waves[i].is_open)
			sqtt_emit_wave(d, &d->waves[i], true);
}

/* --- tokens ----------------------------------------------------------------------------------- */

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

static unsigned gfx9_field(uint64_t t, unsigned lo, unsigned hi)
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
static bool gfx9_find_time(struct decoder *d, uint64_t off, uint64_t *value)
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

	if (!gfx9_find_time(d, d->off + 2, &value))
		return;
	ts = (int64_t)value;
	if (d->clock_base == 0)
		d->clock_base = ts - d->now + 4;
	if (ts > d->clock_base)
		d->now = (ts - d->clock_base) & ~(int64_t)3;
}

static void gfx9_misc(struct decoder *d, uint64_t t)
{
	switch (gfx9_field(t, 13, 15)) {
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

static unsigned gfx9_queue_of(unsigned me, unsigned pipe)
{
	return (me & 1) * 4 + pipe;
}

static void gfx9_reg(struct decoder *d, uint64_t t)
{
	if (!d->is_c16 && !gfx9_field(t, 15, 15)) {
		sqtt_newer(d);
		return;
	}
	userdata_write(d, gfx9_field(t, 16, 31),
		gfx9_queue_of(gfx9_field(t, 7, 8) + 1, gfx9_field(t, 5, 6)), (uint32_t)(t >> 32),
		d->now);
}

static void reg_cs(struct decoder *d, uint64_t t)
{
	sqtt_register(d, gfx9_queue_of(gfx9_field(t, 7, 8) + 1, gfx9_field(t, 5, 6)),
		gfx9_field(t, 9, 15), (uint32_t)(t >> 16));
}

static struct gfx9_place gfx9_place_of(uint64_t t)
{
	return (struct gfx9_place){gfx9_field(t, 5, 5), gfx9_field(t, 6, 9), gfx9_field(t, 10, 13),
		gfx9_field(t, 14, 15)};
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
	unsigned cu = gfx9_field(t, 6, 9), bank = gfx9_field(t, 10, 11);
	struct sqtt_perf p = {.time = d->now - 4 * (int64_t)cu,
		.off = (uint32_t)d->off,
		.cu = (uint8_t)cu,
		.bank = (uint8_t)bank};
	int64_t last = d->perf_last[cu][bank];

	if (gfx9_field(t, 5, 5))
		return;
	if (d->perf_interval && last > 0 && p.time > last + d->perf_interval)
		sqtt_need(d, VEC_PUSH(&d->perf, p));
	for (unsigned i = 0; i < 4; i++)
		p.counter[i] = (uint16_t)gfx9_field(t, 12 + 13 * i, 24 + 13 * i);
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

static void tokens_gfx9_issue(struct decoder *d, uint64_t t)
{
	uint32_t codes = (uint32_t)(t >> 8) & 0xfffff;
	uint32_t busy = (codes | codes >> 1) & 0x55555;
	struct wave *w = gfx9_wave(d, gfx9_field(t, 5, 6), 0);

	for (; busy; busy &= busy - 1) {
		unsigned bit = (unsigned)__builtin_ctz(busy);

		gfx9_issue(d, w + bit / 2, codes >> bit & 3);
	}
}

/* INST and INST_PC name a slot of the target CU; an INST opens the wave if its start was lost. */
static void tokens_gfx9_inst(struct decoder *d, uint64_t t)
{
	unsigned slot = gfx9_field(t, 5, 8), simd = gfx9_field(t, 9, 10);
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
	gfx9_inst(d, w, gfx9_field(t, 11, 15));
}

static void wave_token(struct decoder *d, uint64_t t)
{
	struct gfx9_place p = gfx9_place_of(t);

	if (!is_slot_ok(d, p.slot))
		return;
	switch (t & 0xf) {
	case TOKEN_WAVE_START:
		gfx9_wave_start(d, &p, gfx9_queue_of(gfx9_field(t, 18, 19), gfx9_field(t, 16, 17)),
			gfx9_field(t, 22, 28));
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
		gfx9_reg(d, t);
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

static void gfx9_token(struct decoder *d, uint64_t t)
{
	unsigned type = (unsigned)t & 0xf;

	if (type == TOKEN_MISC) {
		if (d->off == d->swallowed_off)
			return;
		d->now += 4 * (int64_t)gfx9_field(t, 4, 11);
		if (gfx9_field(t, 13, 15))
			gfx9_misc(d, t);
		return;
	}
	if (type == TOKEN_TIME && d->off == d->claimed_off)
		return;
	d->now += 4 * (int64_t)gfx9_field(t, 4, 4);
	if (type == TOKEN_ISSUE)
		tokens_gfx9_issue(d, t);
	else if (type == TOKEN_INST || type == TOKEN_INST_PC)
		tokens_gfx9_inst(d, t);
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
		gfx9_token(d, t);
	}
	d->res->last_cyc = d->now;
	d->res->decoded_bytes = off < d->size ? off : d->size;
	if (d->res->status == SQTT_OK || !d->is_c16)
		gfx9_finish(d);
	finish_perf(d);
}
