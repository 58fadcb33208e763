/* SPDX-License-Identifier: Apache-2.0 */
/* parquet_pages.c: writes runs, packed bits and deltas, and packs pages. */
#include "codec/parquet/parquet_pages.h"

#include <zstd.h>

#include "codec/parquet/thrift.h"
#include "codec/zstd.h"

#define ZSTD_LEVEL 1

#define BLOCK 128u /* values of a block of deltas, */
#define MINI 32u   /* and of a miniblock, which has its own width */

struct packer {
	uint8_t *p;
	uint64_t bits;
	unsigned have; /* pending bits, fewer than 32 */
};

/* Stores the lowest byte first; there is room for all eight. */
static inline void store_le(uint8_t *p, uint64_t v)
{
	uint8_t le[8];

	for (unsigned i = 0; i < 8; i++)
		le[i] = (uint8_t)(v >> 8 * i);
	memcpy(p, le, sizeof(le));
}

/* Appends a value of at most 32 bits; writes four bytes at a time. */
static inline void pack(struct packer *k, uint64_t v, unsigned width)
{
	k->bits |= v << k->have;
	k->have += width;
	if (k->have >= 32) {
		uint32_t out = (uint32_t)k->bits;
		uint8_t le[4] = {(uint8_t)out, (uint8_t)(out >> 8), (uint8_t)(out >> 16),
			(uint8_t)(out >> 24)};

		memcpy(k->p, le, sizeof(le));
		k->p += sizeof(le);
		k->bits >>= 32;
		k->have -= 32;
	}
}

static void pack_rest(struct packer *k)
{
	for (unsigned i = 0; i < k->have; i += 8)
		*k->p++ = (uint8_t)(k->bits >> i);
	k->have = 0;
}

/* Writes n values of `width` bits, the lowest first, padded with zeros to whole bytes. */
static void put_packed(struct strbuf *b, const uint64_t *v, uint32_t n, unsigned width)
{
	size_t size = ((size_t)n * width + 7) / 8;
	unsigned __int128 bits = 0;
	unsigned have = 0;
	uint8_t *p;

	if (!width || !sb_reserve(b, size + 8))
		return;
	p = (uint8_t *)b->p + b->n;
	b->n += size;
	if (width <= 32) {
		struct packer k = {.p = p};
		uint32_t i = 0;

		for (; width <= 8 && n - i >= 8; i += 8, k.p += width) {
			uint64_t eight = 0;

			for (unsigned j = 0; j < 8; j++)
				eight |= v[i + j] << j * width;
			store_le(k.p, eight);
		}
		for (; i < n; i++)
			pack(&k, v[i], width);
		pack_rest(&k);
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		bits |= (unsigned __int128)v[i] << have;
		for (have += width; have >= 8; have -= 8) {
			*p++ = (uint8_t)bits;
			bits >>= 8;
		}
	}
	if (have)
		*p++ = (uint8_t)bits;
}

/* Writes groups of eight values; the last one may be padded. */
static void put_literals(struct strbuf *b, const uint16_t *v, uint32_t n, unsigned width)
{
	uint32_t groups = (n + 7) / 8, i = 0;
	struct packer k = {0};

	if (!n)
		return;
	bytes_put_varint(b, (uint64_t)groups << 1 | 1);
	if (!sb_reserve(b, (size_t)groups * width + 8))
		return;
	k.p = (uint8_t *)b->p + b->n;
	for (; width <= 8 && n - i >= 8; i += 8, k.p += width) {
		uint64_t eight = 0;

		for (unsigned j = 0; j < 8; j++)
			eight |= (uint64_t)v[i + j] << j * width;
		store_le(k.p, eight);
	}
	for (; i < n; i++)
		pack(&k, v[i], width);
	for (; i < groups * 8; i++)
		pack(&k, 0, width);
	pack_rest(&k);
	b->n += (size_t)groups * width;
}

void parquet_put_run(struct strbuf *b, uint32_t v, uint32_t n, unsigned width)
{
	bytes_put_varint(b, (uint64_t)n << 1);
	for (unsigned i = 0; i < (width + 7) / 8; i++)
		bytes_put_u8(b, (uint8_t)(v >> 8 * i));
}

/* Are these eight values equal? */
static inline bool are_equal(const uint16_t *v)
{
	uint64_t w[2], all = v[0] * UINT64_C(0x0001000100010001);

	memcpy(w, v, sizeof(w));
	return ((w[0] ^ all) | (w[1] ^ all)) == 0;
}

void parquet_put_runs(struct strbuf *b, const uint16_t *v, uint32_t n, unsigned width)
{
	uint32_t literals = 0, i = 0;

	while (n - i >= 8) {
		uint32_t end = i + 8;

		if (!are_equal(v + i)) {
			i += 8;
			continue;
		}
		while (n - end >= 8 && v[end] == v[i] && are_equal(v + end))
			end += 8;
		while (end < n && v[end] == v[i])
			end++;
		put_literals(b, v + literals, i - literals, width);
		parquet_put_run(b, v[i], end - i, width);
		literals = i = end;
	}
	put_literals(b, v + literals, n - literals, width);
}

static void put_block(struct strbuf *b, const uint64_t *v, uint32_t n)
{
	uint64_t delta[BLOCK] = {0};
	int64_t least = INT64_MAX;
	unsigned width[BLOCK / MINI] = {0};

	for (uint32_t i = 0; i < n; i++) {
		delta[i] = v[i + 1] - v[i];
		if ((int64_t)delta[i] < least)
			least = (int64_t)delta[i];
	}
	for (uint32_t i = 0; i < n; i++)
		delta[i] -= (uint64_t)least;
	for (unsigned i = 0; i < BLOCK / MINI; i++) {
		uint64_t any = 0;

		for (unsigned k = 0; k < MINI; k++)
			any |= delta[i * MINI + k];
		width[i] = parquet_bits(any);
	}
	bytes_put_zigzag(b, least);
	for (unsigned i = 0; i < BLOCK / MINI; i++)
		bytes_put_u8(b, (uint8_t)width[i]);
	for (unsigned i = 0; i < BLOCK / MINI && i * MINI < n; i++)
		put_packed(b, delta + (size_t)i * MINI, MINI, width[i]);
}

void parquet_put_deltas(struct strbuf *b, const uint64_t *v, uint32_t n)
{
	bytes_put_varint(b, BLOCK);
	bytes_put_varint(b, BLOCK / MINI);
	bytes_put_varint(b, n);
	bytes_put_zigzag(b, n ? (int64_t)v[0] : 0);
	for (uint32_t i = 0; i + 1 < n; i += BLOCK)
		put_block(b, v + i, n - 1 - i < BLOCK ? n - 1 - i : BLOCK);
}

/* --- pages --- */

/* Fields of the format's structs. */
enum {
	PAGE_TYPE = 1,
	PAGE_SIZE = 2,
	PAGE_PACKED = 3,
	PAGE_DATA_HEAD = 5,
	PAGE_DICTIONARY_HEAD = 7
};
enum { HEAD_VALUES = 1, HEAD_ENCODING = 2, HEAD_LEVELS = 3, HEAD_REPEATS = 4 };

bool parquet_pager_init(struct parquet_pager *p)
{
	p->zstd = ZSTD_createCCtx();
	return p->zstd != NULL;
}

void parquet_pager_deinit(struct parquet_pager *p)
{
	ZSTD_freeCCtx(p->zstd);
	sb_free(&p->page);
	sb_free(&p->packed);
	sb_free(&p->head);
}

bool parquet_put_page(struct parquet_pager *p, enum parquet_page type, uint32_t n,
	enum parquet_encoding encoding, struct strbuf *out, uint64_t *plain, struct incore_error *e)
{
	struct thrift t = {.out = &p->head};
	struct strbuf *packed = &p->packed;

	sb_reset(packed);
	if (p->page.failed || p->page.n > INT32_MAX)
		return err_nomem(e);
	if (!zstd_pack_with(p->zstd, p->page.p ? p->page.p : "", p->page.n, ZSTD_LEVEL, packed, e))
		return false;
	sb_reset(&p->head);
	thrift_number(&t, PAGE_TYPE, THRIFT_I32, type);
	thrift_number(&t, PAGE_SIZE, THRIFT_I32, (int64_t)p->page.n);
	thrift_number(&t, PAGE_PACKED, THRIFT_I32, (int64_t)packed->n);
	thrift_struct(&t, type == PAGE_DATA ? PAGE_DATA_HEAD : PAGE_DICTIONARY_HEAD);
	thrift_number(&t, HEAD_VALUES, THRIFT_I32, n);
	thrift_number(&t, HEAD_ENCODING, THRIFT_I32, encoding);
	if (type == PAGE_DATA) {
		thrift_number(&t, HEAD_LEVELS, THRIFT_I32, ENCODING_RLE);
		thrift_number(&t, HEAD_REPEATS, THRIFT_I32, ENCODING_RLE);
	}
	thrift_end(&t);
	thrift_end(&t);
	*plain += p->head.n + p->page.n;
	sb_add(out, p->head.p, p->head.n);
	sb_add(out, packed->p, packed->n);
	return (!p->head.failed && !out->failed && packed->n <= INT32_MAX) || err_nomem(e);
}
