/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf_writer.h: appends the fields of a protocol buffer message to a buffer. A nested message
 * is opened and closed: one byte is reserved for its length, more are inserted if needed.
 * Owner: the holder of the strbuf. A failed append latches there; nothing is written from then on.
 */
#pragma once

#include "base/str.h"
#include "codec/protobuf.h"
#include "codec/varint.h"

/* Room for a tag and the longest number after it. */
#define PB_NUMBER_ROOM 24u

static inline bool pb_has_room(struct strbuf *b, size_t n)
{
	return !b->failed && (b->cap - b->n > n || sb_reserve(b, n));
}

static inline void pb_put_number(struct strbuf *b, uint32_t field, uint64_t v)
{
	uint8_t *p;

	if (!pb_has_room(b, PB_NUMBER_ROOM))
		return;
	p = varint_put((uint8_t *)b->p + b->n, (uint64_t)field << 3 | PB_VARINT);
	b->n = (size_t)((char *)varint_put(p, v) - b->p);
}

static inline void pb_put_fixed64(struct strbuf *b, uint32_t field, uint64_t v)
{
	uint8_t *p;

	if (!pb_has_room(b, PB_NUMBER_ROOM))
		return;
	p = varint_put((uint8_t *)b->p + b->n, (uint64_t)field << 3 | PB_FIXED64);
	for (int i = 0; i < 8; i++)
		*p++ = (uint8_t)(v >> 8 * i);
	b->n = (size_t)((char *)p - b->p);
}

static inline void pb_put_double(struct strbuf *b, uint32_t field, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	pb_put_fixed64(b, field, bits);
}

static inline void pb_put_str(struct strbuf *b, uint32_t field, struct str s)
{
	uint8_t *p;

	if (!pb_has_room(b, PB_NUMBER_ROOM + s.n))
		return;
	p = varint_put((uint8_t *)b->p + b->n, (uint64_t)field << 3 | PB_BYTES);
	p = varint_put(p, s.n);
	if (s.n)
		memcpy(p, s.p, s.n);
	b->n = (size_t)((char *)p - b->p) + s.n;
}

/* Begins a nested message; pass the result to pb_close(). */
static inline size_t pb_open(struct strbuf *b, uint32_t field)
{
	if (!pb_has_room(b, PB_NUMBER_ROOM))
		return 0;
	b->n = (size_t)((char *)varint_put(
				(uint8_t *)b->p + b->n, (uint64_t)field << 3 | PB_BYTES) -
			b->p);
	return ++b->n; /* one byte for the length */
}

static inline void pb_close(struct strbuf *b, size_t at)
{
	uint8_t size[10];
	size_t n, extra;

	if (b->failed)
		return;
	n = b->n - at;
	extra = (size_t)(varint_put(size, n) - size) - 1;
	if (extra) {
		if (!pb_has_room(b, extra))
			return;
		memmove(b->p + at + extra, b->p + at, n);
	}
	memcpy(b->p + at - 1, size, extra + 1);
	b->n += extra;
}
