/* SPDX-License-Identifier: Apache-2.0 */
/* varint.c: converts integers to bytes and back, little-endian. */
#include "codec/varint.h"

#include <string.h>

const uint8_t *bytes_take(struct bytes_reader *r, size_t n)
{
	const uint8_t *p = r->p;

	if (r->is_failed || n > (size_t)(r->end - r->p)) {
		r->is_failed = true;
		return NULL;
	}
	r->p += n;
	return p;
}

uint8_t bytes_u8(struct bytes_reader *r)
{
	const uint8_t *p = bytes_take(r, 1);

	return p ? *p : 0;
}

uint64_t bytes_varint(struct bytes_reader *r)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 70; shift += 7) {
		uint8_t b = bytes_u8(r);

		if (r->is_failed)
			return 0;
		if (shift == 63 && b > 1) /* more than 64 bits, or more than 10 bytes */
			break;
		v |= (uint64_t)(b & 0x7f) << shift;
		if (b < 0x80)
			return v;
	}
	r->is_failed = true;
	return 0;
}

int64_t bytes_zigzag(struct bytes_reader *r)
{
	return unzigzag(bytes_varint(r));
}

struct str bytes_str(struct bytes_reader *r)
{
	uint64_t n = bytes_varint(r);
	const uint8_t *p = NULL;

	if (n > (uint64_t)(r->end - r->p))
		r->is_failed = true;
	else
		p = bytes_take(r, (size_t)n);
	return p ? (struct str){(const char *)p, (size_t)n} : (struct str){0};
}

static bool put_little_endian(struct strbuf *b, uint64_t v, size_t n)
{
	char buf[8];

	for (size_t i = 0; i < n; i++, v >>= 8)
		buf[i] = (char)(v & 0xff);
	return sb_add(b, buf, n);
}

bool bytes_put_u8(struct strbuf *b, uint8_t v)
{
	return put_little_endian(b, v, 1);
}

bool bytes_put_u32(struct strbuf *b, uint32_t v)
{
	return put_little_endian(b, v, 4);
}

bool bytes_put_u64(struct strbuf *b, uint64_t v)
{
	return put_little_endian(b, v, 8);
}

bool bytes_put_varint(struct strbuf *b, uint64_t v)
{
	uint8_t buf[10];

	return sb_add(b, (char *)buf, (size_t)(varint_put(buf, v) - buf));
}

bool bytes_put_zigzag(struct strbuf *b, int64_t v)
{
	return bytes_put_varint(b, zigzag(v));
}

bool bytes_put_str(struct strbuf *b, struct str s)
{
	return bytes_put_varint(b, s.n) && sb_str(b, s);
}
