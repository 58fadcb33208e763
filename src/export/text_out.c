/* SPDX-License-Identifier: Apache-2.0 */
/* text_out.c: basic parts of JSON text, for fast writers. */
#include "export/text_out.h"

#include <math.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"

bool text_out_open(struct text_out *o, FILE *f, struct incore_error *e)
{
	*o = (struct text_out){.f = f, .buf = mem_alloc(TEXT_OUT_BYTES)};
	return o->buf || err_nomem(e);
}

static void text_out_flush(struct text_out *o)
{
	if (o->n)
		fwrite(o->buf, 1, o->n, o->f);
	o->n = 0;
}

bool text_out_close(struct text_out *o, struct incore_error *e)
{
	text_out_flush(o);
	mem_free(o->buf);
	o->buf = NULL;
	if (ferror(o->f))
		return err_write(e);
	return true;
}

void text_put_long(struct text_out *o, const char *p, size_t n)
{
	text_out_flush(o);
	if (n > TEXT_OUT_BYTES) {
		fwrite(p, 1, n, o->f);
		return;
	}
	memcpy(o->buf, p, n);
	o->n = n;
}

void text_put_json(struct text_out *o, const char *p, size_t n)
{
	uint64_t any = 0, word;
	size_t at = 0;

	for (; at + sizeof(word) <= n; at += sizeof(word)) {
		memcpy(&word, p + at, sizeof(word));
		any |= word;
	}
	for (; at < n; at++)
		any |= (unsigned char)p[at];
	if (!(any & 0x8080808080808080u)) {
		text_put(o, p, n);
		return;
	}
	for (size_t i = 0; i < n;) {
		size_t len = utf8_length((const unsigned char *)p + i, n - i);

		if (len)
			text_put(o, p + i, len);
		else
			text_puts(o, "\xef\xbf\xbd");
		i += len ? len : 1;
	}
}

void text_put_escaped(struct text_out *o, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		char text[8];

		if (c == '"' || c == '\\')
			snprintf(text, sizeof(text), "\\%c", c);
		else if (c < 0x20)
			snprintf(text, sizeof(text), "\\u%04x", c);
		else
			continue;
		text_put_json(o, s.p, i);
		text_puts(o, text);
		s = str_sub(s, i + 1, s.n);
		i = (size_t)-1;
	}
	text_put_json(o, s.p ? s.p : "", s.n);
}

void text_put_quoted(struct text_out *o, struct str s)
{
	text_puts(o, "\"");
	text_put_escaped(o, s);
	text_puts(o, "\"");
}

void text_put_u64(struct text_out *o, uint64_t v)
{
	char text[20];
	size_t n = sizeof(text);

	do
		text[--n] = (char)('0' + v % 10);
	while (v /= 10);
	text_put(o, text + n, sizeof(text) - n);
}

void text_put_time(struct text_out *o, double v)
{
	char text[40];
	uint64_t whole, part;
	unsigned digits = 9;

	if (!(fabs(v) < 9e9)) {
		snprintf(text, sizeof(text), "%.17g", v);
		text_puts(o, isfinite(v) ? text : "0");
		return;
	}
	if (v < 0)
		text_puts(o, "-");
	part = (uint64_t)llround(fabs(v) * 1e9);
	whole = part / 1000000000u;
	part %= 1000000000u;
	text_put_u64(o, whole);
	if (!part)
		return;
	text[0] = '.';
	for (; part % 10 == 0; digits--)
		part /= 10;
	for (unsigned i = digits; i > 0; i--, part /= 10)
		text[i] = (char)('0' + part % 10);
	text_put(o, text, digits + 1);
}

void text_put_exact(struct text_out *o, double v)
{
	char text[40];

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	text_puts(o, isfinite(v) ? text : "0");
}
