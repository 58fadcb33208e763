/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile_frame.h: which cells a question is about: some rows of VIEW_TILE_CELLS cells, each 2^level
 * cycles wide; and the 32 bytes that such an answer begins with. May fail: parse, with USAGE. Needs
 * no C library.
 */
#ifndef SERVE_TILE_FRAME_H
#define SERVE_TILE_FRAME_H

#include "serve/view.h"

struct tile_frame {
	unsigned level;
	uint64_t t0;
	uint32_t first, rows;
};

#define TILE_CELL_BYTES 4u
#define CELL_SEVERAL 1u
#define CELL_NOTHING 255u

/* level=, i= and the one range `key`=, below `limit`, of at most `most`. */
bool tile_frame_parse(const struct query *q, const char *key, uint32_t limit, uint32_t most,
	struct tile_frame *f, struct incore_error *e);
/* The header, then room for the cells: *cells is zeroed, rows x VIEW_TILE_CELLS x 4 bytes. */
bool tile_frame_put(const struct tile_frame *f, const char *magic, unsigned mode,
	struct strbuf *out, uint8_t **cells, struct incore_error *e);

/* part / 2^level as 0..255; what is not 0 is at least 1. */
static inline uint8_t tile_share(uint64_t part, unsigned level)
{
	uint64_t whole = UINT64_C(1) << level;
	uint64_t x = part >= whole ? 255 : (part * 255 + whole / 2) >> level;

	return (uint8_t)(x == 0 && part ? 1 : x);
}

#endif
