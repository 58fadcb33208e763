/* SPDX-License-Identifier: Apache-2.0 */
/*
 * issue_gfx10.h: an instruction joins its wave, from gfx10 on. Inline, because nothing else is done
 * as often: half of the tokens of a dense stream are instructions.
 */
#ifndef IMPORT_SQTT_ISSUE_GFX10_H
#define IMPORT_SQTT_ISSUE_GFX10_H

#include "import/sqtt/gfx10.h"

static inline void wave_advance(struct decoder *d, struct wave *w, int state, int64_t t)
{
	if (t > w->mark) {
		sqtt_need(d, wave_add(w, w->state, t - w->mark));
		w->mark = t;
	}
	w->state = (uint8_t)state;
}

static inline void set_stall(struct decoder *d, struct sqtt_inst *x, int64_t stall)
{
	if (stall > 0xffffff && !d->is_c16)
		sqtt_note_at(d, SQTT_DIFF_LONG_STALL, x->off);
	x->stall = (uint32_t)stall & d->stall_mask;
}

/* Written in place, field by field: a copy of a struct just made waits for its own stores. */
static inline struct sqtt_inst *new_inst(struct decoder *d, struct wave *w, unsigned category)
{
	struct sqtt_inst *x;

	if (__builtin_expect(!VEC_RESERVE(&w->insts, w->insts.n + 1), 0)) {
		d->is_failed = true;
		return NULL;
	}
	x = &w->insts.v[w->insts.n++];
	memset(x, 0, sizeof(*x));
	x->off = (uint32_t)d->off;
	x->category = category;
	return x;
}

static inline void add_inst(struct decoder *d, struct wave *w, unsigned category, unsigned cycles)
{
	struct sqtt_inst *x = new_inst(d, w, category);
	int64_t now = d->now;

	if (!x)
		return;
	x->time = now;
	x->dur = (int32_t)cycles;
	if (w->state == SQTT_STALL && w->mark < now) {
		x->time = w->mark;
		x->dur = clamp_dur(w, cycles + now - w->mark);
		set_stall(d, x, now - w->mark);
	}
	if (__builtin_expect(w->is_scaled, 0)) {
		x->time--;
		x->dur = clamp_dur(w, (int64_t)x->dur + 1);
		w->is_scaled = false;
	}
	wave_advance(d, w, SQTT_EXEC, now);
}

#endif
