/* SPDX-License-Identifier: Apache-2.0 */
/* markup.c: escapes text for markup. */
#include "codec/markup.h"

#include "base/str.h"

void markup_text(struct strbuf *b, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		switch (text.p[i]) {
		case '&':
			sb_puts(b, "&amp;");
			break;
		case '<':
			sb_puts(b, "&lt;");
			break;
		case '>':
			sb_puts(b, "&gt;");
			break;
		case '"':
			sb_puts(b, "&quot;");
			break;
		case '\'':
			sb_puts(b, "&#39;");
			break;
		default:
			/* characters that are invalid in HTML become the replacement character */
			if ((unsigned char)text.p[i] < 32 && text.p[i] != '\n' && text.p[i] != '\t')
				sb_puts(b, "\xef\xbf\xbd");
			else
				sb_putc(b, text.p[i]);
		}
	}
}

void markup_xml(struct strbuf *b, struct str text)
{
	struct strbuf plain = {0};

	b->failed |= !sb_plain(&plain, text);
	markup_text(b, (struct str){plain.p, plain.n});
	sb_free(&plain);
}

/* Markdown turns addresses into links, unless they are broken up here. */
static bool is_in_address(struct str s, size_t i)
{
	return (s.p[i] == ':' && str_starts(str_sub(s, i, s.n), "://")) ||
	       (s.p[i] == '.' && str_ends(str_sub(s, 0, i), "www"));
}

static void put_prose(struct strbuf *b, struct str plain)
{
	for (size_t i = 0; i < plain.n; i++) {
		char c = plain.p[i];

		if (c == '<')
			sb_puts(b, "&lt;");
		else if (c == '&')
			sb_puts(b, "&amp;");
		else if ((c && strchr("\\`*_[]#|!~$", c)) || is_in_address(plain, i))
			sb_printf(b, "\\%c", c);
		else
			sb_putc(b, c);
	}
}

void markup_prose(struct strbuf *b, struct str text)
{
	struct strbuf plain = {0};

	b->failed |= !sb_plain(&plain, text);
	put_prose(b, (struct str){plain.p, plain.n});
	sb_free(&plain);
}

void markup_code(struct strbuf *b, struct str text)
{
	struct strbuf plain = {0};

	b->failed |= !sb_plain(&plain, text);
	/* escapes do not work between backquotes, and a '|' ends a table cell even there */
	if (plain.n && !strpbrk(plain.p, "`\\|"))
		sb_printf(b, "`%s`", plain.p);
	else
		put_prose(b, (struct str){plain.p, plain.n});
	sb_free(&plain);
}
