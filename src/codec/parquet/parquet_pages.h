/* SPDX-License-Identifier: Apache-2.0 */
/* parquet_pages.h: how the values of a page of a Parquet file are laid out, and the page packed
 * behind its head. Failures latch in the buffers. */
#pragma once

#include "base/error.h"
#include "base/str.h"

/* Numbers of the format. */
enum parquet_encoding {
	ENCODING_PLAIN = 0,
	ENCODING_RLE = 3,
	ENCODING_DELTA = 5,
	ENCODING_DICTIONARY = 8,
};
enum parquet_page { PAGE_DATA = 0, PAGE_DICTIONARY = 2 };

/* Runs and packed bits by turns, as of levels and of places in a dictionary; each value is less than
 * 2^width. */
void parquet_put_runs(struct strbuf *b, const uint16_t *v, uint32_t n, unsigned width);
/* The same of n equal values. */
void parquet_put_run(struct strbuf *b, uint32_t v, uint32_t n, unsigned width);
/* Differences of neighbours, packed by blocks of 128. */
void parquet_put_deltas(struct strbuf *b, const uint64_t *v, uint32_t n);
/* Bits that numbers up to `most` take. */
static inline unsigned parquet_bits(uint64_t most)
{
	return most ? 64 - (unsigned)__builtin_clzll(most) : 0;
}

/* What packs the pages of a file. Zeroed first. */
struct parquet_pager {
	struct ZSTD_CCtx_s *zstd;
	struct strbuf page; /* for whoever lays one out */
	struct strbuf head, packed;
};
bool parquet_pager_init(struct parquet_pager *p);
void parquet_pager_deinit(struct parquet_pager *p);
/* Appends head and packed bytes of pager->page; n: values of it, nothing included. *plain grows by
 * the size of the head and of the page. */
bool parquet_put_page(struct parquet_pager *p, enum parquet_page type, uint32_t n,
	enum parquet_encoding encoding, struct strbuf *out, uint64_t *plain,
	struct incore_error *e);
