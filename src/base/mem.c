/* SPDX-License-Identifier: Apache-2.0 */
/* mem.c: the only door to malloc. */
#include "base/mem.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Large blocks are page-aligned; blocks of the heap hardly ever are. */
#define LEAST_PAGE_BYTES 4096u

static const struct mem_large *_Atomic large_blocks;

void mem_set_large(const struct mem_large *large)
{
	large_blocks = large;
}

void mem_trim(void)
{
	const struct mem_large *l = large_blocks;

	if (l)
		l->trim();
}

/* The allocator for blocks of that size; NULL: the heap. */
static const struct mem_large *large_for(size_t size)
{
	const struct mem_large *l = large_blocks;

	return l && l->is_large(size) ? l : NULL;
}

static const struct mem_large *maybe_owner(const void *p)
{
	return p && (uintptr_t)p % LEAST_PAGE_BYTES == 0 ? large_blocks : NULL;
}

void *mem_alloc(size_t size)
{
	const struct mem_large *l = large_for(size);

	if (fault_hit(FAULT_ALLOC) || size > PTRDIFF_MAX)
		return NULL;
	return l ? l->take(size) : malloc(size ? size : 1);
}

void *mem_zalloc(size_t n, size_t size)
{
	const struct mem_large *l;

	if (fault_hit(FAULT_ALLOC) || (size && n > PTRDIFF_MAX / size))
		return NULL;
	l = large_for(n * size);
	return l ? l->take(n * size) : calloc(n ? n : 1, size ? size : 1);
}

/* Moves a block of the heap that has grown to the allocator of large blocks. */
static void *move_out(const struct mem_large *l, void *p, size_t size)
{
	void *to = l->take(size), *all = to ? realloc(p, size) : NULL;

	if (!all) {
		if (to)
			l->drop(to);
		return NULL;
	}
	memcpy(to, all, size);
	free(all);
	return to;
}

void *mem_resize(void *p, size_t n, size_t size)
{
	const struct mem_large *l = maybe_owner(p);
	void *q = p;

	if (fault_hit(FAULT_ALLOC) || (size && n > PTRDIFF_MAX / size))
		return NULL;
	n *= size;
	if (l && l->grow(&q, n))
		return q;
	l = large_for(n);
	if (l)
		return p ? move_out(l, p, n) : l->take(n);
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
	const struct mem_large *l = maybe_owner(p);

	if (!l || !l->drop(p))
		free(p);
}
