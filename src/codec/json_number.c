/* SPDX-License-Identifier: Apache-2.0 */
/* json_number.c: reads single numbers, exact in 64 bits or an error. */
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "codec/json_core.h"
#include "codec/json_reader.h"

#define SAFE_DIGITS 19 /* any number of so many digits fits 64 bits */

static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Adds one digit to the mantissa; digits that do not fit only raise the exponent. */
static inline void take_digit(struct json_number *n, char c)
{
	uint64_t d = (uint64_t)(c - '0');

	if (n->mantissa > (UINT64_MAX - d) / 10) {
		n->is_exact = false;
		n->exponent++;
	} else if (n->is_exact) {
		n->mantissa = n->mantissa * 10 + d;
	} else {
		n->exponent++;
	}
}

static bool stop_number(struct json_reader *r, const char *at)
{
	if (at >= r->end)
		return json_stop(r, r->end, "truncated", "input ends inside a number");
	return json_stop(r, at, "bad-json", "malformed number");
}

static bool scan_exponent(struct json_reader *r, struct json_number *n)
{
	const char *p = n->end + 1;
	bool is_negative = p < r->end && *p == '-';
	int64_t v = 0;

	if (p < r->end && (*p == '-' || *p == '+'))
		p++;
	if (p >= r->end || !is_digit(*p))
		return stop_number(r, p);
	for (; p < r->end && is_digit(*p); p++)
		if (v < 1000000000)
			v = v * 10 + (*p - '0');
	n->exponent += is_negative ? -v : v;
	n->is_integer = false;
	n->end = p;
	return true;
}

bool json_scan_number(struct json_reader *r, struct json_number *n)
{
	const char *p = r->p, *first;

	*n = (struct json_number){.is_integer = true, .is_exact = true};
	if (p < r->end && *p == '-') {
		n->is_negative = true;
		p++;
	}
	first = p;
	for (; p < r->end && is_digit(*p) && p - first < SAFE_DIGITS; p++)
		n->mantissa = n->mantissa * 10 + (uint64_t)(*p - '0');
	for (; p < r->end && is_digit(*p); p++)
		take_digit(n, *p);
	if (p == first)
		return stop_number(r, p);
	if (*first == '0' && p - first > 1)
		return json_stop(r, first, "bad-json", "a number may not begin with 0");
	if (p < r->end && *p == '.') {
		n->is_integer = false;
		first = ++p;
		for (; p < r->end && is_digit(*p); p++) {
			take_digit(n, *p);
			n->exponent--;
		}
		if (p == first)
			return stop_number(r, p);
	}
	n->end = p;
	if (p < r->end && (*p == 'e' || *p == 'E'))
		return scan_exponent(r, n);
	return true;
}

static bool stop_range(struct json_reader *r, const char *what)
{
	return json_stop(r, r->p, "out-of-range", "the number does not fit %s", what);
}

/* Reads an integer of magnitude at most `most` (one more if negative and allowed). */
static bool get_integer(struct json_reader *r, uint64_t most, bool can_be_negative,
	const char *what, struct json_number *n)
{
	char c;

	if (!json_begin_value(r))
		return false;
	c = json_cur(r);
	if (c != '-' && !is_digit(c))
		return json_stop_expected(r, "an integer");
	if (!json_scan_number(r, n))
		return false;
	if (!n->is_integer)
		return json_stop(
			r, r->p, "bad-type", "expected an integer, found a fraction or exponent");
	if (n->is_negative && !can_be_negative && n->mantissa)
		return stop_range(r, what);
	if (!n->is_exact || n->mantissa > most + (n->is_negative && can_be_negative))
		return stop_range(r, what);
	return json_end_value(r, n->end);
}

bool json_get_i64(struct json_reader *r, int64_t *out)
{
	struct json_number n;

	if (!get_integer(r, INT64_MAX, true, "64 bits with sign", &n))
		return false;
	*out = n.is_negative ? (int64_t)(0 - n.mantissa) : (int64_t)n.mantissa;
	return true;
}

bool json_get_u64(struct json_reader *r, uint64_t *out)
{
	struct json_number n;

	if (!get_integer(r, UINT64_MAX, false, "64 bits without sign", &n))
		return false;
	*out = n.mantissa;
	return true;
}

bool json_get_u32(struct json_reader *r, uint32_t *out)
{
	struct json_number n;

	if (!get_integer(r, UINT32_MAX, false, "32 bits without sign", &n))
		return false;
	*out = (uint32_t)n.mantissa;
	return true;
}

/* strtod() of the number's text, independent of the locale's decimal point. */
static bool slow_double(struct json_reader *r, const struct json_number *n, double *out)
{
	size_t size = (size_t)(n->end - r->p);
	char small[128], *text = small;
	locale_t c_locale = newlocale(LC_ALL_MASK, "C", NULL);

	if (size >= sizeof(small))
		text = mem_alloc(size + 1);
	if (!text || !c_locale) {
		if (c_locale)
			freelocale(c_locale);
		if (text != small)
			mem_free(text);
		return json_stop(r, r->p, "no-memory", "out of memory");
	}
	memcpy(text, r->p, size);
	text[size] = 0;
	*out = strtod_l(text, NULL, c_locale);
	freelocale(c_locale);
	if (text != small)
		mem_free(text);
	return true;
}

bool json_get_double(struct json_reader *r, double *out)
{
	/* powers of ten that a double holds exactly */
	static const double tens[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
		1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
	struct json_number n;
	double v;
	char c;

	if (!json_begin_value(r))
		return false;
	c = json_cur(r);
	if (c != '-' && !is_digit(c))
		return json_stop_expected(r, "a number");
	if (!json_scan_number(r, &n))
		return false;
	/* both operands exact, one rounding: the result is the nearest double */
	if (FLT_EVAL_METHOD == 0 && n.is_exact && n.mantissa <= (UINT64_C(1) << 53) &&
		n.exponent >= -22 && n.exponent <= 22) {
		v = (double)n.mantissa;
		v = n.exponent < 0 ? v / tens[-n.exponent] : v * tens[n.exponent];
		v = n.is_negative ? -v : v;
	} else if (!slow_double(r, &n, &v)) {
		return false;
	}
	if (isinf(v))
		return stop_range(r, "a double");
	*out = v;
	return json_end_value(r, n.end);
}
