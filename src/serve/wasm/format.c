/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format.c: vsnprintf() of what the answers print, in a browser. The same digits as a C library: a
 * double is written exactly and rounded half to even.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define MAX_WORDS 40 /* of 32 bits: 1074 bits of fraction and some more */
#define MAX_DIGITS 20
#define MAX_WHOLE 340

struct out {
	char *p;
	size_t room, n;
};

static void put(struct out *o, char c)
{
	if (o->n + 1 < o->room)
		o->p[o->n] = c;
	o->n++;
}

static void put_padded(struct out *o, const char *text, size_t n, int width, char with)
{
	for (int i = (int)n; i < width; i++)
		put(o, with);
	for (size_t i = 0; i < n; i++)
		put(o, text[i]);
}

static size_t digits_of(uint64_t v, unsigned base, char buf[24])
{
	char back[24];
	size_t n = 0;

	do {
		back[n++] = "0123456789abcdef"[v % base];
		v /= base;
	} while (v);
	for (size_t i = 0; i < n; i++)
		buf[i] = back[n - 1 - i];
	return n;
}

/* --- doubles --- */

/* words, little end first, times 10; returns what leaves at the top. */
static uint32_t times_ten(uint32_t *w, int n)
{
	uint64_t carry = 0;

	for (int i = 0; i < n; i++) {
		carry += (uint64_t)w[i] * 10;
		w[i] = (uint32_t)carry;
		carry >>= 32;
	}
	return (uint32_t)carry;
}

static uint32_t divide_ten(uint32_t *w, int n)
{
	uint64_t rest = 0;

	for (int i = n; i-- > 0;) {
		rest = rest << 32 | w[i];
		w[i] = (uint32_t)(rest / 10);
		rest %= 10;
	}
	return (uint32_t)rest;
}

static void shifted(uint32_t *w, uint64_t m, int by)
{
	for (int k = 0; k < 3; k++) {
		int at = by / 32 + k;
		uint64_t part = k == 0 ? m << (by % 32)
				: by % 32
					? (k == 1 ? m >> (32 - by % 32) : m >> (64 - by % 32) >> 0)
					: (k == 1 ? m >> 32 : 0);

		if (at < MAX_WORDS)
			w[at] |= (uint32_t)part;
	}
}

static bool any(const uint32_t *w, int n)
{
	for (int i = 0; i < n; i++)
		if (w[i])
			return true;
	return false;
}

/* Whole digits into whole (without leading zeros, at least one), `digits` of the fraction into
 * part; rounded half to even. Returns the number of whole digits. */
static int exact(double v, int digits, char whole[MAX_WHOLE], char part[MAX_DIGITS])
{
	uint32_t words[MAX_WORDS] = {0};
	uint64_t bits, m;
	int e, n = 0;
	bool up;

	memcpy(&bits, &v, sizeof(bits));
	m = bits & ((UINT64_C(1) << 52) - 1);
	e = (int)(bits >> 52 & 2047);
	if (e)
		m |= UINT64_C(1) << 52;
	else
		e = 1;
	e -= 1075; /* v = m * 2^e */
	if (e >= 0) {
		shifted(words, m, e);
	} else if (e > -64) {
		words[0] = (uint32_t)(m >> -e);
		words[1] = (uint32_t)(m >> -e >> 32);
	}
	do {
		whole[n++] = (char)('0' + divide_ten(words, MAX_WORDS));
	} while (any(words, MAX_WORDS));
	for (int i = 0; i < n / 2; i++) {
		char c = whole[i];

		whole[i] = whole[n - 1 - i];
		whole[n - 1 - i] = c;
	}
	memset(words, 0, sizeof(words));
	if (e < 0) { /* the fraction as words[] / 2^(32 * top) */
		int top = (-e + 31) / 32;
		uint64_t f = -e >= 64 ? m : m & ((UINT64_C(1) << -e) - 1);

		shifted(words, f, top * 32 + e);
		for (int i = 0; i < digits; i++)
			part[i] = (char)('0' + times_ten(words, top));
		up = top > 0 &&
		     (words[top - 1] > 0x80000000u ||
			     (words[top - 1] == 0x80000000u &&
				     (any(words, top - 1) ||
					     ((digits ? part[digits - 1] : whole[n - 1]) & 1))));
	} else {
		memset(part, '0', (size_t)digits);
		up = false;
	}
	for (int i = digits; up && i-- > 0;) {
		up = part[i] == '9';
		part[i] = up ? '0' : (char)(part[i] + 1);
	}
	for (int i = n; up && i-- > 0;) {
		up = whole[i] == '9';
		whole[i] = up ? '0' : (char)(whole[i] + 1);
	}
	if (up && n < MAX_WHOLE) {
		memmove(whole + 1, whole, (size_t)n++);
		whole[0] = '1';
	}
	return n;
}

static void put_fixed(struct out *o, double v, int digits)
{
	char whole[MAX_WHOLE], part[MAX_DIGITS];
	int n;

	if (digits < 0 || digits > MAX_DIGITS)
		digits = 6;
	if (__builtin_signbit(v))
		put(o, '-');
	n = exact(v, digits, whole, part);
	put_padded(o, whole, (size_t)n, 0, ' ');
	if (digits)
		put(o, '.');
	put_padded(o, part, (size_t)digits, 0, ' ');
}

/* --- the format --- */

struct spec {
	int width, precision; /* precision -1: none */
	char pad;
	unsigned longs; /* 0 int, 1 long or size_t (32 bits here), 2 long long */
};

static const char *parse(const char *f, struct spec *s, va_list *ap)
{
	*s = (struct spec){.precision = -1, .pad = ' '};
	if (*f == '0') {
		s->pad = '0';
		f++;
	}
	for (; *f >= '0' && *f <= '9'; f++)
		s->width = s->width * 10 + (*f - '0');
	if (*f == '.') {
		s->precision = 0;
		if (*++f == '*') {
			s->precision = va_arg(*ap, int);
			f++;
		}
		for (; *f >= '0' && *f <= '9'; f++)
			s->precision = s->precision * 10 + (*f - '0');
	}
	for (; *f == 'l' || *f == 'z'; f++)
		s->longs += *f == 'l' ? 1 : 0;
	return f;
}

static void put_number(struct out *o, char kind, const struct spec *s, va_list *ap)
{
	bool is_signed = kind == 'd' || kind == 'i';
	uint64_t v = s->longs > 1 ? va_arg(*ap, unsigned long long) : va_arg(*ap, unsigned);
	char buf[24];
	size_t n;

	if (is_signed && s->longs < 2)
		v = (uint64_t)(int64_t)(int32_t)v;
	if (is_signed && (int64_t)v < 0) {
		put(o, '-');
		v = 0 - v;
	}
	n = digits_of(v, kind == 'x' ? 16 : 10, buf);
	put_padded(o, buf, n, s->width, s->pad);
}

static void put_text(struct out *o, const struct spec *s, const char *text)
{
	size_t n = 0;

	text = text ? text : "(null)";
	while ((s->precision < 0 || n < (size_t)s->precision) && text[n])
		n++;
	put_padded(o, text, n, s->width, ' ');
}

static void put_one(struct out *o, char kind, const struct spec *s, va_list *ap)
{
	char c;

	switch (kind) {
	case 's':
		put_text(o, s, va_arg(*ap, const char *));
		break;
	case 'c':
		c = (char)va_arg(*ap, int);
		put(o, c);
		break;
	case 'f':
	case 'g': /* of few digits: never written by the answers in a browser */
		put_fixed(o, va_arg(*ap, double), s->precision < 0 ? 6 : s->precision);
		break;
	case '%':
		put(o, '%');
		break;
	default:
		put_number(o, kind, s, ap);
	}
}

int vsnprintf(char *out, size_t room, const char *fmt, va_list ap)
{
	struct out o = {out, room, 0};
	va_list copy;

	va_copy(copy, ap);
	for (; *fmt; fmt++) {
		struct spec s;

		if (*fmt != '%') {
			put(&o, *fmt);
			continue;
		}
		fmt = parse(fmt + 1, &s, &copy);
		if (!*fmt)
			break;
		put_one(&o, *fmt, &s, &copy);
	}
	va_end(copy);
	if (room)
		out[o.n < room ? o.n : room - 1] = 0;
	return (int)o.n;
}

int snprintf(char *out, size_t room, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(out, room, fmt, ap);
	va_end(ap);
	return n;
}

int ferror(FILE *f)
{
	(void)f;
	return 1;
}

size_t fwrite(const void *p, size_t size, size_t n, FILE *f)
{
	(void)p;
	(void)size;
	(void)n;
	(void)f;
	return 0;
}
