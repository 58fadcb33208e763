/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_reader.c: containers, simple values and errors of the JSON reader.
 *
 * Parts: numbers; strings, and skipping values; containers, simple values, errors.
 */
#include "codec/json_reader.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/mem.h"
#include "codec/json_core.h"

/* --- numbers ---------------------------------------------------------------------------------- */

/* Reads single numbers, exact in 64 bits or an error. */

#define SAFE_DIGITS 19 /* any number of so many digits fits 64 bits */

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
	if (p >= r->end || !char_is_digit(*p))
		return stop_number(r, p);
	for (; p < r->end && char_is_digit(*p); p++)
		if (v < 1000000000)
			v = v * 10 + (*p - '0');
	n->exponent += is_negative ? -v : v;
	n->is_integer = false;
	n->end = p;
	return true;
}

/* Checks the syntax of the number at r->p; consumes nothing. */
static bool json_scan_number(struct json_reader *r, struct json_number *n)
{
	const char *p = r->p, *first;

	*n = (struct json_number){.is_integer = true, .is_exact = true};
	if (p < r->end && *p == '-') {
		n->is_negative = true;
		p++;
	}
	first = p;
	for (; p < r->end && char_is_digit(*p) && p - first < SAFE_DIGITS; p++)
		n->mantissa = n->mantissa * 10 + (uint64_t)(*p - '0');
	for (; p < r->end && char_is_digit(*p); p++)
		take_digit(n, *p);
	if (p == first)
		return stop_number(r, p);
	if (*first == '0' && p - first > 1)
		return json_stop(r, first, "bad-json", "a number may not begin with 0");
	if (p < r->end && *p == '.') {
		n->is_integer = false;
		first = ++p;
		for (; p < r->end && char_is_digit(*p); p++) {
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
	if (c != '-' && !char_is_digit(c))
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
	if (c != '-' && !char_is_digit(c))
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

/* --- strings, and skipping values ------------------------------------------------------------- */

/* Reads strings with escapes, and skips values. */

/* Bit mask of the 16 bytes at p that are `"`, `\` or a control character. */
#ifdef __SSE2__
static inline unsigned string_stops(const char *p)
{
	__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i quote = _mm_cmpeq_epi8(v, _mm_set1_epi8('"'));
	__m128i slash = _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'));
	__m128i low = _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(0x1f)), v);

	return (unsigned)_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, slash), low));
}

/* Bit mask of the 16 bytes at p that are a bracket, a brace or a quote. */
static inline unsigned bracket_stops(const char *p)
{
	__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i quote = _mm_cmpeq_epi8(v, _mm_set1_epi8('"'));
	__m128i folded = _mm_or_si128(v, _mm_set1_epi8(0x20)); /* [ to {, ] to } */
	__m128i open = _mm_cmpeq_epi8(folded, _mm_set1_epi8('{'));
	__m128i close = _mm_cmpeq_epi8(folded, _mm_set1_epi8('}'));

	return (unsigned)_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(open, close), quote));
}

/* Bit mask of the 16 bytes at p that equal c. */
static inline uint64_t equal16(const char *p, char c)
{
	__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);

	return (uint64_t)_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8(c)));
}
#else
/* High bit of each byte of v that equals c (below 0x80); exact. */
static inline uint64_t bytes_equal(uint64_t v, unsigned char c)
{
	uint64_t t = v ^ JSON_ONES * c;

	return ~(((t & ~JSON_HIGH) + ~JSON_HIGH) | t) & JSON_HIGH;
}

/* Gathers the high bits of the bytes. */
static inline unsigned json_reader_gather(uint64_t high)
{
	return (unsigned)((high >> 7) * 0x0102040810204080u >> 56);
}

static inline unsigned string_stops8(uint64_t v)
{
	uint64_t low = ~((v & ~JSON_HIGH) + JSON_ONES * 0x60) & ~v & JSON_HIGH;

	return json_reader_gather(bytes_equal(v, '"') | bytes_equal(v, '\\') | low);
}

static inline unsigned bracket_stops8(uint64_t v)
{
	uint64_t folded = v | JSON_ONES * 0x20;

	return json_reader_gather(
		bytes_equal(folded, '{') | bytes_equal(folded, '}') | bytes_equal(v, '"'));
}

static inline unsigned string_stops(const char *p)
{
	return string_stops8(json_load64(p)) | string_stops8(json_load64(p + 8)) << 8;
}

static inline uint64_t equal16(const char *p, char c)
{
	return json_reader_gather(bytes_equal(json_load64(p), (unsigned char)c)) |
	       json_reader_gather(bytes_equal(json_load64(p + 8), (unsigned char)c)) << 8;
}

static inline unsigned bracket_stops(const char *p)
{
	return bracket_stops8(json_load64(p)) | bracket_stops8(json_load64(p + 8)) << 8;
}
#endif

/* The first byte at or after p that ends a plain run of a string, or end. */
static const char *plain_end(const char *p, const char *end)
{
	for (; p < end; p += 16) {
		unsigned stops = string_stops(p);

		if (stops) {
			p += __builtin_ctz(stops);
			break;
		}
	}
	return p < end ? p : end;
}

static bool stop_inside_string(struct json_reader *r)
{
	return json_stop(r, r->end, "truncated", "input ends inside a string");
}

#define HEX_BAD (-1)
#define HEX_CUT (-2) /* valid so far, but the input ends */

/* Four hex digits at p, or one of the above. */
static int32_t json_reader_hex4(const struct json_reader *r, const char *p)
{
	int32_t v = 0;

	for (int i = 0; i < 4; i++, p++) {
		char lower;

		if (p >= r->end)
			return HEX_CUT;
		lower = (char)(*p | 0x20);
		if (*p >= '0' && *p <= '9')
			v = v << 4 | (*p - '0');
		else if (lower >= 'a' && lower <= 'f')
			v = v << 4 | (lower - 'a' + 10);
		else
			return HEX_BAD;
	}
	return v;
}

/* The value of "\uXXXX" at p. */
static int32_t second_half(const struct json_reader *r, const char *p)
{
	if (p < r->end && *p != '\\')
		return HEX_BAD;
	if (p + 1 < r->end && p[1] != 'u')
		return HEX_BAD;
	return r->end - p < 2 ? HEX_CUT : json_reader_hex4(r, p + 2);
}

static void json_reader_put_utf8(struct strbuf *b, uint32_t c)
{
	char s[4];
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (size_t i = n; i-- > 1; c >>= 6)
		s[i] = (char)(0x80 | (c & 0x3f));
	s[0] = (char)(n == 1 ? c : (0xf00u >> n & 0xf0u) | c);
	sb_add(b, s, n);
}

/* Reads \uXXXX with *p after the u; moves *p past it, or past both of a surrogate pair. */
static bool scan_unicode(struct json_reader *r, const char **p, struct strbuf *b)
{
	const char *at = *p - 2;
	int32_t c = json_reader_hex4(r, *p), low;

	if (c == HEX_CUT)
		return stop_inside_string(r);
	if (c == HEX_BAD)
		return json_stop(r, at, "bad-json", "\\u needs four hexadecimal digits");
	*p += 4;
	if (c == 0)
		return json_stop(r, at, "bad-json", "\\u0000 is not allowed");
	if (c >= 0xdc00 && c <= 0xdfff)
		return json_stop(r, at, "bad-json", "second half of a surrogate pair alone");
	if (c >= 0xd800 && c <= 0xdbff) {
		low = second_half(r, *p);
		if (low == HEX_CUT)
			return stop_inside_string(r);
		if (low < 0xdc00 || low > 0xdfff)
			return json_stop(r, at, "bad-json", "first half of a surrogate pair alone");
		*p += 6;
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
	}
	json_reader_put_utf8(b, (uint32_t)c);
	return true;
}

/* Reads an escape whose backslash is at *p. */
static bool scan_escape(struct json_reader *r, const char **p, struct strbuf *b)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *at;

	if (r->end - *p < 2)
		return stop_inside_string(r);
	if ((*p)[1] == 'u') {
		*p += 2;
		return scan_unicode(r, p, b);
	}
	at = (*p)[1] ? strchr(from, (*p)[1]) : NULL;
	if (!at)
		return json_stop(r, *p, "bad-json", "unknown escape");
	sb_putc(b, to[at - from]);
	*p += 2;
	return true;
}

static bool scan_escaped(struct json_reader *r, const char *p, struct str *out, struct strbuf *b)
{
	const char *from = r->p + 1;

	sb_reset(b);
	for (;;) {
		sb_add(b, from, (size_t)(p - from));
		if (p >= r->end)
			return stop_inside_string(r);
		if (*p == '"')
			break;
		if (*p != '\\') {
			if (!(r->flags & JSON_TOLERANT))
				return json_stop(r, p, "bad-json", "control character in a string");
			sb_putc(b, *p);
			from = ++p;
		} else {
			if (!scan_escape(r, &p, b))
				return false;
			from = p;
		}
		p = plain_end(p, r->end);
	}
	if (b->failed)
		return json_stop(r, r->p, "no-memory", "out of memory");
	*out = (struct str){b->p, b->n};
	r->p = p + 1;
	return true;
}

/* Reads a string whose opening quote is next; escapes are resolved into *scratch. */
static bool json_scan_string(struct json_reader *r, struct str *out, struct strbuf *scratch)
{
	const char *p = plain_end(r->p + 1, r->end);

	if (p < r->end && *p == '"') {
		*out = (struct str){r->p + 1, (size_t)(p - r->p - 1)};
		r->p = p + 1;
		return true;
	}
	return scan_escaped(r, p, out, scratch);
}

/* Skips a string at *p; escapes are not checked. */
static bool json_reader_skip_string(struct json_reader *r, const char **p)
{
	for (++*p;; ++*p) {
		*p = plain_end(*p, r->end);
		if (*p >= r->end)
			return stop_inside_string(r);
		if (**p == '"')
			break;
		if (**p == '\\')
			++*p;
		else if (!(r->flags & JSON_TOLERANT))
			return json_stop(r, *p, "bad-json", "control character in a string");
	}
	++*p;
	return true;
}

#define WINDOW 64

struct skip_state {
	uint64_t is_object[(JSON_MAX_DEPTH + 63) / 64]; /* bit per open level, from 0 */
	unsigned depth, most;
};

/* Handles a bracket or brace at p; false on an error. s->depth becomes 0 at the end of the
 * value. */
static bool skip_bracket(struct json_reader *r, const char *p, struct skip_state *s)
{
	uint64_t is_object = (unsigned char)*p >> 5 & 1; /* 0x5b, 0x5d: 0; 0x7b, 0x7d: 1 */
	uint64_t *word;

	if ((*p & 0x1f) == ('[' & 0x1f)) {
		if (s->depth >= s->most)
			return json_stop(
				r, p, "too-deep", "nested deeper than %d levels", JSON_MAX_DEPTH);
		word = &s->is_object[s->depth / 64];
		*word = (*word & ~(UINT64_C(1) << s->depth % 64)) | is_object << s->depth % 64;
		s->depth++;
		return true;
	}
	s->depth--;
	if ((s->is_object[s->depth / 64] >> s->depth % 64 & 1) != is_object)
		return json_stop(
			r, p, "bad-json", "expected '%c', found '%c'", is_object ? ']' : '}', *p);
	return true;
}

/* Bit i: is the number of set bits up to and including bit i odd? */
static inline uint64_t running_parity(uint64_t v)
{
	for (unsigned shift = 1; shift < 64; shift *= 2)
		v ^= v << shift;
	return v;
}

/* Handles nested square brackets one by one; false if a level that is not an array, or the value
 * itself, would end here. */
static bool skip_nested(uint64_t open, uint64_t close, struct skip_state *s)
{
	uint64_t is_object = s->is_object[0];
	unsigned depth = s->depth;

	for (uint64_t left = open | close; left; left &= left - 1) {
		if (open & left & -left) {
			if (depth >= 63 || depth >= s->most)
				return false;
			is_object &= ~(UINT64_C(1) << depth++);
			continue;
		}
		depth--;
		if (depth == 0 || is_object >> depth & 1)
			return false;
	}
	s->is_object[0] = is_object;
	s->depth = depth;
	return true;
}

/*
 * Skips WINDOW bytes at once if they hold numbers in nested arrays: no quote, no brace. In the
 * usual case, rows of numbers, opening and closing brackets alternate, so that depth changes by
 * one at most (the parity of the brackets so far is 1 at every opening one, or at every closing
 * one, exactly if they alternate). False: handle the bytes one by one.
 */
static bool skip_window(const char *p, struct skip_state *s)
{
	uint64_t open = 0, close = 0, other = 0, turns, parity;

	for (unsigned k = 0; k < WINDOW; k += 16) {
		uint64_t opens = equal16(p + k, '['), closes = equal16(p + k, ']');

		open |= opens << k;
		close |= closes << k;
		other |= bracket_stops(p + k) ^ (opens | closes);
	}
	if (other || s->depth == 0 || s->depth >= 63 || s->depth >= s->most)
		return false;
	parity = running_parity(open | close);
	turns = parity & (open | close);
	if (turns == open) { /* each opened level is closed, except maybe the last */
		s->is_object[0] &= ~(UINT64_C(1) << s->depth);
		s->depth += (unsigned)(parity >> 63);
		return true;
	}
	return skip_nested(open, close, s);
}

static bool skip_container(struct json_reader *r)
{
	struct skip_state s = {.most = JSON_MAX_DEPTH - r->depth};
	const char *p = r->p;

	while (p < r->end) {
		if (r->end - p >= WINDOW && skip_window(p, &s)) {
			p += WINDOW;
			continue;
		}
		unsigned stops = bracket_stops(p);
		const char *from = p;

		for (p += 16; stops; stops &= stops - 1) {
			const char *at = from + __builtin_ctz(stops);

			if (at >= r->end)
				break;
			if (*at == '"') {
				if (!json_reader_skip_string(r, &at))
					return false;
				p = at;
				break;
			}
			if (!skip_bracket(r, at, &s))
				return false;
			if (s.depth == 0)
				return json_end_value(r, at + 1);
		}
	}
	return json_stop(r, r->end, "truncated", "input ends inside an array or object");
}

bool json_skip(struct json_reader *r)
{
	struct json_number number;
	const char *p;
	bool b;

	switch (json_peek(r)) {
	case JSON_OBJECT:
	case JSON_ARRAY:
		return skip_container(r);
	case JSON_STRING:
		p = r->p;
		return json_reader_skip_string(r, &p) && json_end_value(r, p);
	case JSON_NUMBER:
		return json_scan_number(r, &number) && json_end_value(r, number.end);
	case JSON_BOOL:
		return json_get_bool(r, &b);
	case JSON_NULL:
		return json_get_null(r);
	case JSON_INVALID:
		break;
	}
	return r->is_failed ? false : json_stop_expected(r, "a value");
}

static const char *plain_string(const char *p, const char *end)
{
	for (p = plain_end(p, end); *p == '\\' && p[1] && strchr("\"\\/bfnrt", p[1]);)
		p = plain_end(p + 2, end);
	return p < end && *p == '"' ? p + 1 : NULL;
}

static const char *plain_digits(const char *p)
{
	while (*p >= '0' && *p <= '9')
		p++;
	return p;
}

const char *json_plain_value(const char *p, const char *end)
{
	const char *first, *stop;

	if (*p == '"')
		return plain_string(p + 1, end);
	first = p + (*p == '-');
	stop = plain_digits(first);
	if (stop == first || (*first == '0' && stop > first + 1))
		return NULL;
	if (*stop == '.') {
		first = stop + 1;
		stop = plain_digits(first);
	}
	return stop > first && stop < end && (*stop | 0x20) != 'e' ? stop : NULL;
}

/* --- containers, simple values, errors -------------------------------------------------------- */

bool(json_stop)(struct json_reader *r, const char *at, const char *code, const char *fmt, ...)
{
	va_list ap;

	if (r->is_failed)
		return false;
	r->is_failed = true;
	r->fail_at = at < r->end ? at : r->end;
	r->fail_code = code;
	va_start(ap, fmt);
	vsnprintf(r->fail_text, sizeof(r->fail_text), fmt, ap);
	va_end(ap);
	return false;
}

static const char *name_of_byte(const struct json_reader *r, char buf[16])
{
	char c = json_cur(r);

	switch (c) {
	case '"':
		return "a string";
	case '{':
		return "an object";
	case '[':
		return "an array";
	case ']':
		return "the end of the array";
	case '}':
		return "the end of the object";
	case 't':
	case 'f':
		return "a boolean";
	case 'n':
		return "null";
	default:
		break;
	}
	if (c == '-' || (c >= '0' && c <= '9'))
		return "a number";
	snprintf(buf, 16, c > ' ' && c <= '~' ? "'%c'" : "byte 0x%02x", (unsigned char)c);
	return buf;
}

bool(json_stop_expected)(struct json_reader *r, const char *what)
{
	char buf[16], c = json_cur(r);
	/* a value of the wrong type, or an array that is too short: still well-formed */
	bool is_value = c && strchr("\"{[tfn-0123456789", c);
	bool is_short = c == ']' || (c == '}' && r->need_comma);

	if (r->p >= r->end)
		return json_stop(
			r, r->end, "truncated", "expected %s, found the end of input", what);
	return json_stop(r, r->p, is_value || is_short ? "bad-type" : "bad-json",
		"expected %s, found %s", what, name_of_byte(r, buf));
}

bool(json_stop_comma)(struct json_reader *r)
{
	char buf[16];

	if (r->depth == 0)
		return json_stop(r, r->p, "bad-json", "unexpected text after the end of the value");
	if (r->p >= r->end)
		return json_stop(r, r->end, "truncated", "input ends inside an array or object");
	if (!r->need_comma)
		return json_stop(r, r->p, "bad-json", "nothing follows the ','");
	return json_stop(r, r->p, "bad-json", "expected ',' or the end of the container, found %s",
		name_of_byte(r, buf));
}

void json_init(
	struct json_reader *r, const void *data, size_t size, const char *path, unsigned flags)
{
	*r = (struct json_reader){.p = data,
		.start = data,
		.end = (const char *)data + size,
		.value_at = data,
		.path = path,
		.flags = flags};
	if ((flags & JSON_TOLERANT) && size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0)
		r->p += 3;
}

void json_deinit(struct json_reader *r)
{
	sb_free(&r->scratch);
	sb_free(&r->key_scratch);
}

enum json_type json_peek(struct json_reader *r)
{
	if (!json_begin_value(r))
		return JSON_INVALID;
	switch (json_cur(r)) {
	case '{':
		return JSON_OBJECT;
	case '[':
		return JSON_ARRAY;
	case '"':
		return JSON_STRING;
	case 't':
	case 'f':
		return JSON_BOOL;
	case 'n':
		return JSON_NULL;
	case '-':
	case '0':
	case '1':
	case '2':
	case '3':
	case '4':
	case '5':
	case '6':
	case '7':
	case '8':
	case '9':
		return JSON_NUMBER;
	default:
		return JSON_INVALID;
	}
}

static bool json_reader_enter(struct json_reader *r, char open, const char *what)
{
	if (!json_begin_value(r))
		return false;
	if (json_cur(r) != open)
		return json_stop_expected(r, what);
	if (r->depth >= JSON_MAX_DEPTH)
		return json_stop(
			r, r->p, "too-deep", "nested deeper than %d levels", JSON_MAX_DEPTH);
	r->p++;
	r->depth++;
	r->need_comma = false;
	return true;
}

static bool json_reader_leave(struct json_reader *r, size_t n_bytes)
{
	r->value_at = r->p;
	r->p += n_bytes;
	r->depth--;
	r->need_comma = true;
	return false;
}

/* Moves to the next member: true if one must follow, false at the end or on an error. */
static bool next_member(struct json_reader *r, char close)
{
	bool is_tolerant = (r->flags & JSON_TOLERANT) != 0;
	char c;

	if (r->is_failed || r->depth == 0)
		return false;
	json_space(r);
	c = json_cur(r);
	if (c == close)
		return json_reader_leave(r, 1);
	if (r->need_comma && c == ',') {
		r->p++;
		json_space(r);
		r->need_comma = false;
		c = json_cur(r);
		if (c == close)
			return is_tolerant ? json_reader_leave(r, 1) : json_stop_comma(r);
	}
	if (r->p >= r->end && is_tolerant)
		return json_reader_leave(r, 0);
	if (r->need_comma || r->p >= r->end)
		return json_stop_comma(r);
	r->value_at = r->p;
	return true;
}

bool json_enter_object(struct json_reader *r)
{
	return json_reader_enter(r, '{', "an object");
}

bool json_next_key(struct json_reader *r, struct str *key)
{
	const char *at;
	struct str s;
	char buf[16];

	if (!next_member(r, '}'))
		return false;
	at = r->p;
	if (*at != '"')
		return json_stop(
			r, at, "bad-json", "expected a key, found %s", name_of_byte(r, buf));
	if (!json_scan_string(r, &s, &r->key_scratch))
		return false;
	json_space(r);
	if (json_cur(r) != ':') {
		if (r->p >= r->end)
			return json_stop_expected(r, "':'");
		return json_stop(r, r->p, "bad-json", "expected ':' after the key");
	}
	r->p++;
	r->value_at = at;
	*key = s;
	return true;
}

bool json_enter_array(struct json_reader *r)
{
	return json_reader_enter(r, '[', "an array");
}

bool json_next_item(struct json_reader *r)
{
	if (!next_member(r, ']'))
		return false;
	if (*r->p == '}')
		return json_stop(r, r->p, "bad-json", "expected ']', found '}'");
	return true;
}

bool json_enter_object_or_null(struct json_reader *r)
{
	if (json_peek(r) == JSON_NULL)
		return json_get_null(r) && false;
	return json_enter_object(r);
}

bool json_enter_array_or_null(struct json_reader *r)
{
	if (json_peek(r) == JSON_NULL)
		return json_get_null(r) && false;
	return json_enter_array(r);
}

/* Reads the given word at the next byte; `what` is for the message. */
static bool json_reader_get_word(struct json_reader *r, const char *word, const char *what)
{
	size_t left = (size_t)(r->end - r->p), n = strlen(word);

	if (left >= n && memcmp(r->p, word, n) == 0)
		return json_end_value(r, r->p + n);
	if (left < n && left > 0 && memcmp(r->p, word, left) == 0)
		return json_stop(r, r->end, "truncated", "input ends inside %s", word);
	if (json_cur(r) == *word)
		return json_stop(r, r->p, "bad-json", "expected %s, found an unknown word", what);
	return json_stop_expected(r, what);
}

bool json_get_bool(struct json_reader *r, bool *out)
{
	bool is_true;

	if (!json_begin_value(r))
		return false;
	is_true = json_cur(r) == 't';
	if (!json_reader_get_word(r, is_true ? "true" : "false", "a boolean"))
		return false;
	*out = is_true;
	return true;
}

bool json_get_null(struct json_reader *r)
{
	return json_begin_value(r) && json_reader_get_word(r, "null", "null");
}

bool json_get_str(struct json_reader *r, struct str *out)
{
	struct str s;

	if (!json_begin_value(r))
		return false;
	if (json_cur(r) != '"')
		return json_stop_expected(r, "a string");
	if (!json_scan_string(r, &s, &r->scratch))
		return false;
	r->need_comma = true;
	*out = s;
	return true;
}

bool json_get_str_or_null(struct json_reader *r, struct str *out)
{
	if (json_peek(r) != JSON_NULL)
		return json_get_str(r, out);
	if (!json_get_null(r))
		return false;
	*out = (struct str){NULL, 0};
	return true;
}

bool json_reject(struct json_reader *r, const char *code, const char *fmt, ...)
{
	char text[sizeof(r->fail_text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return json_stop(r, r->value_at, code ? code : "bad-value", "%s", text);
}

bool json_once(struct json_reader *r, uint64_t *seen, unsigned bit, struct str key)
{
	uint64_t mask = UINT64_C(1) << (bit & 63);

	if (r->is_failed)
		return false;
	if (*seen & mask)
		return json_reject(r, "duplicate-key", "the key '%.*s' is there twice",
			(int)(key.n < 40 ? key.n : 40), key.p);
	*seen |= mask;
	return true;
}

uint64_t json_offset(const struct json_reader *r)
{
	return (uint64_t)(r->p - r->start);
}

bool json_finish(struct json_reader *r, struct incore_error *e)
{
	if (!r->is_failed) {
		json_space(r);
		if (r->p < r->end)
			json_stop(
				r, r->p, "bad-json", "unexpected text after the end of the value");
		else if (r->depth > 0 && !(r->flags & JSON_TOLERANT))
			json_stop_comma(r);
	}
	return r->is_failed ? json_fail(r, e) : true;
}

bool json_fail(struct json_reader *r, struct incore_error *e)
{
	const char *line = r->start, *at = r->fail_at, *next;
	uint32_t n_lines = 1;

	if (!r->is_failed)
		return err_set(e, INCORE_BAD_INPUT, "bad-json", "malformed JSON");
	if (strcmp(r->fail_code, "no-memory") == 0)
		return err_nomem(e);
	err_file(e, r->fail_code, r->path, (uint64_t)(at - r->start), "%s", r->fail_text);
	if (!e)
		return false;
	while (line < at && (next = memchr(line, '\n', (size_t)(at - line))) != NULL) {
		line = next + 1;
		n_lines++;
	}
	e->line = n_lines;
	e->column = (uint32_t)(at - line) + 1;
	return false;
}
