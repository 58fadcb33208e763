/* SPDX-License-Identifier: Apache-2.0 */
/* plain.c: which parts of a text may reach a terminal unchanged? */
#include "base/plain.h"

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
static size_t put_code(struct strbuf *b, struct str s)
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
			s = str_sub(s, put_code(b, s), s.n);
	}
	return !b->failed;
}
