/* SPDX-License-Identifier: Apache-2.0 */
/*
 * str.c: searching borrowed strings and building owned ones.
 *
 * Parts: texts; text of files made plain.
 */
#include "base/str.h"

#include <stdio.h>

#include "base/mem.h"

/* --- texts ------------------------------------------------------------------------------------ */

bool str_starts(struct str s, const char *prefix)
{
	size_t n = strlen(prefix);

	return s.n >= n && (n == 0 || memcmp(s.p, prefix, n) == 0);
}

bool str_ends(struct str s, const char *suffix)
{
	size_t n = strlen(suffix);

	return s.n >= n && (n == 0 || memcmp(s.p + s.n - n, suffix, n) == 0);
}

ptrdiff_t str_find(struct str s, const char *needle)
{
	size_t n = strlen(needle);
	const char *at;

	if (n == 0)
		return 0;
	at = s.n ? memmem(s.p, s.n, needle, n) : NULL;
	return at ? at - s.p : -1;
}

bool str_has(struct str s, const char *needle)
{
	return str_find(s, needle) >= 0;
}

ptrdiff_t str_rfind_char(struct str s, char c)
{
	const char *at = s.n ? memrchr(s.p, c, s.n) : NULL;

	return at ? at - s.p : -1;
}

struct str str_sub(struct str s, size_t from, size_t n)
{
	if (from > s.n)
		from = s.n;
	if (n > s.n - from)
		n = s.n - from;
	return (struct str){s.p ? s.p + from : NULL, n};
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

struct str str_trim(struct str s)
{
	while (s.n && is_space(s.p[0]))
		s.p++, s.n--;
	while (s.n && is_space(s.p[s.n - 1]))
		s.n--;
	return s;
}

int str_cmp(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int c = n ? memcmp(a.p, b.p, n) : 0;

	return c ? c : (a.n > b.n) - (a.n < b.n);
}

bool str_cut(struct str *rest, const char *sep, struct str *part)
{
	ptrdiff_t at;

	if (!rest->p) /* used up; a rest that ends in `sep` still has one empty part */
		return false;
	at = *sep ? str_find(*rest, sep) : -1;
	if (at < 0) {
		*part = *rest;
		*rest = (struct str){0};
		return true;
	}
	*part = str_sub(*rest, 0, (size_t)at);
	*rest = str_sub(*rest, (size_t)at + strlen(sep), rest->n);
	return true;
}

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

bool str_to_u64(struct str s, uint64_t *out)
{
	uint64_t v = 0, base = 10;

	if (s.n > 2 && s.p[0] == '0' && (s.p[1] == 'x' || s.p[1] == 'X')) {
		base = 16;
		s = str_sub(s, 2, s.n);
	}
	for (size_t i = 0; i < s.n; i++) {
		uint64_t d = (uint64_t)digit_value(s.p[i]);

		if (d >= base || __builtin_mul_overflow(v, base, &v) ||
			__builtin_add_overflow(v, d, &v))
			return false;
	}
	if (s.n)
		*out = v;
	return s.n > 0;
}

bool str_to_i64(struct str s, int64_t *out)
{
	bool is_negative = s.n && s.p[0] == '-';
	uint64_t v = 0, most = (uint64_t)INT64_MAX + is_negative;

	if (is_negative)
		s = (struct str){s.p + 1, s.n - 1};
	for (size_t i = 0; i < s.n; i++) {
		uint64_t d = (uint64_t)digit_value(s.p[i]);

		if (d > 9 || v > (most - d) / 10)
			return false;
		v = v * 10 + d;
	}
	if (s.n)
		*out = is_negative ? (int64_t)(0 - v) : (int64_t)v;
	return s.n > 0;
}

void sb_free(struct strbuf *b)
{
	mem_free(b->p);
	*b = (struct strbuf){0};
}

void sb_reset(struct strbuf *b)
{
	b->n = 0;
	if (b->p)
		b->p[0] = 0;
}

bool sb_reserve(struct strbuf *b, size_t n)
{
	size_t cap = b->cap < 64 ? 64 : b->cap;
	char *p;

	if (b->failed)
		return false;
	if (b->cap && n < b->cap - b->n)
		return true;
	if (n >= PTRDIFF_MAX / 2 - b->n) {
		b->failed = true;
		return false;
	}
	while (cap <= b->n + n)
		cap *= 2;
	p = mem_resize(b->p, cap, 1);
	if (!p) {
		b->failed = true;
		return false;
	}
	b->p = p;
	b->cap = cap;
	return true;
}

bool sb_add(struct strbuf *b, const char *p, size_t n)
{
	if (!sb_reserve(b, n))
		return false;
	if (n)
		memcpy(b->p + b->n, p, n);
	b->n += n;
	b->p[b->n] = 0;
	return true;
}

bool sb_str(struct strbuf *b, struct str s)
{
	return sb_add(b, s.p, s.n);
}

bool sb_puts(struct strbuf *b, const char *s)
{
	return sb_add(b, s, strlen(s));
}

bool sb_putc(struct strbuf *b, char c)
{
	return sb_add(b, &c, 1);
}

bool sb_vprintf(struct strbuf *b, const char *fmt, va_list ap)
{
	va_list again;
	size_t room;
	int n;

	if (!sb_reserve(b, 80))
		return false;
	room = b->cap - b->n;
	va_copy(again, ap);
	n = vsnprintf(b->p + b->n, room, fmt, ap);
	if (n < 0 || ((size_t)n >= room && !sb_reserve(b, (size_t)n))) {
		b->p[b->n] = 0;
		b->failed = true;
		va_end(again);
		return false;
	}
	if ((size_t)n >= room)
		vsnprintf(b->p + b->n, (size_t)n + 1, fmt, again);
	va_end(again);
	b->n += (size_t)n;
	return true;
}

bool sb_printf(struct strbuf *b, const char *fmt, ...)
{
	va_list ap;
	bool ok;

	va_start(ap, fmt);
	ok = sb_vprintf(b, fmt, ap);
	va_end(ap);
	return ok;
}

size_t utf8_length(const unsigned char *p, size_t n)
{
	size_t need = p[0] < 0x80   ? 1
		      : p[0] < 0xc2 ? 0
		      : p[0] < 0xe0 ? 2
		      : p[0] < 0xf0 ? 3
		      : p[0] < 0xf5 ? 4
				    : 0;

	if (need == 0 || n < need)
		return 0;
	for (size_t i = 1; i < need; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xf0 && p[1] < 0x90))
		return 0; /* overlong encoding */
	if ((p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0; /* a surrogate, or above U+10FFFF */
	return need;
}

const char *fmt_u64(char buf[32], uint64_t v)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)v), k = 0;

	for (int i = 0; i < n; i++) {
		if (i > 0 && (n - i) % 3 == 0)
			buf[k++] = ',';
		buf[k++] = digits[i];
	}
	buf[k] = 0;
	return buf;
}

const char *fmt_count(char buf[COUNT_TEXT], uint64_t n, const char *noun)
{
	snprintf(buf, COUNT_TEXT, "%s %s%s", U64_TEXT(n), noun, plural(n));
	return buf;
}

bool sb_put_u64(struct strbuf *b, uint64_t v)
{
	char buf[32];

	return sb_puts(b, fmt_u64(buf, v));
}

/* --- text of files made plain ----------------------------------------------------------------- */

/* Which parts of a text may reach a terminal unchanged? */

static uint32_t code_point(const unsigned char *p, size_t n)
{
	static const unsigned char head[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	uint32_t c = p[0] & head[n];

	for (size_t i = 1; i < n; i++)
		c = c << 6 | (p[i] & 0x3fu);
	return c;
}

/* ASCII and C1 controls, bidi controls, line separators, and code points that are not characters.
 */
static bool is_control(uint32_t c)
{
	return (c < 0x20 && c != '\t') || (c >= 0x7f && c < 0xa0) || c == 0x061c || c == 0x200e ||
	       c == 0x200f || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) ||
	       c == 0xfeff || (c & 0xfffe) == 0xfffe;
}

/* Length in bytes of the plain text at the start of s. */
static size_t plain_length(struct str s)
{
	const unsigned char *p = (const unsigned char *)s.p;
	size_t i = 0, n;

	while (i < s.n) {
		if (p[i] >= 0x20 && p[i] < 0x7f) {
			i++;
			continue;
		}
		n = utf8_length(p + i, s.n - i);
		if (n == 0 || is_control(code_point(p + i, n)))
			break;
		i += n;
	}
	return i;
}

bool str_is_plain(struct str s)
{
	return plain_length(s) == s.n;
}

/* Appends the code of what s begins with, which is not plain; returns its length in s. */
static size_t plain_put_code(struct strbuf *b, struct str s)
{
	const unsigned char *p = (const unsigned char *)s.p;
	size_t n = utf8_length(p, s.n);

	if (p[0] == '\n')
		sb_puts(b, "\\n");
	else if (p[0] == '\r')
		sb_puts(b, "\\r");
	else if (n <= 1)
		sb_printf(b, "\\x%02x", p[0]);
	else
		sb_printf(b, "\\u%04x", (unsigned)code_point(p, n));
	return n ? n : 1;
}

bool sb_plain(struct strbuf *b, struct str s)
{
	while (s.n) {
		size_t n = plain_length(s);

		sb_add(b, s.p, n);
		s = str_sub(s, n, s.n);
		if (s.n)
			s = str_sub(s, plain_put_code(b, s), s.n);
	}
	return !b->failed;
}
