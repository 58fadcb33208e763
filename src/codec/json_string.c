/* SPDX-License-Identifier: Apache-2.0 */
/* json_string.c: reads strings with escapes, and skips values. */
#include "codec/json_core.h"
#include "codec/json_reader.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

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
static inline unsigned gather(uint64_t high)
{
	return (unsigned)((high >> 7) * 0x0102040810204080u >> 56);
}

static inline unsigned string_stops8(uint64_t v)
{
	uint64_t low = ~((v & ~JSON_HIGH) + JSON_ONES * 0x60) & ~v & JSON_HIGH;

	return gather(bytes_equal(v, '"') | bytes_equal(v, '\\') | low);
}

static inline unsigned bracket_stops8(uint64_t v)
{
	uint64_t folded = v | JSON_ONES * 0x20;

	return gather(bytes_equal(folded, '{') | bytes_equal(folded, '}') | bytes_equal(v, '"'));
}

static inline unsigned string_stops(const char *p)
{
	return string_stops8(json_load64(p)) | string_stops8(json_load64(p + 8)) << 8;
}

static inline uint64_t equal16(const char *p, char c)
{
	return gather(bytes_equal(json_load64(p), (unsigned char)c)) |
	       gather(bytes_equal(json_load64(p + 8), (unsigned char)c)) << 8;
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
static int32_t hex4(const struct json_reader *r, const char *p)
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
	return r->end - p < 2 ? HEX_CUT : hex4(r, p + 2);
}

static void put_utf8(struct strbuf *b, uint32_t c)
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
	int32_t c = hex4(r, *p), low;

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
	put_utf8(b, (uint32_t)c);
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

bool json_scan_string(struct json_reader *r, struct str *out, struct strbuf *scratch)
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
static bool skip_string(struct json_reader *r, const char **p)
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
				if (!skip_string(r, &at))
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
		return skip_string(r, &p) && json_end_value(r, p);
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
