/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem.c: the only door to malloc.
 *
 * Parts: the door to malloc; vectors.
 */
#include "base/mem.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/vec.h"

/* --- the door to malloc ----------------------------------------------------------------------- */

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

/* --- vectors ---------------------------------------------------------------------------------- */

/* Overflow-checked growth of arrays; sorting of long ones. */

bool vec_grow(void **data, size_t *cap, size_t need, size_t elem_size)
{
	size_t room = *cap < 8 ? 8 : *cap;
	void *p;

	if (need <= *cap)
		return true;
	if (elem_size && need > PTRDIFF_MAX / elem_size)
		return false;
	while (room < need)
		room = room > SIZE_MAX / 2 ? need : room * 2;
	p = mem_resize(*data, room, elem_size);
	if (!p)
		return false;
	*data = p;
	*cap = room;
	return true;
}

/* --- sorting blocks that may be in a file: sequentially, so that little has to be in memory --- */

#define RUN_BYTES ((size_t)2 << 20) /* sorted in one go */

struct merge {
	size_t size;
	int (*compare)(const void *, const void *);
};

static void vec_merge_runs(const struct merge *m, const char *a, const char *a_end, const char *b,
	const char *b_end, char *out)
{
	size_t size = m->size;

	for (size_t i = 0; a < a_end || b < b_end; i++) {
		bool is_b = a == a_end || (b < b_end && m->compare(b, a) < 0);

		memcpy(out, is_b ? b : a, size);
		out += size;
		a += is_b ? 0 : size;
		b += is_b ? size : 0;
		mem_step(i);
	}
}

static void vec_merge_all(const struct merge *m, const char *from, size_t n, size_t width, char *to)
{
	for (size_t i = 0; i < n; i += 2 * width) {
		size_t mid = n - i < width ? n : i + width;
		size_t end = n - mid < width ? n : mid + width;

		vec_merge_runs(m, from + i, from + mid, from + mid, from + end, to + i);
	}
}

bool sort_long(void *v, size_t n, size_t size, int (*compare)(const void *, const void *))
{
	struct merge m = {size, compare};
	size_t width = RUN_BYTES / size * size, bytes = n * size;
	char *from = v, *to, *other;

	for (size_t i = 0; i < bytes; i += width) {
		qsort(from + i, (bytes - i < width ? bytes - i : width) / size, size, compare);
		mem_trim();
	}
	if (bytes <= width)
		return true;
	other = mem_alloc(bytes);
	if (!other)
		return false;
	to = other;
	for (; width < bytes; width *= 2) {
		char *swap = from;

		vec_merge_all(&m, from, bytes, width, to);
		from = to;
		to = swap;
	}
	for (size_t i = 0; from != v && i < bytes; i += RUN_BYTES) {
		memcpy((char *)v + i, from + i, bytes - i < RUN_BYTES ? bytes - i : RUN_BYTES);
		mem_trim();
	}
	mem_free(other);
	return true;
}
