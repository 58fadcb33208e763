/* SPDX-License-Identifier: Apache-2.0 */
/* stdlib.h: what the answers use of it, in a browser (libc.c). */
#ifndef SERVE_WASM_INCLUDE_STDLIB_H
#define SERVE_WASM_INCLUDE_STDLIB_H

#include <stddef.h>

void *malloc(size_t n);
void *calloc(size_t n, size_t size);
void *realloc(void *p, size_t n);
void free(void *p);
void qsort(void *base, size_t n, size_t size, int (*compare)(const void *, const void *));

#endif
