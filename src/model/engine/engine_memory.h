/* SPDX-License-Identifier: Apache-2.0 */
/* engine_memory.h: transfers on a memory that other cores use, too. Internal to the engine. */
#pragma once

#include "model/engine/engine_internal.h"

/* How long each transfer of a read takes with the core's share of the memory. */
void memory_price(const struct engine *g, struct step *st);
/* What a DMA op costs this time: latency and cycles of each of its transfers. */
bool memory_cost(struct engine *g, struct core *c, uint32_t op, uint64_t *lat, uint64_t *each);
/* Sets the share that follows from the run in g->out; true: it is another one. */
bool memory_share(struct engine *g);
