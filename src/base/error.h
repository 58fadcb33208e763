/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.h: making errors. Every function returns false, so that `return err_set(e, ...)` reads
 * well. `e` may be NULL if the caller does not care. Running out of memory while making an error
 * keeps status and code and drops the text: never a crash.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>

#include "incore/error.h"

#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))

struct strbuf;

/* Sets the innermost error; clears what *e held before. */
bool err_set(struct incore_error *e, enum incore_status status, const char *code, const char *fmt,
	...) PRINTF_LIKE(4, 5);

/* Sets an error about a byte of a file (offset INCORE_NO_OFFSET: about the file as a whole). */
bool err_file(struct incore_error *e, const char *code, const char *path, uint64_t offset,
	const char *fmt, ...) PRINTF_LIKE(5, 6);

/* A failed system call on a path: status FAILED, or BAD_INPUT if an input is missing or unreadable.
 */
bool err_errno(struct incore_error *e, int errnum, const char *path, const char *what);

/* Adds context: what this layer was doing. Keeps the status and code of the cause. */
bool err_wrap(struct incore_error *e, const char *fmt, ...) PRINTF_LIKE(2, 3);

bool err_nomem(struct incore_error *e);

/* Always false. It shows the compiler and the analysers at each call that the functions above
 * return false, and so which code is not reached after a failure. */
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

/* Does the error have that code? */
bool err_is(const struct incore_error *e, const char *code);
/* err_nomem() for functions that return a pointer: returns NULL. */
static inline void *err_nomem_null(struct incore_error *e)
{
	err_nomem(e);
	return NULL;
}

/* Moves src into dst, which is cleared first; src is empty afterwards. */
void err_move(struct incore_error *dst, struct incore_error *src);

/* "file:line:col: message" or "file@offset: message"; then " because: ..." per cause, on one line.
 */
void err_format(const struct incore_error *e, struct strbuf *out);
