/* SPDX-License-Identifier: Apache-2.0 */
/* clean_value.c: JSON values as they stand in the text, and times of them. */
#include "export/clean/clean_value.h"

#include <float.h>
#include <math.h>

#define MAX_TIME 9007199254740992.0 /* 2^53: beyond, a double has no unit digit */

/* Plain decimals of at most 19 digits, rounded as strtod() would; false: use the slow way. */
static bool fast_double(struct str s, double *out)
{
#if LDBL_MANT_DIG == 64
	static const long double tens[] = {1e0L, 1e1L, 1e2L, 1e3L, 1e4L, 1e5L, 1e6L, 1e7L, 1e8L,
		1e9L, 1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L, 1e20L,
		1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L};
	uint64_t m = 0, bits;
	unsigned digits = 0, scale = 0;
	bool has_point = false;
	long double v;

	for (size_t i = 0; i < s.n; i++) {
		unsigned d = (unsigned char)s.p[i] - '0';

		if (s.p[i] == '.') {
			has_point = true;
			continue;
		}
		if (d > 9)
			return false;
		m = m * 10 + d;
		digits += m != 0;
		scale += has_point;
	}
	if (digits > 19 || scale > 27)
		return false;
	v = (long double)m / tens[scale];
	memcpy(&bits, &v, sizeof(bits));
	if ((bits & 0x7ff) == 0x400 && m)
		return false; /* half way between two doubles, or nearly */
	*out = (double)v;
	return true;
#else
	(void)s;
	(void)out;
	return false;
#endif
}

static bool slow_double(struct str s, double *out)
{
	struct json_reader r;
	bool ok;

	json_init(&r, s.p, s.n, NULL, 0);
	ok = json_get_double(&r, out) && json_offset(&r) == s.n;
	json_deinit(&r);
	return ok;
}

bool clean_skip(struct json_reader *r)
{
	struct str key;

	switch (json_peek(r)) {
	case JSON_OBJECT:
		for (json_enter_object(r); json_next_key(r, &key);)
			if (!clean_skip(r))
				return false;
		return !r->is_failed;
	case JSON_ARRAY:
		for (json_enter_array(r); json_next_item(r);)
			if (!clean_skip(r))
				return false;
		return !r->is_failed;
	case JSON_INVALID:
	case JSON_NULL:
	case JSON_BOOL:
	case JSON_NUMBER:
	case JSON_STRING:
		break;
	}
	return json_skip(r);
}

/* The value as it stands. */
struct str clean_raw(struct json_reader *r)
{
	const char *from;

	if (json_peek(r) == JSON_INVALID) {
		json_skip(r); /* fails with its own words */
		return (struct str){0};
	}
	from = r->p;
	if (!clean_skip(r))
		return (struct str){0};
	return (struct str){from, (size_t)(r->p - from)};
}

/* A string without its quotes, escapes left alone; a number as it stands. */
struct str clean_inside(struct str raw)
{
	if (raw.n >= 2 && raw.p[0] == '"')
		return (struct str){raw.p + 1, raw.n - 2};
	return raw;
}

bool clean_is_string(struct str raw)
{
	return raw.n && raw.p[0] == '"';
}

bool clean_is_number(struct str raw)
{
	return raw.n && (raw.p[0] == '-' || (raw.p[0] >= '0' && raw.p[0] <= '9'));
}

/* False: not a time. A string is read but never copied as a number. */
bool clean_time(struct str *raw, double *out)
{
	struct str s = *raw;

	if (clean_is_string(s)) {
		s = clean_inside(s);
		*raw = (struct str){0};
	}
	if (!clean_is_number(s) || !(fast_double(s, out) || slow_double(s, out)))
		return false;
	if (raw->n > UINT8_MAX)
		*raw = (struct str){0};
	return isfinite(*out) && fabs(*out) <= MAX_TIME;
}
