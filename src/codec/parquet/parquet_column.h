/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parquet_column.h: one column of the group of rows that is being written. Values become places in a
 * dictionary as they come, and a page is laid out and packed every few thousand rows, so that what
 * is worked on stays close to the processor; the pages of a group are held until it ends. Where
 * differences are shorter, or a dictionary becomes too large, pages have values instead.
 * Owner: the writer zeroes it; parquet_column_deinit() frees.
 */
#pragma once

#include "base/map.h"
#include "codec/column.h"
#include "codec/parquet/parquet_dictionary.h"
#include "codec/parquet/parquet_pages.h"

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
	const char *p; /* as it came last time */
	uint32_t word;
	uint32_t batch; /* when it did */
};

struct parquet_column {
	const struct column *column;
	unsigned place; /* of its vector among those given */
	size_t width;	/* bytes of a value of that vector */
	enum parquet_physical physical;
	bool is_nullable, is_signed;
	/* of the group */
	uint32_t n, rows;     /* values, rows */
	uint64_t least, most; /* of pages of values; all others are in the dictionary */
	bool has_places;      /* its next page has places; else values */
	unsigned encodings;   /* of its pages: a bit each */
	struct strbuf pages;  /* packed */
	uint64_t plain_bytes; /* of these, unpacked */
	struct parquet_dictionary dictionary;
	struct intern words; /* of texts */
	size_t word_bytes;
	/* of the open page */
	uint32_t page_n, page_rows;
	uint16_t *places;
	uint64_t *values; /* bits of them; of texts: place in words */
	uint16_t *levels; /* by row: 1: it is there; */
	bool has_levels;  /* else all are */

	struct seen_word seen[PARQUET_SEEN_WORDS];
	uint32_t batch;
	struct strbuf clean; /* a text whose bytes had to be replaced */
};

bool parquet_column_init(struct parquet_column *k, const struct column *c, unsigned place);
void parquet_column_deinit(struct parquet_column *k);
/* Takes n values, of which there is room in the group. */
bool parquet_column_add(struct parquet_column *k, struct parquet_pager *pager, const void *vector,
	uint32_t n, struct incore_error *e);
/* Ends the open page, if there is one. */
bool parquet_column_end_page(
	struct parquet_column *k, struct parquet_pager *pager, struct incore_error *e);
/* The values of the dictionary; lack of memory latches in the buffer. */
void parquet_column_put_dictionary(const struct parquet_column *k, struct strbuf *out);
uint32_t parquet_column_entries(const struct parquet_column *k);
/* The least or greatest value as the format has it; false: there is none, or it is too long. */
bool parquet_column_bound(const struct parquet_column *k, bool is_most, struct strbuf *out);
void parquet_column_clear(struct parquet_column *k);
