/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h: one parallel loop. Items are handed out in order; each worker has a number below
 * pool_size(). Deterministic failure: the error of the lowest failing item is returned, and every
 * item below it has run.
 */
#pragma once

#include <stddef.h>

#include "base/error.h"

struct pool;

typedef bool (*pool_fn)(void *ctx, size_t item, unsigned worker, struct incore_error *e);

/* n = 0: one worker per online CPU. The caller's thread is worker 0. NULL on failure. */
struct pool *pool_new(unsigned n, struct incore_error *e);
void pool_free(struct pool *p);
unsigned pool_size(const struct pool *p);

/* Runs fn for items 0..n-1; returns when all are done. `grain` items are taken at a time (0: 1). A
 * NULL pool: the caller's thread alone. */
bool pool_run(
	struct pool *p, size_t n, size_t grain, pool_fn fn, void *ctx, struct incore_error *e);
