/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed_block.h: the content of tracks as columns of bytes, and back. A block holds pieces: whole
 * small tracks, or a part of a large one. packed_block.c writes, packed_unpack.c and packed_rows.c
 * read. Nothing here is compressed or stored; see packed_write.c.
 * Owner: block_deinit() frees the builder's buffers; a view borrows the bytes it reads.
 */
#pragma once

#include "base/vec.h"
#include "trace/packed_types.h"
#include "trace/trace.h"

enum piece_kind { PIECE_ROWS, PIECE_STATES, PIECE_WAITS, PIECE_PRODUCERS, PIECE_KINDS };

/* Streams of varints; each piece states its bytes in them. */
#define BLOCK_VARINTS 7u
extern const enum packed_stream block_varints[BLOCK_VARINTS];
extern const uint32_t block_max[PIECE_KINDS]; /* most elements per block */

/* State of one track, carried from piece to piece. */
struct piece_cursor {
	uint32_t done[PIECE_KINDS];  /* when reading: only slices, including those the filter left
					out */
	uint64_t start_cyc, end_cyc; /* of the previous slice */
	uint32_t code, wait, producer;
	uint32_t n_named; /* producers named by the waits so far */
	bool is_past;	  /* when reading: nothing that follows passes the filter */
};
void piece_cursor_init(struct piece_cursor *c, uint64_t begin_cyc);

struct class_sum {
	uint64_t hit, dur_cyc, stall_cyc;
};

struct block {
	VEC(uint8_t) stream[STREAM_COUNT];
	uint32_t n[PIECE_KINDS];
	uint32_t n_pieces;
	track_idx first_track;
	uint64_t min_cyc, max_cyc; /* first start, last end, each in its track's clock; min > max:
				      no slices */
	struct class_sum sums[CLASS_COUNT];
};

void block_clear(struct block *b); /* keeps memory */
void block_deinit(struct block *b);
bool block_is_full(const struct block *b);
/* Adds as much of track i as fits; *is_done: the track is complete. */
bool block_add(struct block *b, const struct trace *t, track_idx i, const struct track_data *d,
	struct piece_cursor *c, bool *is_done);

/* One piece as it lies in a block. */
struct piece {
	uint32_t scale;		       /* all its cycles were divided by this */
	uint32_t n[PIECE_KINDS];       /* elements */
	uint32_t from[STREAM_COUNT];   /* first byte in each stream */
	uint32_t length[STREAM_COUNT]; /* bytes in each stream */
};

/* Reads n_pieces records of STREAM_PIECES; false when they do not fit the sizes of the streams. */
bool block_read_pieces(const uint8_t *p, size_t size, const uint64_t raw_bytes[STREAM_COUNT],
	uint32_t n_pieces, struct piece *out);
/* Bit mask of the streams needed for `want` (enum track_want as for loading). */
unsigned block_streams(unsigned want);
/* What slices refer to. */
struct block_code {
	uint32_t n;	      /* rows */
	const uint8_t *class; /* by row, followed by a 0 for slices of unknown code */
};
/* Appends a piece to d, which must have room. `stream` holds the wanted streams. False: the bytes
 * are invalid. */
bool block_read_piece(const struct block_code *k, const struct piece *pc,
	const uint8_t *const stream[STREAM_COUNT], unsigned want, struct piece_cursor *c,
	struct track_data *d);
