/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.h: making errors. Every function returns false, so that `return err_set(e, ...)` reads
 * well. `e` may be NULL where the caller does not care. Out of memory while making an error keeps
 * status and code and drops the text: never a crash.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>

#include "incore/error.h"

#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))

struct strbuf;

/* The innermost error; whatever *e held is cleared first. */
bool err_set(struct incore_error *e, enum incore_status status, const char *code, const char *fmt,
	...) PRINTF_LIKE(4, 5);

/* The same, with the file it is about and the byte in it (INCORE_NO_OFFSET: the file as a whole).
 */
bool err_file(struct incore_error *e, const char *code, const char *path, uint64_t offset,
	const char *fmt, ...) PRINTF_LIKE(5, 6);

/* A failed system call on a path: status FAILED, or BAD_INPUT where the input is what is missing or
 * unreadable. */
bool err_errno(struct incore_error *e, int errnum, const char *path, const char *what);

/* Adds one link: what this layer was doing. Keeps the status and code of the cause. */
bool err_wrap(struct incore_error *e, const char *fmt, ...) PRINTF_LIKE(2, 3);

bool err_nomem(struct incore_error *e);

/* Always false. Through it the compiler and the analysers see at each call what the makers of
 * errors return, and so that nothing after a failure is reached. */
static inline bool err_false(bool made)
{
	(void)made;
	return false;
}

#define err_set(...) err_false((err_set)(__VA_ARGS__))
#define err_file(...) err_false((err_file)(__VA_ARGS__))
#define err_errno(...) err_false((err_errno)(__VA_ARGS__))
#define err_wrap(...) err_false((err_wrap)(__VA_ARGS__))
#define err_nomem(e) err_false((err_nomem)(e))

/* Is it an error of that code? */
bool err_is(const struct incore_error *e, const char *code);
/* err_nomem() for those who return a pointer: NULL. */
static inline void *err_nomem_null(struct incore_error *e)
{
	err_nomem(e);
	return NULL;
}

/* Moves src into dst (dst is cleared first), src is empty afterwards. */
void err_move(struct incore_error *dst, struct incore_error *src);

/* "file:line:col: message" or "file@offset: message"; then " because: ..." per cause, on one line.
 */
void err_format(const struct incore_error *e, struct strbuf *out);
