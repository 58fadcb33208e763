/* SPDX-License-Identifier: Apache-2.0 */
/* trace_event_text.c: resolves the escapes in raw strings of trace events. */
#include "codec/trace_events.h"

static bool put_utf8(struct strbuf *out, uint32_t c)
{
	char b[4];
	size_t n;

	if (c < 0x80) {
		b[0] = (char)c;
		n = 1;
	} else if (c < 0x800) {
		b[0] = (char)(0xc0 | c >> 6);
		b[1] = (char)(0x80 | (c & 0x3f));
		n = 2;
	} else if (c < 0x10000) {
		b[0] = (char)(0xe0 | c >> 12);
		b[1] = (char)(0x80 | (c >> 6 & 0x3f));
		b[2] = (char)(0x80 | (c & 0x3f));
		n = 3;
	} else {
		b[0] = (char)(0xf0 | c >> 18);
		b[1] = (char)(0x80 | (c >> 12 & 0x3f));
		b[2] = (char)(0x80 | (c >> 6 & 0x3f));
		b[3] = (char)(0x80 | (c & 0x3f));
		n = 4;
	}
	return sb_add(out, b, n);
}

static bool hex4(struct str s, size_t at, uint32_t *out)
{
	uint32_t v = 0;

	if (at + 4 > s.n)
		return false;
	for (size_t i = at; i < at + 4; i++) {
		char c = s.p[i];
		int d = c >= '0' && c <= '9'   ? c - '0'
			: c >= 'a' && c <= 'f' ? c - 'a' + 10
			: c >= 'A' && c <= 'F' ? c - 'A' + 10
					       : -1;

		if (d < 0)
			return false;
		v = v << 4 | (uint32_t)d;
	}
	*out = v;
	return true;
}

/* Resolves the escape at s.p[at] (a backslash); returns the number of bytes used. */
static size_t put_escape(struct strbuf *out, struct str s, size_t at)
{
	static const char from[] = "nrtbf\"\\/", to[] = "\n\r\t\b\f\"\\/";
	const char *k = at + 1 < s.n ? strchr(from, s.p[at + 1]) : NULL;
	uint32_t c, low;

	if (k && *k) {
		sb_putc(out, to[k - from]);
		return 2;
	}
	if (at + 1 < s.n && s.p[at + 1] == 'u' && hex4(s, at + 2, &c) && c != 0) {
		if (c >= 0xd800 && c < 0xdc00 && at + 7 < s.n && s.p[at + 6] == '\\' &&
			s.p[at + 7] == 'u' && hex4(s, at + 8, &low) && low >= 0xdc00 &&
			low < 0xe000) {
			put_utf8(out, 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00));
			return 12;
		}
		put_utf8(out, c);
		return 6;
	}
	sb_putc(out, '\\');
	return 1;
}

bool trace_event_text(struct strbuf *out, struct str raw)
{
	for (size_t i = 0; i < raw.n;) {
		if (raw.p[i] == '\\') {
			i += put_escape(out, raw, i);
		} else if (raw.p[i] == '\0') {
			i++;
		} else {
			sb_putc(out, raw.p[i++]);
		}
	}
	return !out->failed;
}
