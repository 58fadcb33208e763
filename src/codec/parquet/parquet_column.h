/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parquet_column.h: one column of the group of rows that is being gathered: its values, which of
 * them are nothing, its least and greatest, and how it is laid out.
 * Owner: the writer zeroes it; parquet_column_deinit() frees.
 */
#pragma once

#include "base/map.h"
#include "codec/column.h"

#define PARQUET_GROUP_ROWS (128u << 10)
#define PARQUET_SEEN_WORDS 256u

/* Numbers of the format. */
enum parquet_physical {
	PHYSICAL_BOOLEAN = 0,
	PHYSICAL_INT32 = 1,
	PHYSICAL_INT64 = 2,
	PHYSICAL_DOUBLE = 5,
	PHYSICAL_BYTES = 6,
};
enum parquet_encoding {
	ENCODING_PLAIN = 0,
	ENCODING_RLE = 3,
	ENCODING_DELTA = 5,
	ENCODING_DICTIONARY = 8,
};

struct seen_word {
	const char *p; /* as it came last time */
	uint32_t word;
};

struct parquet_column {
	const struct column *column;
	unsigned place; /* of its vector among those given */
	size_t width;	/* bytes of a value of that vector */
	enum parquet_physical physical;
	bool is_nullable, is_signed;
	uint64_t *value;  /* bits of those that are there; of texts: place in words */
	uint32_t *level;  /* by row: 1: it is there; */
	bool has_levels;  /* else all are */
	uint32_t n, rows; /* values, rows */
	uint64_t least, most;
	struct intern words; /* of texts */
	size_t word_bytes;
	struct seen_word seen[PARQUET_SEEN_WORDS];
	struct strbuf clean; /* a text whose bytes had to be replaced */
};

/* What a column looks like when it is laid out. */
struct parquet_layout {
	enum parquet_encoding encoding;
	uint32_t n_dictionary;
};

/* Room to find dictionaries in, for all columns of a file. Zeroed first. */
struct parquet_scratch {
	uint32_t *place; /* by distance from the least value, or by hash */
	uint32_t *of;	 /* by value: its place in the dictionary */
	uint64_t *entry; /* the dictionary, by place */
	uint32_t n;
};
bool parquet_scratch_init(struct parquet_scratch *d);
void parquet_scratch_deinit(struct parquet_scratch *d);

bool parquet_column_init(struct parquet_column *k, const struct column *c, unsigned place);
void parquet_column_deinit(struct parquet_column *k);
/* Takes n values, of which there is room; false on lack of memory. */
bool parquet_column_add(struct parquet_column *k, const void *vector, uint32_t n);
/* Puts the dictionary, if it gets one, and the page; lack of memory latches in the buffers. */
struct parquet_layout parquet_column_put(const struct parquet_column *k, struct parquet_scratch *d,
	struct strbuf *dictionary, struct strbuf *page);
/* The least or greatest value as the format has it; false: there is none, or it is too long. */
bool parquet_column_bound(const struct parquet_column *k, bool is_most, struct strbuf *out);
void parquet_column_clear(struct parquet_column *k);
