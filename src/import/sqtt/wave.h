/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wave.h: a wave while its tokens are read: its instructions, states and known program addresses.
 * Owner: the decoder; the arrays are kept for the next wave of the slot.
 */
#pragma once

#include <assert.h>
#include <string.h>

#include "base/vec.h"
#include "import/sqtt/code_lines.h"

/* The program address from instruction `index` on; unknown until a later token states it. */
struct pc_info {
	struct sqtt_pc pc;
	uint32_t index;
	bool is_known;
};

enum wave_status { WAVE_OK, WAVE_REQUEST, WAVE_STANDBY, WAVE_NEWPC };

struct wave {
	/* checked for every instruction, as one number: wave_is_plain() */
	uint8_t is_open;
	uint8_t is_ended;  /* gfx10+, newer rules: waits for a late address */
	uint8_t status;	   /* enum wave_status */
	uint8_t is_scaled; /* MI400: a scale was loaded for the next instruction */
	uint32_t barrier;  /* index + 1 of a barrier whose end is not known yet; 0: none */
	uint8_t state;	   /* enum sqtt_state */
	uint8_t simd, slot, contexts, cu;
	bool had_switch : 1; /* trap or context switch */
	bool has_msg : 1;
	bool wraps : 1, is_clamped : 1; /* durations beyond 32 bits: shall wrap, were clamped */
	uint32_t off, end_off;
	int64_t begin, end, mark; /* mark: start of the current state */
	VEC(struct sqtt_inst) insts;
	VEC(struct sqtt_span) spans;
	int64_t msg, last_stall;
	struct sqtt_pc entry;
	VEC(struct pc_info) infos;
	VEC(uint32_t) issued; /* gfx9: instructions that wait to be confirmed, from issued_head */
	VEC(int64_t) stalls;  /* gfx9: stalled cycles not yet charged, from stalls_head */
	size_t issued_head, stalls_head;
	uint32_t first_unknown;	 /* first of the trailing infos without an address yet */
	uint32_t n_known;	 /* gfx10+: instructions with an address from stitching */
	uint32_t replay_last[6]; /* index + 1 of the last confirmed of each memory type */
	struct wave *older;	 /* gfx10+, 0.1.6: was still open when this one started */
};

static_assert(offsetof(struct wave, barrier) == 4, "wave_is_plain() reads what is before and it");

/* Is the wave open, not ended, in its program and with nothing pending? */
static inline bool wave_is_plain(const struct wave *w)
{
	static const uint8_t plain[8] = {1, 0, WAVE_OK, 0, 0, 0, 0, 0};

	return memcmp(w, plain, sizeof(plain)) == 0;
}

/* 0.1.6 keeps the low 32 bits of a longer one. */
static inline int32_t clamp_dur(struct wave *w, int64_t v)
{
	if (__builtin_expect(v == (int32_t)v, 1))
		return (int32_t)v;
	if (w->wraps)
		return (int32_t)(uint32_t)v;
	w->is_clamped = true;
	return v < 0 ? INT32_MIN : INT32_MAX;
}

static inline int64_t inst_end(const struct sqtt_inst *x)
{
	return x->time + x->dur;
}

static inline struct sqtt_inst *wave_last(struct wave *w)
{
	return &w->insts.v[w->insts.n - 1];
}

/* Adds a new span, even after one of the same state. */
static inline bool wave_span(struct wave *w, int state, int64_t dur)
{
	return VEC_PUSH(&w->spans, (struct sqtt_span){state, clamp_dur(w, dur)});
}

/* Adds dur to the last span if it has that state, else a new span. */
static inline bool wave_add(struct wave *w, int state, int64_t dur)
{
	size_t n = w->spans.n;

	if (!n || w->spans.v[n - 1].state != state)
		return wave_span(w, state, dur);
	w->spans.v[n - 1].dur = clamp_dur(w, w->spans.v[n - 1].dur + dur);
	return true;
}

void wave_open(struct wave *w, int64_t now, uint64_t off);
void wave_free(struct wave *w);
