/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thrift.h: Thrift's compact protocol, written field by field into a buffer. A struct is opened
 * and closed; lists begin with their length. Owner: the holder of the strbuf, where failures
 * latch.
 */
#pragma once

#include "base/str.h"
#include "codec/varint.h"

enum thrift_type {
	THRIFT_TRUE = 1,
	THRIFT_FALSE = 2,
	THRIFT_I8 = 3,
	THRIFT_I16 = 4,
	THRIFT_I32 = 5,
	THRIFT_I64 = 6,
	THRIFT_BINARY = 8,
	THRIFT_LIST = 9,
	THRIFT_STRUCT = 12,
};

#define THRIFT_MAX_DEPTH 8

struct thrift {
	struct strbuf *out;
	int16_t last[THRIFT_MAX_DEPTH]; /* id of the last field, by level */
	unsigned depth;
};

static inline void thrift_field(struct thrift *t, int16_t id, enum thrift_type type)
{
	int delta = id - t->last[t->depth];

	if (delta > 0 && delta < 16) {
		bytes_put_u8(t->out, (uint8_t)((unsigned)delta << 4 | type));
	} else {
		bytes_put_u8(t->out, (uint8_t)type);
		bytes_put_zigzag(t->out, id);
	}
	t->last[t->depth] = id;
}

/* I32 and I64 are written alike. */
static inline void thrift_number(struct thrift *t, int16_t id, enum thrift_type type, int64_t v)
{
	thrift_field(t, id, type);
	bytes_put_zigzag(t->out, v);
}

static inline void thrift_byte(struct thrift *t, int16_t id, int8_t v)
{
	thrift_field(t, id, THRIFT_I8);
	bytes_put_u8(t->out, (uint8_t)v);
}

static inline void thrift_bool(struct thrift *t, int16_t id, bool v)
{
	thrift_field(t, id, v ? THRIFT_TRUE : THRIFT_FALSE);
}

static inline void thrift_binary(struct thrift *t, int16_t id, struct str v)
{
	thrift_field(t, id, THRIFT_BINARY);
	bytes_put_str(t->out, v);
}

/* The elements follow: numbers by bytes_put_zigzag(), texts by bytes_put_str(), structs opened by
 * thrift_element(). */
static inline void thrift_list(struct thrift *t, int16_t id, enum thrift_type of, size_t n)
{
	thrift_field(t, id, THRIFT_LIST);
	bytes_put_u8(t->out, (uint8_t)((n < 15 ? n : 15u) << 4 | of));
	if (n >= 15)
		bytes_put_varint(t->out, n);
}

static inline void thrift_element(struct thrift *t)
{
	t->last[++t->depth] = 0;
}

static inline void thrift_struct(struct thrift *t, int16_t id)
{
	thrift_field(t, id, THRIFT_STRUCT);
	thrift_element(t);
}

static inline void thrift_end(struct thrift *t)
{
	bytes_put_u8(t->out, 0);
	if (t->depth)
		t->depth--;
}
