/* SPDX-License-Identifier: Apache-2.0 */
/* postgres_text.c: any bytes as UTF-8, and back. */
#include "store/postgres_library.h"

/* U+10FE80 .. U+10FEBF stand for the bytes 0x80 .. 0xBF, U+10FEC0 .. U+10FEFF for 0xC0 .. 0xFF. */
#define LEAD "\xf4\x8f"
#define LOW 0xba
#define HIGH 0xbb

static bool is_replaced(const unsigned char *p)
{
	return p[0] == 0xf4 && p[1] == 0x8f && (p[2] == LOW || p[2] == HIGH);
}

void pg_put_text(struct strbuf *out, const char *text)
{
	const unsigned char *p = (const unsigned char *)text, *from = p;
	const unsigned char *end = p + strlen(text);

	while (p < end) {
		size_t n = utf8_length(p, (size_t)(end - p));

		if (n && !(n == 4 && is_replaced(p))) {
			p += n;
			continue;
		}
		sb_add(out, (const char *)from, (size_t)(p - from));
		sb_puts(out, LEAD);
		sb_putc(out, (char)(*p < 0xc0 ? LOW : HIGH));
		sb_putc(out, (char)(0x80 | (*p & 0x3f)));
		from = ++p;
	}
	sb_add(out, (const char *)from, (size_t)(p - from));
}

const char *pg_plain_text(const char *text, struct arena *a)
{
	const char *p = strstr(text, LEAD);
	char *out, *to;

	if (!p)
		return text;
	to = out = arena_alloc(a, strlen(text) + 1);
	if (!out)
		return NULL;
	for (p = text; *p;)
		if (is_replaced((const unsigned char *)p) && p[3]) {
			*to++ = (char)((p[2] == (char)LOW ? 0x80 : 0xc0) | (p[3] & 0x3f));
			p += 4;
		} else {
			*to++ = *p++;
		}
	*to = 0;
	return out;
}
