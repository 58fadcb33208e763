/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parquet_column.h: one column of the row group being written. Values become dictionary indices as
 * they arrive, and a page is encoded and packed every few thousand rows, so that the working set
 * stays in the cache; the pages of a group are kept until it ends. If deltas are shorter, or the
 * dictionary becomes too large, pages have values instead.
 * Owner: the writer zeroes the struct; parquet_column_deinit() frees.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "base/str.h"
#include "codec/column.h"

/* --- dictionaries ----------------------------------------------------------------------------- */

/*
 * Numbers the distinct values in order of first occurrence. Small values are looked up directly in
 * a table, others by hash. Owner: zeroed first; parquet_dictionary_deinit() frees.
 */

#define DICTIONARY_MAX 32767u /* entries */

struct parquet_dictionary {
	uint32_t n;
	uint64_t *entry;  /* the values, by index */
	uint16_t *direct; /* by small value: its index + 1; 0: not in the dictionary */
	uint16_t *slot;	  /* hash table of the indices + 1 of large values */
};

/* --- pages ------------------------------------------------------------------------------------ */

/*
 * Encodes the values of a page of a Parquet file and packs the page after its header. Failures
 * latch in the buffers.
 */

/* Numbers of the format. */
enum parquet_encoding {
	ENCODING_PLAIN = 0,
	ENCODING_RLE = 3,
	ENCODING_DELTA = 5,
	ENCODING_DICTIONARY = 8,
};
enum parquet_page { PAGE_DATA = 0, PAGE_DICTIONARY = 2 };

/* Number of bits that values up to `most` need. */
static inline unsigned parquet_bits(uint64_t most)
{
	return most ? 64 - (unsigned)__builtin_clzll(most) : 0;
}

/* Packs the pages of a file. Must be zeroed first. */
struct parquet_pager {
	struct ZSTD_CCtx_s *zstd;
	struct strbuf page; /* the encoded values of the page */
	struct strbuf head, packed;
};
bool parquet_pager_init(struct parquet_pager *p);
void parquet_pager_deinit(struct parquet_pager *p);
/* Appends the header and the packed bytes of pager->page; n: number of its values, nulls included.
 * *plain grows by the size of the header and the unpacked page. */
bool parquet_put_page(struct parquet_pager *p, enum parquet_page type, uint32_t n,
	enum parquet_encoding encoding, struct strbuf *out, uint64_t *plain,
	struct incore_error *e);

/* --- columns ---------------------------------------------------------------------------------- */

#define PARQUET_GROUP_ROWS (128u << 10)
#define PARQUET_PAGE_ROWS (32u << 10)
#define PARQUET_SEEN_WORDS 256u

/* Numbers of the format. */
enum parquet_physical {
	PHYSICAL_BOOLEAN = 0,
	PHYSICAL_INT32 = 1,
	PHYSICAL_INT64 = 2,
	PHYSICAL_DOUBLE = 5,
	PHYSICAL_BYTES = 6,
};

struct seen_word {
	const char *p; /* pointer of the last occurrence */
	uint32_t word;
	uint32_t batch; /* batch of the last occurrence */
};

struct parquet_column {
	const struct column *column;
	unsigned place; /* index of its vector among those given */
	size_t width;	/* bytes per value of that vector */
	enum parquet_physical physical;
	bool is_nullable, is_signed;
	/* of the group */
	uint32_t n, rows;     /* values, rows */
	uint64_t least, most; /* bounds of value pages; all other values are in the dictionary */
	bool has_places;      /* its next page has dictionary indices, else values */
	unsigned encodings;   /* encodings used by its pages, one bit each */
	struct strbuf pages;  /* packed */
	uint64_t plain_bytes; /* size of these pages unpacked */
	struct parquet_dictionary dictionary;
	struct intern words; /* of texts */
	size_t word_bytes;
	/* of the open page */
	uint32_t page_n, page_rows;
	uint16_t *places;
	uint64_t *values; /* raw bits; for texts the index in words */
	uint16_t *levels; /* per row: 1: a value is present */
	bool has_levels;  /* else all are present */

	struct seen_word seen[PARQUET_SEEN_WORDS];
	uint32_t batch;
	struct strbuf clean; /* a text whose bytes had to be replaced */
};

bool parquet_column_init(struct parquet_column *k, const struct column *c, unsigned place);
void parquet_column_deinit(struct parquet_column *k);
/* Adds n values; the group must have room for them. */
bool parquet_column_add(struct parquet_column *k, struct parquet_pager *pager, const void *vector,
	uint32_t n, struct incore_error *e);
/* Ends the open page, if there is one. */
bool parquet_column_end_page(
	struct parquet_column *k, struct parquet_pager *pager, struct incore_error *e);
/* Appends the values of the dictionary; out of memory latches in the buffer. */
void parquet_column_put_dictionary(const struct parquet_column *k, struct strbuf *out);
uint32_t parquet_column_entries(const struct parquet_column *k);
/* Appends the minimum or maximum in the encoding of the format; false: there is none, or it is too
 * long. */
bool parquet_column_bound(const struct parquet_column *k, bool is_most, struct strbuf *out);
void parquet_column_clear(struct parquet_column *k);
