/* SPDX-License-Identifier: Apache-2.0 */
/*
 * str.h: borrowed strings (struct str) and a growable buffer (struct strbuf).
 * A struct str does not own its bytes and need not end in NUL. A strbuf owns its bytes, which
 * always end in NUL; a failed append latches `failed`, so that a long run of appends is checked
 * once.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"

struct str {
	const char *p;
	size_t n;
};

#define STR(literal) ((struct str){"" literal, sizeof(literal) - 1})
#define STR_ARG(s) (int)(s).n, (s).p /* for "%.*s" */

static inline struct str str_of(const char *cstr)
{
	return (struct str){cstr, cstr ? strlen(cstr) : 0};
}

/* Letters, digits and '_' of ASCII, whatever the locale. */
static inline bool char_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool char_is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || char_is_digit(c) || c == '_';
}

static inline bool str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool str_is(struct str a, const char *cstr)
{
	return str_eq(a, str_of(cstr));
}

bool str_starts(struct str s, const char *prefix);
bool str_ends(struct str s, const char *suffix);
bool str_has(struct str s, const char *needle);
/* Index of the first / last occurrence, or -1. */
ptrdiff_t str_find(struct str s, const char *needle);
ptrdiff_t str_rfind_char(struct str s, char c);
struct str str_sub(struct str s, size_t from, size_t n); /* clamped */
struct str str_trim(struct str s);
int str_cmp(struct str a, struct str b); /* byte order */
/* Splits the part before the next `sep` off *rest; false when *rest is used up. */
bool str_cut(struct str *rest, const char *sep, struct str *part);
/* Whole string as a number; false on anything else or overflow. Accepts 0x for the unsigned form.
 */
bool str_to_u64(struct str s, uint64_t *out);
bool str_to_i64(struct str s, int64_t *out);

/* Length of the UTF-8 sequence at p (n > 0 bytes left), 0 if it is invalid. */
size_t utf8_length(const unsigned char *p, size_t n);

/* Plural ending of a counted word: "1 wave", "2 waves". */
static inline const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

struct strbuf {
	char *p;
	size_t n, cap;
	bool failed;
};

void sb_free(struct strbuf *b);
void sb_reset(struct strbuf *b); /* empties it; `failed` stays, only sb_free() clears it */
/* Makes room for n more bytes and the NUL, for callers that write at b->p + b->n themselves. */
bool sb_reserve(struct strbuf *b, size_t n);
bool sb_add(struct strbuf *b, const char *p, size_t n);
bool sb_str(struct strbuf *b, struct str s);
bool sb_puts(struct strbuf *b, const char *s);
bool sb_putc(struct strbuf *b, char c);
bool sb_printf(struct strbuf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
bool sb_vprintf(struct strbuf *b, const char *fmt, va_list ap) PRINTF_LIKE(2, 0);

/* "12,345", in buf. */
const char *fmt_u64(char buf[32], uint64_t v);
/* "12,345 waves", "1 wave", in buf; the noun must be short. */
#define COUNT_TEXT 96
const char *fmt_count(char buf[COUNT_TEXT], uint64_t n, const char *noun);
/* The same without a buffer: the string lives as long as the enclosing block. */
#define U64_TEXT(v) fmt_u64((char[32]){0}, (v))
#define COUNTED(n, noun) fmt_count((char[COUNT_TEXT]){0}, (n), (noun))
bool sb_put_u64(struct strbuf *b, uint64_t v);

/* --- text of files made plain ----------------------------------------------------------------- */

/*
 * Makes untrusted text safe for a terminal and for one line. Kernel names, instructions and paths
 * come from files that anyone may have made: a control character in them would move the cursor, set
 * the title or forge a line of ours, and a bidi control would disguise a name. Such characters are
 * shown as codes (\n, \x1b, \u202e), and so are bytes that are not UTF-8. A tab is plain. Pure
 * functions.
 */

bool str_is_plain(struct str s);
/* Appends s, with codes for what is not plain in it. */
bool sb_plain(struct strbuf *b, struct str s);
