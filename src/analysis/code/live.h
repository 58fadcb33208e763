/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live.h: how many vector registers hold a value that is still needed, before each instruction.
 * Inferred from the text and the control-flow graph: a register is live where some way leads to a
 * read without a write in between. Code behind a jump without a static target needs nothing.
 * Owner: live_new() .. live_free(). May fail: memory.
 */
#pragma once

#include "analysis/code/cfg.h"

struct live_row {
	uint32_t arch, accum;
};

struct live {
	struct arena arena;
	struct live_row *rows; /* by code_idx */
	struct live_row most;
};

/* NULL and *e filled on failure; of code that is not AMD's all numbers are 0. */
struct live *live_new(const struct cfg *g, struct incore_error *e);
void live_free(struct live *l);
