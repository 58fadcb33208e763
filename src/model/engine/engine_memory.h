/* SPDX-License-Identifier: Apache-2.0 */
/* engine_memory.h: transfers on a memory shared with other cores. Internal to the engine. */
#pragma once

#include "model/engine/engine_internal.h"

/* Computes how long each transfer of a read takes with the core's share of the memory. */
void memory_price(const struct engine *g, struct step *st);
/* Cost of one execution of a DMA op: latency and cycles of each of its transfers. */
bool memory_cost(struct engine *g, struct core *c, uint32_t op, uint64_t *lat, uint64_t *each);
/* Updates the share from the run in g->out; true: it has changed noticeably. */
bool memory_share(struct engine *g);
