/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wave.h: a wave while its tokens come in: its instructions, states and the places its program is
 * known to be at. Owner: the decoder; the arrays are kept for the next wave of the slot.
 */
#pragma once

#include "base/vec.h"
#include "import/sqtt/code_lines.h"

/* From instruction `index` on the program is here; unknown until a later token says where. */
struct pc_info {
	struct sqtt_pc pc;
	uint32_t index;
	bool is_known;
};

enum wave_status { WAVE_OK, WAVE_REQUEST, WAVE_STANDBY, WAVE_NEWPC };

struct wave {
	bool is_open;
	bool is_ended;	 /* gfx10+, newer rules: waits for a late address */
	bool had_switch; /* trap or context switch */
	bool has_msg;
	bool is_scaled; /* MI400: a scale was loaded for the next instruction */
	uint8_t state;	/* enum sqtt_state */
	uint8_t status; /* enum wave_status */
	uint8_t simd, slot, contexts;
	uint32_t barrier; /* index + 1 of a barrier whose end is not known yet; 0: none */
	uint32_t off, end_off;
	int64_t begin, end, mark; /* mark: start of the current state */
	int64_t msg, last_stall;
	struct sqtt_pc entry;
	VEC(struct sqtt_inst) insts;
	VEC(struct sqtt_span) spans;
	VEC(struct pc_info) infos;
	VEC(uint32_t) issued; /* gfx9: instructions that wait to be confirmed, from issued_head */
	VEC(int64_t) stalls;  /* gfx9: stalled cycles not yet charged, from stalls_head */
	size_t issued_head, stalls_head;
	size_t first_unknown;	 /* of the infos at the end whose address is still to come */
	uint32_t replay_last[6]; /* index + 1 of the last confirmed of each memory type */
	struct wave *older;	 /* gfx10+, 0.1.6: was still open when this one started */
};

static inline int32_t clamp_dur(int64_t v)
{
	return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (int32_t)v;
}

static inline int64_t inst_end(const struct sqtt_inst *x)
{
	return x->time + x->dur;
}

static inline struct sqtt_inst *wave_last(struct wave *w)
{
	return &w->insts.v[w->insts.n - 1];
}

/* A span of its own, also next to one of the same state. */
static inline bool wave_span(struct wave *w, int state, int64_t dur)
{
	return VEC_PUSH(&w->spans, (struct sqtt_span){state, clamp_dur(dur)});
}

/* Longer by dur in that state. */
static inline bool wave_add(struct wave *w, int state, int64_t dur)
{
	size_t n = w->spans.n;

	if (!n || w->spans.v[n - 1].state != state)
		return wave_span(w, state, dur);
	w->spans.v[n - 1].dur = clamp_dur(w->spans.v[n - 1].dur + dur);
	return true;
}

void wave_open(struct wave *w, int64_t now, uint64_t off);
void wave_free(struct wave *w);
