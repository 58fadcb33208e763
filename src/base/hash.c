/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash.c: two 64-bit lanes over 16-byte blocks. Each step is a bijection of the state for a given
 * block, and of each word for a given state, so that no step loses information. Not secure against
 * an adversary.
 */
#include "base/hash.h"

#include <string.h>

#define K1 0x9e6c63d0676a9a99u /* odd, bits balanced */
#define K2 0xd35a2d97394e5c4bu
#define K3 0x8bb84b93962eacc9u

static inline uint64_t rotl(uint64_t x, unsigned k)
{
	return x << k | x >> (64 - k);
}

static inline uint64_t hash_load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	return v;
}

static inline void hash_step(uint64_t *a, uint64_t *b, uint64_t low, uint64_t high)
{
	uint64_t x = *a ^ low, y = *b ^ high;

	x = (x ^ x >> 32) * K1;
	y = (y ^ y >> 29) * K2;
	*a = rotl(x, 31) + y;
	*b = rotl(y, 27) ^ *a;
}

static inline uint64_t load32(const uint8_t *p)
{
	return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24;
}

/* Loads n < 8 bytes as the low bytes of a word. Not through a copy, whose bytes would have to reach
 * memory before they can be read as a word, nor one by one: overlapping loads give the same bits.
 */
static inline uint64_t load_some(const uint8_t *p, size_t n)
{
	if (n >= 4)
		return load32(p) | load32(p + n - 4) << 8 * (n - 4);
	if (n == 0)
		return 0;
	return (uint64_t)p[0] | (uint64_t)p[n / 2] << 8 * (n / 2) |
	       (uint64_t)p[n - 1] << 8 * (n - 1);
}

static void last_step(uint64_t *a, uint64_t *b, const uint8_t *tail, size_t n, uint64_t total)
{
	hash_step(a, b, n < 8 ? load_some(tail, n) : hash_load64(tail),
		n < 8 ? 0 : load_some(tail + 8, n - 8));
	*a ^= total * K3; /* "x" and "x\0" differ here */
	*b += total;
	*a = hash_mix64(*a + rotl(*b, 23));
	*b = hash_mix64(*b ^ *a);
	*a = hash_mix64(*a + *b);
}

uint64_t hash_bytes(const void *p, size_t n, uint64_t seed)
{
	const uint8_t *s = p;
	uint64_t a = seed ^ K3, b = rotl(seed, 32) + K1;
	size_t left = n;

	for (; left >= 16; left -= 16, s += 16)
		hash_step(&a, &b, hash_load64(s), hash_load64(s + 8));
	last_step(&a, &b, s, left, n);
	return a;
}

void hash_stream_init(struct hash_stream *h)
{
	*h = (struct hash_stream){.a = K2, .b = K3};
}

void hash_stream_add(struct hash_stream *h, const void *p, size_t n)
{
	const uint8_t *s = p;

	h->total += n;
	if (h->tail_n) {
		size_t take = 16 - h->tail_n < n ? 16 - h->tail_n : n;

		if (take)
			memcpy(h->tail + h->tail_n, s, take);
		h->tail_n += (unsigned)take;
		s += take;
		n -= take;
		if (h->tail_n < 16)
			return;
		hash_step(&h->a, &h->b, hash_load64(h->tail), hash_load64(h->tail + 8));
		h->tail_n = 0;
	}
	for (; n >= 16; n -= 16, s += 16)
		hash_step(&h->a, &h->b, hash_load64(s), hash_load64(s + 8));
	if (n)
		memcpy(h->tail, s, n);
	h->tail_n = (unsigned)n;
}

struct hash128 hash_stream_end(const struct hash_stream *h)
{
	uint64_t a = h->a, b = h->b;

	last_step(&a, &b, h->tail, h->tail_n, h->total);
	return (struct hash128){.lo = a, .hi = b};
}
