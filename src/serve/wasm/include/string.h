/* SPDX-License-Identifier: Apache-2.0 */
/* string.h: what the answers use of it, in a browser (libc.c). */
#ifndef SERVE_WASM_INCLUDE_STRING_H
#define SERVE_WASM_INCLUDE_STRING_H

#include <stddef.h>

void *memcpy(void *to, const void *from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *p, int c, size_t n);
void *memchr(const void *p, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);
size_t strlen(const char *s);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
char *strchr(const char *s, int c);
char *strrchr(const char *s, int c);
void *memmem(const void *p, size_t n, const void *needle, size_t m);
void *memrchr(const void *p, int c, size_t n);
char *strpbrk(const char *s, const char *accept);
char *strerror_r(int errnum, char *buf, size_t room);

#endif
