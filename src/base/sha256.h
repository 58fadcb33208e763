/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sha256.h: FIPS 180-4 SHA-256, for content hashes that others must be able to recompute.
 * Cannot fail; one state, one thread at a time.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct sha256 {
	uint32_t h[8];
	uint64_t total; /* bytes so far */
	uint8_t block[64];
};

void sha256_init(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *p, size_t n);
/* Ends it as 64 lower-case hex digits and NUL. */
void sha256_hex(struct sha256 *s, char hex[65]);
