/* SPDX-License-Identifier: Apache-2.0 */
/* error.c: making, chaining, moving and formatting errors. */
#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

/* One line of text, or NULL on lack of memory: an error without text is still an error. */
PRINTF_LIKE(1, 0) static char *format_message(const char *fmt, va_list ap)
{
	char small[256];
	char *text;
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(small, sizeof(small), fmt, ap);
	text = n < 0 ? NULL : mem_alloc((size_t)n + 1);
	if (text)
		vsnprintf(text, (size_t)n + 1, fmt, again);
	va_end(again);
	for (char *c = text; c && *c; c++)
		if (*c == '\n' || *c == '\r')
			*c = ' ';
	return text;
}

void incore_error_clear(struct incore_error *e)
{
	struct incore_error *cause;

	if (!e)
		return;
	cause = e->cause;
	mem_free(e->message);
	mem_free(e->path);
	while (cause) {
		struct incore_error *next = cause->cause;

		mem_free(cause->message);
		mem_free(cause->path);
		mem_free(cause);
		cause = next;
	}
	*e = (struct incore_error){.offset = INCORE_NO_OFFSET};
}

bool(err_set)(
	struct incore_error *e, enum incore_status status, const char *code, const char *fmt, ...)
{
	char *text;
	va_list ap;

	if (!e)
		return false;
	va_start(ap, fmt);
	text = format_message(fmt, ap); /* before the clear: an argument may live in *e */
	va_end(ap);
	incore_error_clear(e);
	e->status = status;
	e->code = code;
	e->message = text;
	return false;
}

bool(err_file)(struct incore_error *e, const char *code, const char *path, uint64_t offset,
	const char *fmt, ...)
{
	char *text, *copy;
	va_list ap;

	if (!e)
		return false;
	va_start(ap, fmt);
	text = format_message(fmt, ap);
	va_end(ap);
	copy = path ? mem_strndup(path, strlen(path)) : NULL;
	incore_error_clear(e);
	e->status = INCORE_BAD_INPUT;
	e->code = code;
	e->message = text;
	e->path = copy;
	e->offset = offset;
	return false;
}

struct errno_word {
	int errnum;
	enum incore_status status;
	const char *code;
};

static const struct errno_word errno_words[] = {
	{ENOENT, INCORE_BAD_INPUT, "not-found"}, {ENOTDIR, INCORE_BAD_INPUT, "not-found"},
	{ENAMETOOLONG, INCORE_BAD_INPUT, "not-found"}, {EACCES, INCORE_BAD_INPUT, "not-readable"},
	{EPERM, INCORE_BAD_INPUT, "not-readable"}, {EISDIR, INCORE_BAD_INPUT, "is-directory"},
	{ELOOP, INCORE_BAD_INPUT, "link-loop"}, {ENOMEM, INCORE_FAILED, "no-memory"},
	{ENOSPC, INCORE_FAILED, "no-space"}, {EDQUOT, INCORE_FAILED, "no-space"},
	{EPIPE, INCORE_FAILED, "broken-pipe"}, {EMFILE, INCORE_FAILED, "too-many-files"},
	{ENFILE, INCORE_FAILED, "too-many-files"}, {0, INCORE_FAILED, "io"}, /* everything else */
};

bool(err_errno)(struct incore_error *e, int errnum, const char *path, const char *what)
{
	const struct errno_word *w = errno_words;

	while (w->errnum && w->errnum != errnum)
		w++;
	/* thread-safe in glibc since 2.32 and in musl; the two differ in strerror_r() */
	err_file(e, w->code, path, INCORE_NO_OFFSET, "%s: %s", what, strerror(errnum));
	if (e)
		e->status = w->status;
	return false;
}

bool(err_wrap)(struct incore_error *e, const char *fmt, ...)
{
	struct incore_error *cause;
	char *text;
	va_list ap;

	if (!e)
		return false;
	va_start(ap, fmt);
	text = format_message(fmt, ap);
	va_end(ap);
	cause = text ? mem_alloc(sizeof(*cause)) : NULL;
	if (!cause) { /* the cause matters more than this context */
		mem_free(text);
		return false;
	}
	*cause = *e;
	*e = (struct incore_error){.status = cause->status,
		.code = cause->code,
		.message = text,
		.offset = INCORE_NO_OFFSET,
		.cause = cause};
	return false;
}

bool(err_nomem)(struct incore_error *e)
{
	return err_set(e, INCORE_FAILED, "no-memory", "out of memory");
}

bool err_is(const struct incore_error *e, const char *code)
{
	return e && e->code && strcmp(e->code, code) == 0;
}

void err_move(struct incore_error *dst, struct incore_error *src)
{
	if (dst == src)
		return;
	if (!dst) {
		incore_error_clear(src);
		return;
	}
	incore_error_clear(dst);
	*dst = *src;
	*src = (struct incore_error){.offset = INCORE_NO_OFFSET};
}

static void format_one(const struct incore_error *e, struct strbuf *out)
{
	if (e->path) {
		sb_puts(out, e->path);
		if (e->line)
			sb_printf(out, ":%u:%u", (unsigned)e->line, (unsigned)e->column);
		else if (e->offset != INCORE_NO_OFFSET)
			sb_printf(out, "@%llu", (unsigned long long)e->offset);
		sb_puts(out, ": ");
	}
	sb_puts(out, e->message ? e->message : e->code ? e->code : "unknown error");
}

void err_format(const struct incore_error *e, struct strbuf *out)
{
	format_one(e, out);
	for (e = e->cause; e; e = e->cause) {
		sb_puts(out, " because: ");
		format_one(e, out);
	}
}
