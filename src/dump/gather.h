/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather.h: the logical bytes of a strided view: row-major, dense. Memory is the caller's; no
 * allocation, any thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "dump/log_types.h"

struct gather_view {
	const uint8_t *base; /* start of the buffer */
	uint64_t start;	     /* in elements from base */
	uint64_t numel;
	unsigned elem_bytes, rank;
	uint64_t shape[LOG_MAX_RANK], strides[LOG_MAX_RANK]; /* elements */
};

/* Sets numel from the shape, and *end to one past the last element that the view touches (counted
 * from the buffer's start). False when a product, a sum or the size in bytes exceeds 64 bits. */
bool view_measure(struct gather_view *v, uint64_t *end);
/* strides[d] is the product of shape[d + 1 ..]. */
bool view_is_dense(const struct gather_view *v);
/* Sets the strides of a dense view. False when a product exceeds 64 bits. */
bool view_make_dense(struct gather_view *v);
/* Merges dimensions that are contiguous in memory; elements and their order stay the same. */
void view_simplify(struct gather_view *v);
/* Copies elements [from, from + n) in logical order to dst. */
void view_gather(const struct gather_view *v, uint64_t from, uint64_t n, uint8_t *dst);
