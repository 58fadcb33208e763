/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live.h: how many vector registers hold a value that is still needed, before each instruction.
 * Inferred from the text and the control-flow graph: a register is live where some path leads to a
 * read without a write in between. After a jump without a static target no register is assumed
 * live.
 * Owner: live_new() .. live_free(). May fail: memory.
 */
#pragma once

#include "analysis/flow/cfg.h"

struct live_row {
	uint32_t arch, accum;
};

struct live {
	struct arena arena;
	struct live_row *rows; /* by code_idx */
	struct live_row most;
};

/* NULL on failure, with *e filled. For non-AMD code all numbers are 0. */
struct live *live_new(const struct cfg *g, struct incore_error *e);
void live_free(struct live *l);
