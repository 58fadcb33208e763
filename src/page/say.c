/* SPDX-License-Identifier: Apache-2.0 */
/* say.c: a printf that trusts its format and nothing else. */
#include "page/say.h"

#include <string.h>

#include "base/plain.h"
#include "page/style.h"

/* Where text goes: one of the two is set. */
struct sink {
	FILE *file;
	struct strbuf *buf;
};

static void put_bytes(const struct sink *out, const char *p, size_t n)
{
	if (out->file)
		fwrite(p, 1, n, out->file);
	else
		sb_add(out->buf, p, n);
}

static void put_formatted(const struct sink *out, const char *fmt, ...)
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

static int read_number(const char **p, va_list *ap)
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
	c.width = read_number(p, ap);
	if (**p == '.') {
		++*p;
		c.precision = read_number(p, ap);
	}
	for (; strchr("hlzjt", **p) && **p; ++*p)
		c.is_long |= **p != 'h';
	c.kind = **p;
	++*p;
	return c;
}

static void say_string(const struct sink *out, const struct conversion *c, const char *s)
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

static long long take_integer(const struct conversion *c, va_list *ap)
{
	if (c->is_long)
		return va_arg(*ap, long long);
	return c->kind == 'd' || c->kind == 'i' ? va_arg(*ap, int)
						: (long long)va_arg(*ap, unsigned);
}

/* A negative precision counts as none given. */
static void say_value(const struct sink *out, const struct conversion *c, va_list *ap)
{
	bool is_real = strchr("fge", c->kind) != NULL;
	char fmt[24];

	snprintf(fmt, sizeof(fmt), "%%%s*.*%s%c", c->flags, is_real ? "" : "ll", c->kind);
	if (is_real)
		put_formatted(out, fmt, c->width, c->precision, va_arg(*ap, double));
	else
		put_formatted(out, fmt, c->width, c->precision, take_integer(c, ap));
}

static void say_all(const struct sink *out, const char *fmt, va_list args)
{
	va_list ap;

	va_copy(ap, args);
	while (*fmt) {
		size_t n = strcspn(fmt, "%");
		struct conversion c;

		put_bytes(out, fmt, n);
		fmt += n;
		if (!*fmt++)
			break;
		c = read_conversion(&fmt, &ap);
		if (c.kind == '%')
			put_bytes(out, "%", 1);
		else if (c.kind == 'c')
			put_bytes(out, &(char){(char)va_arg(ap, int)}, 1);
		else if (c.kind == 's')
			say_string(out, &c, va_arg(ap, const char *));
		else
			say_value(out, &c, &ap);
	}
	va_end(ap);
}

void sb_vsay(struct strbuf *out, const char *fmt, va_list args)
{
	say_all(&(struct sink){.buf = out}, fmt, args);
}

void say(FILE *out, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_all(&(struct sink){.file = out}, fmt, ap);
	va_end(ap);
}
