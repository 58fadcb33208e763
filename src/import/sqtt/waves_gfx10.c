/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waves of the traced SIMD from gfx10 on. A token names both the wave and the instruction; a
 * WAVE_READY before it is the beginning of the stall.
 */
#include "import/sqtt/gfx10.h"

#define SHORT_CYC 0xffff /* shorter times need no overflow check */
#define MAX_OLDER 64u	 /* waves kept open below one slot (0.1.6 rules) */

static bool gfx10_waves_is_target(const struct decoder *d, const struct gfx10_place *p)
{
	return (p->sa << 7 | p->wgp) == d->target_cu && p->simd == d->stream.target_simd;
}

static struct running_wave *gfx10_waves_running_of(struct decoder *d, const struct gfx10_place *p)
{
	return &d->running[((p->sa * 16 + p->wgp) * 4 + p->simd) * 32 + p->wave];
}

static unsigned gfx10_waves_place_of(const struct gfx10_place *p)
{
	return PLACE(p->sa << 7 | p->wgp, p->simd, p->wave);
}

static inline void wave_advance(struct decoder *d, struct wave *w, int state, int64_t t)
{
	if (t > w->mark) {
		sqtt_need(d, wave_add(w, w->state, t - w->mark));
		w->mark = t;
	}
	w->state = (uint8_t)state;
}

static inline void gfx10_waves_set_stall(struct decoder *d, struct sqtt_inst *x, int64_t stall)
{
	if (stall > 0xffffff && !d->is_c16)
		sqtt_note_at(d, SQTT_DIFF_LONG_STALL, x->off);
	x->stall = (uint32_t)stall & d->stall_mask;
}

/* Newer rules, gfx10 and gfx11: a barrier lasts until the wave's next token. */
static void end_barrier(struct decoder *d, struct wave *w)
{
	struct sqtt_inst *x = &w->insts.v[w->barrier - 1];
	int64_t dur = d->now - x->time;

	w->barrier = 0;
	sqtt_newer(d);
	x->category = SQTT_MSG;
	x->dur = clamp_dur(w, dur > 0 ? dur : 0);
	if ((int64_t)x->stall > x->dur)
		x->stall = (uint32_t)x->dur;
	wave_advance(d, w, SQTT_WAIT, inst_end(x));
	wave_advance(d, w, SQTT_EXEC, d->now + 1);
}

/* The open wave of a slot, or NULL. */
static inline struct wave *get_wave(struct decoder *d, unsigned slot)
{
	struct wave *w = &d->waves[slot];

	if (!w->is_open || w->is_ended)
		return NULL;
	if (w->barrier)
		end_barrier(d, w);
	return w;
}

void gfx10_wave_ready(struct decoder *d, uint32_t mask)
{
	for (; mask; mask &= mask - 1) {
		struct wave *w = get_wave(d, (unsigned)__builtin_ctz(mask));

		if (w)
			wave_advance(d, w, SQTT_STALL, d->now);
	}
}

/* Written in place, field by field: copying a new struct would wait for its own stores. */
static inline struct sqtt_inst *new_inst(struct decoder *d, struct wave *w, unsigned category)
{
	struct sqtt_inst *x;

	if (__builtin_expect(w->insts.n == w->insts.cap, 0) &&
		!VEC_RESERVE(&w->insts, w->insts.n + 1)) {
		d->is_failed = true;
		return NULL;
	}
	x = &w->insts.v[w->insts.n++];
	memset(x, 0, sizeof(*x));
	x->off = (uint32_t)d->off;
	x->category = category;
	return x;
}

static void add_immediate(struct decoder *d, struct wave *w)
{
	int64_t now = d->now, t = now;
	struct sqtt_inst *x;

	if (w->insts.n && inst_end(wave_last(w)) < now)
		t = inst_end(wave_last(w));
	if (!(x = new_inst(d, w, SQTT_IMMED)))
		return;
	x->time = t;
	x->dur = clamp_dur(w, now - t + 1);
	gfx10_waves_set_stall(d, x, now - t);
	wave_advance(d, w, SQTT_WAIT, t);
	wave_advance(d, w, SQTT_EXEC, now + 1);
}

void gfx10_immediate(struct decoder *d, unsigned wave)
{
	struct wave *w = get_wave(d, wave);

	if (w && w->status == WAVE_OK)
		add_immediate(d, w);
}

/* Slow path: there is no room, or so much time passed that something may overflow. */
static __attribute__((noinline)) void add_inst_carefully(
	struct decoder *d, struct wave *w, unsigned category, unsigned cycles)
{
	int64_t now = d->now, passed = now - w->mark;
	struct sqtt_inst *x = new_inst(d, w, category);

	if (!x)
		return;
	w->end = now;
	x->time = now;
	x->dur = (int32_t)cycles;
	if (passed > 0 && w->state == SQTT_STALL) {
		x->time = w->mark;
		x->dur = clamp_dur(w, cycles + passed);
		gfx10_waves_set_stall(d, x, passed);
	}
	wave_advance(d, w, SQTT_EXEC, now);
}

void gfx10_add_inst(struct decoder *d, struct wave *w, unsigned category, unsigned cycles)
{
	int64_t now = d->now, passed = now - w->mark;
	struct sqtt_span *last;
	struct sqtt_inst *x;

	if (__builtin_expect(w->insts.n == w->insts.cap || w->spans.n == w->spans.cap ||
				     !w->spans.n || passed > SHORT_CYC ||
				     w->spans.v[w->spans.n - 1].dur > INT32_MAX - SHORT_CYC,
		    0)) {
		add_inst_carefully(d, w, category, cycles);
		return;
	}
	last = &w->spans.v[w->spans.n - 1];
	x = &w->insts.v[w->insts.n++];
	w->end = now;
	memset(x, 0, sizeof(*x));
	x->time = now;
	x->dur = (int32_t)cycles;
	x->off = (uint32_t)d->off;
	x->category = category;
	if (passed > 0) {
		if (w->state == SQTT_STALL) {
			x->time = w->mark;
			x->dur = (int32_t)(cycles + (uint32_t)passed);
			x->stall = (uint32_t)passed;
		}
		if (last->state == w->state) {
			last->dur += (int32_t)passed;
		} else {
			last[1] = (struct sqtt_span){w->state, (int32_t)passed};
			w->spans.n++;
		}
		w->mark = now;
	}
	w->state = SQTT_EXEC;
}

/* Newer rules: time in a trap handler or switched out is an instruction too. */
static void add_context(struct decoder *d, struct wave *w)
{
	if (d->is_c16)
		return;
	sqtt_newer(d);
	sqtt_need(d, VEC_PUSH(&w->insts, (struct sqtt_inst){.time = d->now,
						 .dur = 1,
						 .off = (uint32_t)d->off,
						 .category = SQTT_CONTEXT}));
}

static void extend_context(struct decoder *d, struct wave *w)
{
	if (!d->is_c16 && w->insts.n && wave_last(w)->category == SQTT_CONTEXT)
		wave_last(w)->dur = clamp_dur(w, d->now + 1 - wave_last(w)->time);
}

static void gfx10_waves_return_from_trap(struct decoder *d, struct wave *w)
{
	extend_context(d, w);
	sqtt_add_info(d, w, (uint32_t)w->insts.n, NULL);
	w->status = WAVE_OK;
}

void gfx10_inst(struct decoder *d, unsigned wave, struct gfx10_code c)
{
	struct wave *w = get_wave(d, wave);

	if (!w) {
		sqtt_note(d, SQTT_NOTE_NO_START);
		return;
	}
	if (c.kind == CODE_RETURN) {
		gfx10_waves_return_from_trap(d, w);
		return;
	}
	if (c.kind == CODE_TRAP) {
		w->status = WAVE_STANDBY;
		w->had_switch = true;
		add_context(d, w);
		return;
	}
	if (w->status != WAVE_OK)
		return;
	w->end = d->now;
	if (c.kind == CODE_NONE)
		return;
	if (c.kind == CODE_BARRIER) {
		add_immediate(d, w);
		if (!d->is_c16 && d->stream.gfx_major < 12)
			w->barrier = (uint32_t)w->insts.n;
		return;
	}
	gfx10_add_inst(d, w, c.category, c.cycles);
	if (w->is_scaled && !d->is_failed) {
		wave_last(w)->time--;
		wave_last(w)->dur = clamp_dur(w, (int64_t)wave_last(w)->dur + 1);
		w->is_scaled = false;
	}
	if (c.kind == CODE_SETPC)
		sqtt_add_info(d, w, (uint32_t)w->insts.n, NULL);
}

static bool gfx10_waves_is_memory(unsigned category)
{
	return category == SQTT_VMEM || category == SQTT_FLAT || category == SQTT_LDS ||
	       category == SQTT_SMEM || category == SQTT_BVH;
}

void gfx10_replay(struct decoder *d, unsigned wave)
{
	struct wave *w = get_wave(d, wave);

	if (!w || w->status != WAVE_OK)
		return;
	while (w->insts.n && wave_last(w)->category == SQTT_IMMED)
		w->insts.n--;
	if (w->insts.n && gfx10_waves_is_memory(wave_last(w)->category))
		w->insts.n--;
	wave_advance(d, w, SQTT_STALL, d->now);
}

void gfx10_load_scale(struct decoder *d, unsigned wave)
{
	struct wave *w = get_wave(d, wave);

	if (!w || w->status != WAVE_OK)
		return;
	w->end = d->now;
	w->is_scaled = true;
}

void gfx10_new_pc(struct decoder *d, unsigned wave, uint64_t addr)
{
	struct wave *w = &d->waves[wave];

	if (!w->is_open || w->status != WAVE_OK || !w->infos.n)
		return;
	if (w->is_ended)
		sqtt_note(d, SQTT_DIFF_LATE_PC);
	sqtt_fill_info(d, w, addr);
}

void gfx10_save_context(struct decoder *d)
{
	for (unsigned i = 0; i < GFX10_SLOTS; i++) {
		struct wave *w = get_wave(d, i);

		if (w && w->status == WAVE_OK) {
			w->status = WAVE_STANDBY;
			w->had_switch = true;
		}
	}
}

/* 0.1.6: keeps the wave that is still open below the new one. */
static void push_older(struct decoder *d, struct wave *w)
{
	struct wave *older;
	unsigned depth = 0;

	for (older = w->older; older; older = older->older)
		depth++;
	if (depth >= MAX_OLDER) {
		sqtt_emit_wave(d, w, true);
		return;
	}
	older = mem_alloc(sizeof(*older));
	if (!older) {
		d->is_failed = true;
		return;
	}
	*older = *w;
	*w = (struct wave){.older = older, .wraps = older->wraps};
}

static void pop_older(struct wave *w)
{
	struct wave *older = w->older;

	if (!older)
		return;
	wave_free(w);
	*w = *older;
	mem_free(older);
}

/* Makes room in the slot for a wave that starts now. */
static void vacate(struct decoder *d, struct wave *w)
{
	if (!w->is_open)
		return;
	if (w->is_ended)
		sqtt_emit_wave(d, w, false);
	else if (d->is_c16)
		push_older(d, w);
	else {
		sqtt_newer(d);
		sqtt_emit_wave(d, w, true);
	}
}

static struct wave *gfx10_waves_open_wave(struct decoder *d, const struct gfx10_place *p)
{
	struct wave *w = &d->waves[p->wave];

	vacate(d, w);
	wave_open(w, d->now, d->off);
	w->simd = (uint8_t)p->simd;
	w->slot = (uint8_t)p->wave;
	w->cu = (uint8_t)d->target_cu;
	return w;
}

static void standby(struct decoder *d, struct wave *w)
{
	w->status = WAVE_STANDBY;
	w->had_switch = true;
	w->contexts += w->contexts < 255;
	if (w->insts.n && wave_last(w)->category == SQTT_CONTEXT)
		extend_context(d, w);
	else
		add_context(d, w);
}

static void context_save(struct decoder *d, const struct gfx10_place *p)
{
	struct running_wave *r = gfx10_waves_running_of(d, p);
	struct wave *w = gfx10_waves_is_target(d, p) ? get_wave(d, p->wave) : NULL;

	if (w)
		standby(d, w);
	if (r->is_running)
		sqtt_occupancy(d, d->now, gfx10_waves_place_of(p), running_entry(r), false);
}

static void context_restore(struct decoder *d, const struct gfx10_place *p)
{
	if (gfx10_waves_is_target(d, p)) {
		struct wave *w = get_wave(d, p->wave);

		standby(d, w ? w : gfx10_waves_open_wave(d, p));
	}
	sqtt_occupancy(d, d->now, gfx10_waves_place_of(p),
		running_entry(gfx10_waves_running_of(d, p)), true);
	gfx10_waves_running_of(d, p)->is_running = true;
}

void gfx10_wave_start(
	struct decoder *d, const struct gfx10_place *p, unsigned queue, unsigned count)
{
	struct sqtt_pc entry;

	if (count == 66 || count == 67 || count == 70 || count == 71) {
		context_save(d, p);
		return;
	}
	if (count == 68 || count == 69 || (count >= 72 && count <= 75)) {
		context_restore(d, p);
		return;
	}
	if (!d->is_c16 && count >= 76 && count <= 89) {
		sqtt_newer(d);
		return;
	}
	entry = userdata_entry(d, queue);
	sqtt_occupancy(d, d->now, gfx10_waves_place_of(p), entry, true);
	*gfx10_waves_running_of(d, p) = (struct running_wave){entry.addr, entry.object, true};
	if (gfx10_waves_is_target(d, p)) {
		struct wave *w = gfx10_waves_open_wave(d, p);

		if (entry.addr || entry.object)
			sqtt_add_info(d, w, 0, &entry);
	}
}

/* s_endpgm has no token: it covers the time from the last instruction to the end. */
static void gfx10_waves_add_end(struct decoder *d, struct wave *w)
{
	struct sqtt_inst x = {.off = (uint32_t)d->off, .category = SQTT_MSG};

	x.time = inst_end(wave_last(w));
	x.dur = clamp_dur(w, d->now - x.time);
	sqtt_need(d, VEC_PUSH(&w->insts, x));
}

static void gfx10_waves_finish_wave(struct decoder *d, struct wave *w)
{
	wave_advance(d, w, SQTT_EMPTY, d->now);
	w->end = d->now;
	w->end_off = (uint32_t)d->off;
	if (w->insts.n && inst_end(wave_last(w)) < d->now) {
		if (d->is_c16 || w->status == WAVE_OK)
			gfx10_waves_add_end(d, w);
		else
			sqtt_newer(d);
	}
	if (!d->is_c16) {
		w->is_ended = true;
		return;
	}
	sqtt_emit_wave(d, w, false);
	pop_older(w);
}

void gfx10_wave_end(struct decoder *d, const struct gfx10_place *p)
{
	struct running_wave *r = gfx10_waves_running_of(d, p);

	if (gfx10_waves_is_target(d, p)) {
		struct wave *w = get_wave(d, p->wave);

		if (!w && d->is_c16)
			return;
		if (w)
			gfx10_waves_finish_wave(d, w);
		else
			sqtt_note(d, SQTT_DIFF_OPEN_START);
	}
	if (!r->is_running) {
		sqtt_occupancy_front(d, gfx10_waves_place_of(p));
		*r = (struct running_wave){0};
	}
	sqtt_occupancy(d, d->now, gfx10_waves_place_of(p), running_entry(r), false);
	r->is_running = false;
}

/* Emits the waves of one slot that never ended, the oldest first. */
static void emit_open(struct decoder *d, struct wave *w)
{
	if (w->older)
		emit_open(d, w->older);
	if (w->is_open && !d->is_failed)
		sqtt_emit_wave(d, w, !w->is_ended);
	if (w->older) {
		wave_free(w->older);
		mem_free(w->older);
		w->older = NULL;
	}
}

void gfx10_finish(struct decoder *d)
{
	for (unsigned i = 0; i < GFX10_SLOTS; i++)
		emit_open(d, &d->waves[i]);
}
