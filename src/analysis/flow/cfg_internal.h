/* SPDX-License-Identifier: Apache-2.0 */
/* cfg_internal.h: the second half of building a graph; used by cfg.c only. */
#pragma once

#include "analysis/flow/cfg.h"

/* Dominators of the blocks; (*order)[1..*n] are the reached blocks in depth-first preorder. */
bool cfg_find_dominators(struct cfg *g, uint32_t **order, uint32_t *n, struct incore_error *e);
/* Natural loops and their nesting. */
bool cfg_find_loops(struct cfg *g, const uint32_t *order, uint32_t n, struct incore_error *e);
