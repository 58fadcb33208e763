/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed_types.h: the bytes of a packed file (.incore), as described in the man page
 * incore-packed(7).
 *
 *	header, streams of block 0, streams of block 1, ..., sections, section table, trailer
 *
 * All integers little-endian. Everything that is not a stream of a block is a section.
 */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

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

static inline uint32_t packed_get_u32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t packed_get_u64(const uint8_t *p)
{
	return packed_get_u32(p) | (uint64_t)packed_get_u32(p + 4) << 32;
}

static inline void packed_section_get(const uint8_t *p, struct packed_section *s)
{
	s->id = packed_get_u32(p);
	s->codec = packed_get_u32(p + 4);
	s->offset = packed_get_u64(p + 8);
	s->stored_bytes = packed_get_u64(p + 16);
	s->raw_bytes = packed_get_u64(p + 24);
	s->checksum = packed_get_u64(p + 32);
}

static inline void packed_trailer_get(const uint8_t *p, struct packed_trailer *t)
{
	t->table_offset = packed_get_u64(p);
	t->n_sections = packed_get_u32(p + 8);
	t->flags = packed_get_u32(p + 12);
	t->file_bytes = packed_get_u64(p + 16);
	t->content_hash[0] = packed_get_u64(p + 24);
	t->content_hash[1] = packed_get_u64(p + 32);
	t->table_checksum = packed_get_u64(p + 40);
	t->trailer_checksum = packed_get_u64(p + 48);
	memcpy(t->magic, p + 56, 8);
}
