/* SPDX-License-Identifier: Apache-2.0 */
/* engine_cross.h: cross-core counters, and the FIFO ops that are made of them. */
#pragma once

#include "model/engine/engine_internal.h"

struct xsource { /* a set that a cross-core wait needs */
	uint32_t core, id;
};
/* Lists the sets that the next wait of this id needs; 0: no core of this block sets it. */
unsigned engine_xsources(
	const struct engine *g, const struct core *c, unsigned id, struct xsource out[BLOCK_CORES]);
/* The time at which all of them had fired; false: not yet. *last: the latest of them. */
bool engine_xready(
	struct engine *g, struct core *c, unsigned id, uint64_t *cyc, struct fired **last);
/* Joins their clocks into the pipe's and counts the wait as released at cyc. May fail: memory. */
bool engine_xtake(struct engine *g, struct core *c, unsigned id, unsigned pipe, uint64_t cyc);

struct micro {
	uint8_t act;
	uint8_t pipe;
	uint8_t xid;
	uint8_t part;
};
/* Expands PUSH, POP, FREE and FIFO_END into at most MAX_MICROS steps, the last of which repeats
 * `*repeat` times. */
#define MAX_MICROS 8
unsigned engine_micros(const struct engine *g, const struct core *c, const struct op_exec *x,
	const struct op_form *f, struct micro out[MAX_MICROS], uint32_t *repeat);
