/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed_file.h: an opened packed file: header, trailer and section table checked, sections handed
 * out uncompressed. Owner: packed_file_close() after a successful open.
 *
 * More than 150 lines because the bytes of a packed file are described once, for its writer and its
 * reader.
 */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/file.h"
#include "base/little_endian.h"
#include "base/vec.h"
#include "trace/fields.h"
#include "trace/trace.h"

/* --- the bytes -------------------------------------------------------------------------------- */

/*
 * The bytes of a packed file (.incore), as described in the man page incore-packed(7).
 *
 *	header, streams of block 0, streams of block 1, ..., sections, section table, trailer
 *
 * All integers little-endian. Everything that is not a stream of a block is a section.
 */

#define PACKED_VERSION 1
#define PACKED_HEADER_BYTES 16
#define PACKED_SECTION_BYTES 40
#define PACKED_TRAILER_BYTES 64
#define PACKED_MAGIC "\x89incore\n"   /* first bytes of the file */
#define PACKED_END_MAGIC "incore\r\n" /* last bytes of the file */
static_assert(sizeof(PACKED_MAGIC) == 9, "a magic is 8 bytes");
static_assert(sizeof(PACKED_END_MAGIC) == 9, "a magic is 8 bytes");

enum packed_section_id {
	PACKED_META = 1,
	PACKED_CODE = 2,
	PACKED_TOTALS = 3,
	PACKED_SAMPLES = 4,
	PACKED_SOURCES = 5,
	PACKED_SOURCE_TEXTS = 6,
	PACKED_CLOCKS = 7,
	PACKED_TRACKS = 8,
	PACKED_OCCUPANCY = 9,
	PACKED_DISPATCHES = 10,
	PACKED_COUNTERS = 11,
	PACKED_MARKERS = 12,
	PACKED_OTHER_ISSUES = 13,
	PACKED_SERIES = 14,
	PACKED_LINKS = 15,
	PACKED_NOTES = 16,
	PACKED_CONTENT = 17, /* per track: counts and what its loading saw */
	PACKED_BLOCKS = 18,  /* per block: tracks, time range, sums by class */
	PACKED_PLACES = 19,  /* per stream: where it lies; the only section outside the content hash
			      */
	PACKED_SAMPLED = 20, /* optional: named reasons, figures by row, links of the code */
	PACKED_SECTION_END
};
/* Older files may lack this section and those after it; it is only written if it has content. */
#define PACKED_OPTIONAL PACKED_SAMPLED

enum packed_codec { PACKED_RAW = 0, PACKED_ZSTD = 1 };

/* The columns of a block, in this order; each is compressed separately. */
enum packed_stream {
	STREAM_PIECES = 0, /* per piece: counts, then bytes of its part in the streams below */
	STREAM_GAP = 1,
	STREAM_ISSUE = 2,
	STREAM_STALL = 3,
	STREAM_CODE = 4,
	STREAM_CLASS = 5,
	STREAM_TAG = 6,
	STREAM_STATE = 7,
	STREAM_STATE_DUR = 8,
	STREAM_WAITS = 9,
	STREAM_PRODUCERS = 10,
	STREAM_COUNT = 11
};

/* A block is closed when one of these is reached, and never holds more. */
#define BLOCK_MAX_ROWS 65536
#define BLOCK_MAX_PIECES 4096
/* A reader rejects a stored section that claims to grow by more than this, or by more than
 * PACKED_LARGE_RATIO above PACKED_SMALL bytes: a small file must not use up all memory. */
#define PACKED_MAX_RATIO 1024
#define PACKED_SMALL ((uint64_t)64 << 20)
#define PACKED_LARGE_RATIO 64
static inline bool packed_may_grow(uint64_t stored_bytes, uint64_t raw_bytes)
{
	return raw_bytes / (raw_bytes > PACKED_SMALL ? PACKED_LARGE_RATIO : PACKED_MAX_RATIO) <=
	       stored_bytes;
}

struct packed_section {
	uint32_t id;	/* enum packed_section_id */
	uint32_t codec; /* enum packed_codec */
	uint64_t offset, stored_bytes, raw_bytes;
	uint64_t checksum; /* hash_bytes() of the stored bytes, seed = id */
};
static_assert(sizeof(struct packed_section) == PACKED_SECTION_BYTES, "section entry");

struct packed_trailer {
	uint64_t table_offset;
	uint32_t n_sections;
	uint32_t flags; /* 0 */
	uint64_t file_bytes;
	uint64_t content_hash[2];
	uint64_t table_checksum;   /* hash_bytes() of the section table, seed 0 */
	uint64_t trailer_checksum; /* hash_bytes() of the trailer before this field, seed 0 */
	char magic[8];
};
static_assert(sizeof(struct packed_trailer) == PACKED_TRAILER_BYTES, "trailer");
#define PACKED_TRAILER_CHECKED 48 /* bytes before trailer_checksum */

static inline void packed_section_get(const uint8_t *p, struct packed_section *s)
{
	s->id = le32(p);
	s->codec = le32(p + 4);
	s->offset = le64(p + 8);
	s->stored_bytes = le64(p + 16);
	s->raw_bytes = le64(p + 24);
	s->checksum = le64(p + 32);
}

static inline void packed_trailer_get(const uint8_t *p, struct packed_trailer *t)
{
	t->table_offset = le64(p);
	t->n_sections = le32(p + 8);
	t->flags = le32(p + 12);
	t->file_bytes = le64(p + 16);
	t->content_hash[0] = le64(p + 24);
	t->content_hash[1] = le64(p + 32);
	t->table_checksum = le64(p + 40);
	t->trailer_checksum = le64(p + 48);
	memcpy(t->magic, p + 56, 8);
}

/* --- blocks ----------------------------------------------------------------------------------- */

/*
 * The content of tracks as columns of bytes, and back. A block holds pieces: whole small tracks, or
 * a part of a large one. packed_block.c writes, packed_read.c reads. Nothing
 * here is compressed or stored; see packed_write.c. Owner: block_deinit() frees the builder's
 * buffers; a view borrows the bytes it reads.
 */

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

struct packed_class_sum {
	uint64_t hit, dur_cyc, stall_cyc;
};

struct packed_block {
	VEC(uint8_t) stream[STREAM_COUNT];
	uint32_t n[PIECE_KINDS];
	uint32_t n_pieces;
	track_idx first_track;
	uint64_t min_cyc, max_cyc; /* first start, last end, each in its track's clock; min > max:
				      no slices */
	struct packed_class_sum sums[CLASS_COUNT];
};

void block_clear(struct packed_block *b); /* keeps memory */
void block_deinit(struct packed_block *b);
bool block_is_full(const struct packed_block *b);
/* Adds as much of track i as fits; *is_done: the track is complete. */
bool block_add(struct packed_block *b, const struct trace *t, track_idx i,
	const struct track_data *d, struct piece_cursor *c, bool *is_done);

/* One piece as it lies in a block. */
struct packed_piece {
	uint32_t scale;		       /* all its cycles were divided by this */
	uint32_t n[PIECE_KINDS];       /* elements */
	uint32_t from[STREAM_COUNT];   /* first byte in each stream */
	uint32_t length[STREAM_COUNT]; /* bytes in each stream */
};

/* What slices refer to. */
struct block_code {
	uint32_t n;	      /* rows */
	const uint8_t *class; /* by row, followed by a 0 for slices of unknown code */
};

/* --- tracks, blocks and places ---------------------------------------------------------------- */

/*
 * The directory of a packed file: what each track holds, what each block holds, where each stream
 * lies. For reading and writing, as in fields.h.
 */

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
	struct packed_class_sum sums[CLASS_COUNT];
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

/* --- tables ----------------------------------------------------------------------------------- */

/* Reads and writes the tables of a trace as sections of a packed file. */

/* Moves one section: id is one of PACKED_META .. PACKED_NOTES, or PACKED_SAMPLED. */
void packed_move_table(struct fields *f, uint32_t id, struct trace *t);
/* Does the trace have data for PACKED_SAMPLED? */
bool packed_has_sampled(const struct trace *t);
const char *packed_section_name(uint32_t id);

/* --- the file --------------------------------------------------------------------------------- */

struct packed_file {
	struct file_data data;
	struct packed_trailer trailer;
	struct packed_section sections[PACKED_SECTION_END]; /* by id; id 0: absent */
};

bool packed_file_open(
	struct packed_file *f, struct file_data data, const char *path, struct incore_error *e);
/* Opens bytes in memory, owned by the caller; they must stay valid. */
bool packed_file_of_bytes(struct packed_file *f, const uint8_t *p, size_t n, const char *path,
	struct incore_error *e);
void packed_file_close(struct packed_file *f);
/* Uncompressed bytes of a section on the heap (never NULL on success); its checksum is checked. */
bool packed_file_section(const struct packed_file *f, const char *path, uint32_t id, uint8_t **out,
	size_t *n, struct incore_error *e);
/* Compares the checksum of stored bytes with the directory's; disabled in fuzz builds. */
bool packed_checksum_ok(const uint8_t *p, size_t n, uint64_t seed, uint64_t want);
