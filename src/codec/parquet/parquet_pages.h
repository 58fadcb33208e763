/* SPDX-License-Identifier: Apache-2.0 */
/* parquet_pages.h: encodes the values of a page of a Parquet file and packs the page after its
 * header. Failures latch in the buffers. */
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

/* The hybrid of runs and bit packing, for levels and dictionary indices; each value is less than
 * 2^width. */
void parquet_put_runs(struct strbuf *b, const uint16_t *v, uint32_t n, unsigned width);
/* parquet_put_runs() for n equal values. */
void parquet_put_run(struct strbuf *b, uint32_t v, uint32_t n, unsigned width);
/* Deltas of neighbours, packed in blocks of 128. */
void parquet_put_deltas(struct strbuf *b, const uint64_t *v, uint32_t n);
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
