/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranges.h: which bytes does an operand touch? For a plain tile its valid rows (columns if column
 * major), for a boxed tile the fractals that hold a touched element, for a view of global memory
 * its rectangle. Owner of the list: the caller (VEC_FREE). May fail: on memory.
 */
#pragma once

#include "base/vec.h"
#include "model/stream/opstream.h"

struct range { /* bytes [from, to) of a buffer */
	uint64_t from, to;
};

struct range_list {
	VEC(struct range) v;
	uint64_t bytes; /* of all pieces */
	bool is_cut;	/* the operand has more pieces than are examined */
};

#define RANGES_MAX 65536		 /* pieces of one operand */
#define RANGES_BYTES ((uint64_t)1 << 28) /* of all pieces since `bytes` was 0 */
#define RANGES_END ((uint64_t)1 << 48)

/* Appends the bytes that operand k of x touches, relative to its buffer: the on-chip buffer of its
 * location, or the allocation of its slot. */
bool ranges_of(
	const struct opstream *s, const struct op_exec *x, unsigned k, struct range_list *out);
