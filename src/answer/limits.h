/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.h: the part of answers about how many waves a SIMD can hold.
 * Owner: strings are made in the arena of the answer.
 */
#pragma once

#include "analysis/occupancy/limits.h"
#include "answer/rows.h"

struct limit_line {
	const char *state;
	uint64_t waves; /* NO_U64: not known */
};
struct limits_by {
	struct limit_line waves, vgpr, lds, grid;
};
struct block_line {
	const char *limit;
	int64_t blocks;
	const char *source;
};
struct blocks_part {
	int64_t per_sm, warps_per_block;
	double achieved_pct, fills;
	const char *fills_source;
	struct rows by; /* block_line */
};
struct limits_part {
	struct limits l;
	uint64_t waves_per_simd; /* NO_U64: not known */
	const char *limiter;	 /* NULL: not known */
	struct rows limiters;	 /* text_item */
	struct limits_by by;
	const char *sentence, *next_step;
	const char *assumed_target, *assumed_product;
	const struct blocks_part *blocks; /* NULL: other vendors */
};
extern const struct record limits_record; /* RECORD_BLOCK */
bool limits_make(
	struct answer *a, const struct limits *l, struct limits_part *out, struct incore_error *e);
