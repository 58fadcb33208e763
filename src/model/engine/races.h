/* SPDX-License-Identifier: Apache-2.0 */
/*
 * races.h: do two pipes touch the same bytes with nothing that orders them? Happens-before by
 * vector clocks: one clock per pipe, one map of byte ranges per buffer. The engine reports every
 * event in an order that respects the edges; the times do not matter.
 *
 * The clock of a pipe holds, for each pipe, the number + 1 of its last op known to be complete.
 *
 * Ops of one pipe start in order, and that is enough for all but the vector pipe of a2a3: there an
 * op may read before the one before it has written (PipeBarrier of the AscendC reference: needed
 * between ops of a pipe of which one reads what the other wrote), except for long chains over one
 * tile, for which the PTO assembler emits no barrier (hw-native-sys/PTOAS pull request 674). Such a
 * pair is a finding. The a5 orders its vector pipe itself, and its compiler refuses the barrier.
 * Owner: races_free(). May fail: on memory.
 */
#pragma once

#include "model/engine/engine.h"

#define RACE_PIPES 24 /* three core instances of eight */

struct race_clock {
	uint32_t at[RACE_PIPES];
};

struct races;

/* For the streams of one block: `streams` indexes the set. */
struct races *races_new(
	const struct opstream_set *set, const uint32_t *streams, uint32_t n, struct timed *out);
void races_free(struct races *r);

static inline void race_join(struct race_clock *to, const struct race_clock *from)
{
	for (unsigned i = 0; i < RACE_PIPES; i++)
		to->at[i] = to->at[i] > from->at[i] ? to->at[i] : from->at[i];
}

/* Core is the position in `streams`; pipe an enum op_pipe. */
struct race_clock *races_clock(struct races *r, unsigned core, unsigned pipe);
/* Tells that the scalar clock of a core changed. */
void races_scalar_changed(struct races *r, unsigned core, bool keep_old);
/* Number of the current state of the scalar clock; kept for entries that a pipe cannot take yet. */
uint64_t races_version(const struct races *r, unsigned core);
/* Orders what was issued at that state after the scalar ops before it. */
void races_issued(struct races *r, unsigned core, unsigned pipe, uint64_t version);
/* A pipe waited for a flag: everything that the setter knew to be complete is now known to it. */
void races_join(struct races *r, unsigned core, unsigned pipe, const struct race_clock *from);
/* A barrier of that pipe: all of its ops so far are complete. */
void races_barrier(struct races *r, unsigned core, unsigned pipe);
/* An op runs on a pipe. */
bool races_op(struct races *r, unsigned core, unsigned pipe, uint32_t op);
