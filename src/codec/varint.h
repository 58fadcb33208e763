/* SPDX-License-Identifier: Apache-2.0 */
/* varint.h: LEB128 and zigzag, and little-endian integers by memcpy. Readers check the end and
 * never trust a length. */
#ifndef CODEC_VARINT_H
#define CODEC_VARINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct bytes_reader {
	const uint8_t *p, *end;
	bool is_failed; /* latched: a read went past the end or a varint was too long */
};

uint8_t bytes_u8(struct bytes_reader *r);
uint32_t bytes_u32(struct bytes_reader *r);
uint64_t bytes_u64(struct bytes_reader *r);
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

#endif
