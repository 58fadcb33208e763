/* SPDX-License-Identifier: Apache-2.0 */
/* parquet_pages.c: runs, packed bits and differences. */
#include "codec/parquet/parquet_pages.h"

#include "codec/varint.h"

#define BLOCK 128u /* values of a block of differences, */
#define MINI 32u   /* and of its parts, which have their own width */

struct packer {
	uint8_t *p;
	uint64_t bits;
	unsigned have; /* bits that are not out yet, fewer than 32 */
};

/* A value of at most 32 bits; bytes go out four at a time. */
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

/* n values of `width` bits, the lowest first, filled up with zeros to whole bytes. */
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

		for (uint32_t i = 0; i < n; i++)
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

/* Groups of eight, of which the last may be filled up. */
static void put_literals(struct strbuf *b, const uint32_t *v, uint32_t n, unsigned width)
{
	uint32_t groups = (n + 7) / 8;
	struct packer k = {0};

	if (!n)
		return;
	bytes_put_varint(b, (uint64_t)groups << 1 | 1);
	if (!sb_reserve(b, (size_t)groups * width + 8))
		return;
	k.p = (uint8_t *)b->p + b->n;
	for (uint32_t i = 0; i < n; i++)
		pack(&k, v[i], width);
	for (uint32_t i = n; i < groups * 8; i++)
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

void parquet_put_runs(struct strbuf *b, const uint32_t *v, uint32_t n, unsigned width)
{
	uint32_t literals = 0, i = 0;

	while (i < n) {
		uint32_t end = i + 1;

		while (end < n && v[end] == v[i])
			end++;
		if (end - i >= 8) {
			put_literals(b, v + literals, i - literals, width);
			parquet_put_run(b, v[i], end - i, width);
			literals = i = end;
		} else {
			i = n - i < 8 ? n : i + 8;
		}
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
	for (uint32_t i = 0; i < n; i++) {
		unsigned w;

		delta[i] -= (uint64_t)least;
		w = parquet_bits(delta[i]);
		if (w > width[i / MINI])
			width[i / MINI] = w;
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
