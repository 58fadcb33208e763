/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.h: why a call failed, one link per layer.
 * Owner: the caller owns the struct (zero-initialise it); incore_error_clear() frees what it points
 * to. Threads: one error object belongs to one thread at a time.
 */
#ifndef INCORE_ERROR_H
#define INCORE_ERROR_H

#include <stdbool.h>
#include <stdint.h>

/* Exported by libincore; libincore-dump hides its own copy. */
#ifdef INCORE_KEEPS_ERRORS
#define INCORE_ERROR_API
#else
#define INCORE_ERROR_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Also the exit status of the program. Only the program itself exits with 130 (interrupted). */
enum incore_status {
	INCORE_OK = 0,
	INCORE_NO = 1,	      /* a negative answer: capture unusable, gate failed */
	INCORE_USAGE = 2,     /* the request itself is wrong */
	INCORE_BAD_INPUT = 3, /* the input is wrong */
	INCORE_PARTIAL = 4,   /* input only partly usable, under --strict */
	INCORE_MISSING = 5,   /* an external program is missing */
	INCORE_FAILED = 6,    /* an external program or the system failed */
};

#define INCORE_NO_OFFSET UINT64_MAX

struct incore_error {
	enum incore_status status;
	const char *code; /* stable word for scripts: "truncated", "bad-json", "no-memory" */
	char *message;	  /* one line, lower case start, no period, no newline */
	char *path;	  /* input file, or NULL */
	uint64_t offset;  /* byte offset in the file, or INCORE_NO_OFFSET */
	uint32_t line;	  /* 1-based, 0: not text */
	uint32_t column;  /* 1-based byte in the line, 0: not text */
	struct incore_error *cause; /* the layer below, or NULL */
};

/* Frees message, path and causes, and makes *e ready for use again. Safe on a zeroed struct. */
INCORE_ERROR_API void incore_error_clear(struct incore_error *e);

#ifdef __cplusplus
}
#endif
#endif
