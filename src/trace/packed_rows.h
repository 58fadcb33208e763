/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed_rows.h: the slices of a piece, read from their columns of bytes. Internal to the reader of
 * packed files.
 */
#pragma once

#include "trace/packed_block.h"

/* Appends the slices of a piece to d, which has room for all of them: the columns that are wanted
 * and, with a filter, not much more than passes it. False: the bytes are invalid. */
bool block_read_rows(const struct block_code *k, const struct piece *pc,
	const uint8_t *const stream[STREAM_COUNT], unsigned want, struct piece_cursor *c,
	struct track_data *d);

/* Reads n varints, each multiplied by scale. Returns where they end, or NULL if they are
 * invalid. */
const uint8_t *block_read_u32s(
	const uint8_t *p, const uint8_t *end, uint32_t scale, uint32_t n, uint32_t *out);
