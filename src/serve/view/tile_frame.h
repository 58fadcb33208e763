/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile_frame.h: the cells of a question: some rows of VIEW_TILE_CELLS cells, each 2^level cycles
 * wide; and the 32-byte header of such answers. A row is a range of tracks (or of SIMDs), mostly of
 * a single one. May fail: parse and lanes, with USAGE. Also runs in a browser.
 */
#pragma once

#include "serve/view/view.h"

struct tile_frame {
	unsigned level;
	uint64_t t0;
	uint64_t kernel; /* for lanes: only its tracks; TILE_ANY_KERNEL: all */
	uint32_t first;	 /* number of the first row, for the header */
	uint32_t rows;
	struct {
		uint32_t first, last;
	} row[VIEW_MAX_TRACKS];
};

#define TILE_ANY_KERNEL UINT32_MAX

#define TILE_CELL_BYTES ((size_t)4)
#define CELL_SEVERAL 1u
#define CELL_NOTHING 255u

/* Parses level=, i=, kernel= and the ranges `key`= below `limit`: a row per number, at most
 * `most`. */
bool tile_frame_parse(const struct query *q, const char *key, uint32_t limit, uint32_t most,
	struct tile_frame *f, struct incore_error *e);
/* Parses level=, i= and kernel=; each of the ranges is one row. */
bool tile_frame_ranges(const struct query *q, const struct query_ranges *r, struct tile_frame *f,
	struct incore_error *e);
/* Like tile_frame_parse() for the tracks of v: tracks=, or lanes=, where each range is one row. */
bool tile_frame_lanes(
	const struct query *q, const struct view *v, struct tile_frame *f, struct incore_error *e);
/* Is the track shown? Tracks without a known kernel always are. */
static inline bool tile_frame_has(const struct tile_frame *f, const struct view *v, track_idx track)
{
	uint32_t id = v->trace->tracks[track].kernel_id;

	return f->kernel == TILE_ANY_KERNEL || id == UINT32_MAX || id == f->kernel;
}

/* Appends the header and zeroed cells: *cells has rows x VIEW_TILE_CELLS x 4 bytes. */
bool tile_frame_put(const struct tile_frame *f, const char *magic, unsigned mode,
	struct strbuf *out, uint8_t **cells, struct incore_error *e);

/* part / 2^level scaled to 0..255; at least 1 if part is not 0. */
static inline uint8_t tile_share(uint64_t part, unsigned level)
{
	uint64_t whole = UINT64_C(1) << level;
	uint64_t x = part >= whole ? 255 : (part * 255 + whole / 2) >> level;

	return (uint8_t)(x == 0 && part ? 1 : x);
}
