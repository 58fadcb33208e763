/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather.h: the logical bytes of a strided view: row-major, dense. Borrowed memory of the caller;
 * no allocation, any thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "dump/log_types.h"

struct view {
	const uint8_t *base; /* of the buffer */
	uint64_t start;	     /* elements from it */
	uint64_t numel;
	unsigned elem_bytes, rank;
	uint64_t shape[LOG_MAX_RANK], strides[LOG_MAX_RANK]; /* elements */
};

/* numel from the shape, and the element behind the last one that the view touches (*end, from the
 * buffer's start). False when a product, a sum or the size in bytes leaves 64 bits. */
bool view_measure(struct view *v, uint64_t *end);
/* strides[d] is the product of shape[d + 1 ..]. */
bool view_is_dense(const struct view *v);
/* The strides that make it so. False when a product leaves 64 bits. */
bool view_make_dense(struct view *v);
/* Merges dimensions that lie behind each other in memory; same elements, same order. */
void view_simplify(struct view *v);
/* Elements [from, from + n) in logical order to dst. */
void view_gather(const struct view *v, uint64_t from, uint64_t n, uint8_t *dst);
