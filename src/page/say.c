/* SPDX-License-Identifier: Apache-2.0 */
/*
 * say.c: a printf that trusts its format and nothing else.
 *
 * Parts: colours; text.
 */
#include "page/say.h"

#include <string.h>

#include "base/str.h"

/* --- colours ---------------------------------------------------------------------------------- */

/* Style marks in a page, and terminal escape codes. */

#define STYLES (CELL_BAD + 1)

static const char *const marks[STYLES] = {
	[CELL_PLAIN] = "",
	[CELL_DIM] = "\002",
	[CELL_HOT] = "\003",
	[CELL_WARM] = "\004",
	[CELL_GOOD] = "\005",
	[CELL_BAD] = "\006",
};
const char style_mark_end[] = "\007";

static const char *const codes[STYLES] = {
	[CELL_PLAIN] = "",
	[CELL_DIM] = "\033[2m",
	[CELL_HOT] = "\033[1;31m",
	[CELL_WARM] = "\033[33m",
	[CELL_GOOD] = "\033[32m",
	[CELL_BAD] = "\033[31m",
};
const char style_code_end[] = "\033[0m";

const char *style_mark(enum cell_style style)
{
	return marks[style];
}

const char *style_code(enum cell_style style)
{
	return codes[style];
}

void sb_unstyled(struct strbuf *out, const char *text)
{
	static const char every_mark[] = "\001\002\003\004\005\006\007";

	while (*text) {
		size_t n = strcspn(text, every_mark);

		sb_add(out, text, n);
		text += n + (text[n] != 0);
	}
}

/* Is this one of the strings above? Compares addresses. */
static bool style_is(const char *text)
{
	for (size_t i = 0; i < STYLES; i++)
		if (text == marks[i] || text == codes[i])
			return true;
	return text == style_mark_end || text == style_code_end;
}

/* --- text ------------------------------------------------------------------------------------- */

/* Where text goes: one of the two is set. */
struct say_sink {
	FILE *file;
	struct strbuf *buf;
};

static void say_put_bytes(const struct say_sink *out, const char *p, size_t n)
{
	if (out->file)
		fwrite(p, 1, n, out->file);
	else
		sb_add(out->buf, p, n);
}

static void put_formatted(const struct say_sink *out, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	if (out->file)
		vfprintf(out->file, fmt, ap);
	else
		sb_vprintf(out->buf, fmt, ap);
#pragma GCC diagnostic pop
	va_end(ap);
}

/* One conversion of a format. */
struct conversion {
	char flags[8];
	int width, precision; /* precision -1: none */
	bool is_long;
	char kind;
};

static int say_read_number(const char **p, va_list *ap)
{
	int n = 0;

	if (**p == '*') {
		++*p;
		return va_arg(*ap, int);
	}
	for (; **p >= '0' && **p <= '9'; ++*p)
		n = n * 10 + (**p - '0');
	return n;
}

/* Parses what follows a '%'; moves *p behind it. */
static struct conversion read_conversion(const char **p, va_list *ap)
{
	struct conversion c = {.precision = -1};
	size_t n = strspn(*p, "-+ #0");

	memcpy(c.flags, *p, n < sizeof(c.flags) - 1 ? n : sizeof(c.flags) - 1);
	*p += n;
	c.width = say_read_number(p, ap);
	if (**p == '.') {
		++*p;
		c.precision = say_read_number(p, ap);
	}
	for (; strchr("hlzjt", **p) && **p; ++*p)
		c.is_long |= **p != 'h';
	c.kind = **p;
	++*p;
	return c;
}

static void say_string(const struct say_sink *out, const struct conversion *c, const char *s)
{
	struct strbuf plain = {0};
	struct str text = {s, c->precision < 0 ? strlen(s) : strnlen(s, (size_t)c->precision)};

	if (!style_is(s) && !str_is_plain(text)) {
		sb_plain(&plain, text);
		text = (struct str){plain.p ? plain.p : "", plain.n};
	}
	put_formatted(out, strchr(c->flags, '-') ? "%-*.*s" : "%*.*s", c->width, STR_ARG(text));
	sb_free(&plain);
}

static long long say_take_integer(const struct conversion *c, va_list *ap)
{
	if (c->is_long)
		return va_arg(*ap, long long);
	return c->kind == 'd' || c->kind == 'i' ? va_arg(*ap, int)
						: (long long)va_arg(*ap, unsigned);
}

/* A negative precision counts as none given. */
static void say_value(const struct say_sink *out, const struct conversion *c, va_list *ap)
{
	bool is_real = strchr("fge", c->kind) != NULL;
	char fmt[24];

	snprintf(fmt, sizeof(fmt), "%%%s*.*%s%c", c->flags, is_real ? "" : "ll", c->kind);
	if (is_real)
		put_formatted(out, fmt, c->width, c->precision, va_arg(*ap, double));
	else
		put_formatted(out, fmt, c->width, c->precision, say_take_integer(c, ap));
}

static void say_all(const struct say_sink *out, const char *fmt, va_list args)
{
	va_list ap;

	va_copy(ap, args);
	while (*fmt) {
		size_t n = strcspn(fmt, "%");
		struct conversion c;

		say_put_bytes(out, fmt, n);
		fmt += n;
		if (!*fmt++)
			break;
		c = read_conversion(&fmt, &ap);
		if (c.kind == '%')
			say_put_bytes(out, "%", 1);
		else if (c.kind == 'c')
			say_put_bytes(out, &(char){(char)va_arg(ap, int)}, 1);
		else if (c.kind == 's')
			say_string(out, &c, va_arg(ap, const char *));
		else
			say_value(out, &c, &ap);
	}
	va_end(ap);
}

void sb_vsay(struct strbuf *out, const char *fmt, va_list args)
{
	say_all(&(struct say_sink){.buf = out}, fmt, args);
}

void say(FILE *out, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_all(&(struct say_sink){.file = out}, fmt, ap);
	va_end(ap);
}
