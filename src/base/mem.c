/* SPDX-License-Identifier: Apache-2.0 */
/* mem.c: the only door to malloc. */
#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *mem_alloc(size_t size)
{
	if (fault_hit(FAULT_ALLOC) || size > PTRDIFF_MAX)
		return NULL;
	return malloc(size ? size : 1);
}

void *mem_zalloc(size_t n, size_t size)
{
	if (fault_hit(FAULT_ALLOC) || (size && n > PTRDIFF_MAX / size))
		return NULL;
	return calloc(n ? n : 1, size ? size : 1);
}

void *mem_resize(void *p, size_t n, size_t size)
{
	if (fault_hit(FAULT_ALLOC) || (size && n > PTRDIFF_MAX / size))
		return NULL;
	n *= size;
	return realloc(p, n ? n : 1);
}

char *mem_strndup(const char *s, size_t n)
{
	char *p = n < PTRDIFF_MAX ? mem_alloc(n + 1) : NULL;

	if (!p)
		return NULL;
	if (n)
		memcpy(p, s, n);
	p[n] = 0;
	return p;
}

void mem_free(void *p)
{
	free(p);
}
