/* SPDX-License-Identifier: Apache-2.0 */
/* arena.c: blocks of doubling size; a request too large for one gets a block of its own. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define ARENA_ALIGN 16
#define ARENA_FIRST_BYTES 4096
#define ARENA_MOST_BYTES (1u << 20)

struct arena_block {
	alignas(ARENA_ALIGN) struct arena_block *next;
	size_t size; /* of data */
	alignas(ARENA_ALIGN) uint8_t data[];
};

void arena_init(struct arena *a)
{
	*a = (struct arena){0};
}

void arena_deinit(struct arena *a)
{
	while (a->head) {
		struct arena_block *next = a->head->next;

		mem_free(a->head);
		a->head = next;
	}
	arena_init(a);
}

void arena_reset(struct arena *a)
{
	struct arena_block *keep = a->head;

	for (struct arena_block *b = a->head; b; b = b->next)
		if (b->size > keep->size)
			keep = b;
	for (struct arena_block *b = a->head, *next; b; b = next) {
		next = b->next;
		if (b != keep)
			mem_free(b);
	}
	arena_init(a);
	if (!keep)
		return;
	keep->next = NULL;
	a->head = keep;
	a->next = keep->data;
	a->end = keep->data + keep->size;
	a->total_bytes = sizeof(*keep) + keep->size;
}

static struct arena_block *new_block(struct arena *a, size_t size)
{
	struct arena_block *b = mem_alloc(sizeof(*b) + size);

	if (!b)
		return NULL;
	b->next = NULL;
	b->size = size;
	a->total_bytes += sizeof(*b) + size;
	return b;
}

/* A block only for these `size` bytes, behind the head so that the head's room stays in use. */
static void *alloc_apart(struct arena *a, size_t size)
{
	struct arena_block *b = new_block(a, size);

	if (!b)
		return NULL;
	if (a->head) {
		b->next = a->head->next;
		a->head->next = b;
	} else {
		a->head = b;
		a->next = a->end = b->data + size;
	}
	return b->data;
}

void *arena_alloc(struct arena *a, size_t size)
{
	struct arena_block *b;
	size_t block_size;
	void *p;

	if (size > PTRDIFF_MAX - 4096)
		return NULL;
	size = (size + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
	if (a->next && size <= (size_t)(a->end - a->next)) {
		p = a->next;
		a->next += size;
		return p;
	}
	block_size = a->total_bytes < ARENA_FIRST_BYTES	 ? ARENA_FIRST_BYTES
		     : a->total_bytes < ARENA_MOST_BYTES ? a->total_bytes
							 : ARENA_MOST_BYTES;
	block_size &= ~(size_t)(ARENA_ALIGN - 1);
	if (size > block_size / 4)
		return alloc_apart(a, size);
	b = new_block(a, block_size);
	if (!b)
		return NULL;
	b->next = a->head;
	a->head = b;
	a->next = b->data + size;
	a->end = b->data + block_size;
	return b->data;
}

void *arena_zalloc(struct arena *a, size_t n, size_t size)
{
	void *p;

	if (size && n > PTRDIFF_MAX / size)
		return NULL;
	p = arena_alloc(a, n * size);
	if (p)
		memset(p, 0, n * size);
	return p;
}

void *arena_memdup(struct arena *a, const void *p, size_t size)
{
	void *copy = arena_alloc(a, size);

	if (copy && size)
		memcpy(copy, p, size);
	return copy;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	char *copy = n < PTRDIFF_MAX ? arena_alloc(a, n + 1) : NULL;

	if (!copy)
		return NULL;
	if (n)
		memcpy(copy, s, n);
	copy[n] = 0;
	return copy;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	char small[256];
	char *text;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(small, sizeof(small), fmt, ap);
	va_end(ap);
	if (n < 0)
		return NULL;
	if ((size_t)n < sizeof(small))
		return arena_strndup(a, small, (size_t)n);
	text = arena_alloc(a, (size_t)n + 1);
	if (!text)
		return NULL;
	va_start(ap, fmt);
	vsnprintf(text, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return text;
}
