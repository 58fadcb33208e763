/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed_dir.h: the directory of a packed file: what each track holds, what each block holds, where
 * each stream lies. For reading and writing, as in fields.h.
 */
#pragma once

#include "trace/fields.h"
#include "trace/packed_block.h"

/* Why a track could not be loaded when the file was packed; one link per layer, outermost first. */
struct stored_error {
	uint32_t status;
	const char *code, *message, *path;
	uint64_t offset;
	uint32_t line, column;
	struct stored_error *cause;
};

struct track_content {
	uint32_t n[PIECE_KINDS];
	uint32_t n_unknown_code, stated_slices;
	uint64_t begin_cyc, end_cyc;
	uint32_t coord_file[TRACK_LEVELS];
	struct stored_error *error; /* NULL: the track is complete */
	uint32_t error_want; /* enum track_want: what cannot be loaded; TRACK_NO_SLICES: nothing
				can */
};

struct block_info {
	track_idx first_track; /* may continue the last track of the previous block */
	uint32_t n_pieces, n_rows;
	uint64_t min_cyc, max_cyc;
	uint64_t raw_bytes[STREAM_COUNT];
	uint64_t hash[2]; /* hash of all its streams, uncompressed */
	struct class_sum sums[CLASS_COUNT];
};

struct block_place {
	uint64_t offset;		     /* in the file; the streams are consecutive */
	uint64_t stored_bytes[STREAM_COUNT]; /* equal to raw_bytes: not compressed */
	uint64_t checksum[STREAM_COUNT];     /* hash_bytes() of the stored bytes, seed = stream */
};

struct packed_dir {
	struct track_content *contents; /* one per track */
	uint32_t n_blocks;
	struct block_info *blocks;
	struct block_place *places;
};

void packed_move_contents(struct fields *f, const struct trace *t, struct packed_dir *dir);
void packed_move_blocks(struct fields *f, struct packed_dir *dir);
void packed_move_places(struct fields *f, struct packed_dir *dir);

/* Copies an error chain into the arena; false on lack of memory. */
bool stored_error_of(struct arena *a, const struct incore_error *e, struct stored_error **out);
/* Restores the error in *e; always returns false. */
bool stored_error_raise(const struct stored_error *s, struct incore_error *e);
