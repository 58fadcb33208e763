/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_core.h: private to the files of the JSON reader.
 * Bytes at r->p and up to JSON_PAD beyond r->end may be read; only bytes before r->end count.
 */
#pragma once

#include <string.h>

#include "codec/json_reader.h"

#define JSON_ONES 0x0101010101010101u
#define JSON_HIGH 0x8080808080808080u

/* Makes the reader fail at `at`; always false. Later failures are ignored. */
bool json_stop(struct json_reader *r, const char *at, const char *code, const char *fmt, ...)
	PRINTF_LIKE(4, 5);
/* Fails at the next byte: "expected <what>, found <the next byte>". */
bool json_stop_expected(struct json_reader *r, const char *what);
/* Fails because a required comma is missing, or nothing follows it. */
bool json_stop_comma(struct json_reader *r);

#define json_stop(...) err_false((json_stop)(__VA_ARGS__))
#define json_stop_expected(r, what) err_false((json_stop_expected)(r, what))
#define json_stop_comma(r) err_false((json_stop_comma)(r))

struct json_number {
	bool is_negative;
	bool is_integer; /* neither fraction nor exponent */
	bool is_exact;	 /* mantissa holds all digits */
	uint64_t mantissa;
	int64_t exponent; /* of ten */
	const char *end;
};

static inline uint64_t json_load64(const char *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	return v;
}

/* The next byte, or 0 at the end of input. */
static inline char json_cur(const struct json_reader *r)
{
	if (r->p >= r->end)
		return 0;
	return *r->p;
}

static inline bool json_is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static inline void json_space(struct json_reader *r)
{
	while (r->p < r->end && json_is_space(*r->p))
		r->p++;
}

/* Moves to the first byte of a value: consumes white space and a required comma. */
static inline bool json_begin_value(struct json_reader *r)
{
	if (r->is_failed)
		return false;
	json_space(r);
	if (r->need_comma) {
		char c = json_cur(r);

		if (c == ']' || c == '}')
			return true; /* no value: the caller's message is better */
		if (c != ',' || r->depth == 0)
			return json_stop_comma(r);
		r->p++;
		json_space(r);
		r->need_comma = false;
		c = json_cur(r);
		if ((c == ']' || c == '}') && !(r->flags & JSON_TOLERANT))
			return json_stop_comma(r);
	}
	r->value_at = r->p;
	return true;
}

static inline bool json_end_value(struct json_reader *r, const char *end)
{
	r->p = end;
	r->need_comma = true;
	return true;
}
