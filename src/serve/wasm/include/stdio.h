/* SPDX-License-Identifier: Apache-2.0 */
/* stdio.h: formatting alone (format.c); there are no files in a browser. */
#ifndef SERVE_WASM_INCLUDE_STDIO_H
#define SERVE_WASM_INCLUDE_STDIO_H

#include <stdarg.h>
#include <stddef.h>

typedef struct no_file FILE;

int snprintf(char *out, size_t room, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int vsnprintf(char *out, size_t room, const char *fmt, va_list ap)
	__attribute__((format(printf, 3, 0)));
int ferror(FILE *f);
size_t fwrite(const void *p, size_t size, size_t n, FILE *f);

#endif
