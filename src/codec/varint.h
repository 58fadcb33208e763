/* SPDX-License-Identifier: Apache-2.0 */
/* varint.h: LEB128 and zigzag, and little-endian integers by memcpy. Readers check the end and
 * never trust a length. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

static inline uint64_t zigzag(int64_t v)
{
	return (uint64_t)v << 1 ^ (0 - (uint64_t)(v < 0));
}

static inline int64_t unzigzag(uint64_t v)
{
	return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

/* Writes at most 10 bytes; returns their end. */
static inline uint8_t *varint_put(uint8_t *p, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*p++ = (uint8_t)(v | 0x80);
	*p++ = (uint8_t)v;
	return p;
}

/* Returns the end of the varint; NULL if it is truncated or too long. */
static inline const uint8_t *varint_get(const uint8_t *p, const uint8_t *end, uint64_t *v)
{
	uint64_t r = 0;

	if (p < end && *p < 0x80) {
		*v = *p;
		return p + 1;
	}
	for (unsigned shift = 0; shift < 64 && p < end; shift += 7) {
		uint8_t b = *p++;

		if (shift == 63 && b > 1)
			return NULL;
		r |= (uint64_t)(b & 0x7f) << shift;
		if (b < 0x80) {
			*v = r;
			return p;
		}
	}
	return NULL;
}

struct bytes_reader {
	const uint8_t *p, *end;
	bool is_failed; /* latched: a read went past the end or a varint was too long */
};

uint8_t bytes_u8(struct bytes_reader *r);
uint64_t bytes_varint(struct bytes_reader *r);
int64_t bytes_zigzag(struct bytes_reader *r);
struct str bytes_str(struct bytes_reader *r); /* varint length, then the bytes; borrowed */
const uint8_t *bytes_take(struct bytes_reader *r, size_t n);

bool bytes_put_u8(struct strbuf *b, uint8_t v);
bool bytes_put_u32(struct strbuf *b, uint32_t v);
bool bytes_put_u64(struct strbuf *b, uint64_t v);
bool bytes_put_varint(struct strbuf *b, uint64_t v);
bool bytes_put_zigzag(struct strbuf *b, int64_t v);
bool bytes_put_str(struct strbuf *b, struct str s);
