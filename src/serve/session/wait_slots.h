/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_slots.h: the colour of each executed wait: that of what it waited for. A wait for several
 * kinds has the colour of the one that takes longest as a rule: vector memory, then stores, scalar
 * memory, LDS, cross-lane operations, messages. A wait for nothing keeps the colour of its class.
 *
 * Owner: wait_slots_free(). May fail: memory.
 */
#pragma once

#include "base/pool.h"
#include "trace/columns.h"

/* *out: NULL if waits of this trace have no counters. The pool is the one that columns are loaded
 * with. */
bool wait_slots_new(const struct trace *t, const struct pool *pool, struct lane_waits **out,
	struct incore_error *e);
void wait_slots_free(struct lane_waits *w); /* NULL does nothing */
