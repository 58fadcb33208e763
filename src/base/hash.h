/* SPDX-License-Identifier: Apache-2.0 */
/* hash.h: our own fast non-cryptographic hashes; same result on every machine. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct hash128 {
	uint64_t lo, hi;
};

/* Mixes the bits of a value (a bijection). */
static inline uint64_t hash_mix64(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	return x ^ x >> 32;
}

uint64_t hash_bytes(const void *p, size_t n, uint64_t seed);

/* Content hash of a stream fed in pieces: the same bytes give the same result however they are cut.
 */
struct hash_stream {
	uint64_t a, b, total;
	uint8_t tail[16];
	unsigned tail_n;
};

void hash_stream_init(struct hash_stream *h);
void hash_stream_add(struct hash_stream *h, const void *p, size_t n);
struct hash128 hash_stream_end(const struct hash_stream *h);
