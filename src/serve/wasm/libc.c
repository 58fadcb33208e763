/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libc.c: memory and strings for the answers in a browser, where there is no C library. Memory
 * comes in sizes of powers of two, each with a list of free pieces; the browser's memory only
 * grows.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SIZES 32u
#define LEAST 5u /* of 32 bytes, header included */
#define PAGE 65536u

struct piece {
	uint32_t size; /* log2, header included */
	uint32_t unused[3];
};

struct hole {
	struct piece head;
	struct hole *next;
};

extern unsigned char __heap_base;

static struct hole *holes[SIZES];
static uintptr_t top;

/* n more bytes at the end of memory, 16-byte aligned; 0: there is none. */
static uintptr_t take(uintptr_t n)
{
	uintptr_t at, have = __builtin_wasm_memory_size(0) * PAGE;

	if (!top)
		top = ((uintptr_t)&__heap_base + 15) & ~(uintptr_t)15;
	at = top;
	if (n > UINTPTR_MAX - at)
		return 0;
	if (at + n > have &&
		__builtin_wasm_memory_grow(0, (at + n - have + PAGE - 1) / PAGE) == (size_t)-1)
		return 0;
	top = at + n;
	return at;
}

void *malloc(size_t n)
{
	unsigned size = LEAST;
	struct piece *p;

	while (size < SIZES - 1 && ((size_t)1 << size) - sizeof(*p) < n)
		size++;
	if (size >= SIZES - 1)
		return NULL;
	if (holes[size]) {
		p = &holes[size]->head;
		holes[size] = holes[size]->next;
	} else {
		p = (struct piece *)take((uintptr_t)1 << size);
		if (!p)
			return NULL;
		p->size = size;
	}
	return p + 1;
}

void free(void *pointer)
{
	struct hole *h = (struct hole *)((struct piece *)pointer - 1);

	if (!pointer)
		return;
	h->next = holes[h->head.size];
	holes[h->head.size] = h;
}

void *calloc(size_t n, size_t size)
{
	void *p;

	if (size && n > SIZE_MAX / size)
		return NULL;
	p = malloc(n * size);
	return p ? memset(p, 0, n * size) : NULL;
}

void *realloc(void *pointer, size_t n)
{
	struct piece *p = (struct piece *)pointer - 1;
	size_t room;
	void *q;

	if (!pointer)
		return malloc(n);
	room = ((size_t)1 << p->size) - sizeof(*p);
	if (n <= room)
		return pointer;
	q = malloc(n);
	if (q) {
		memcpy(q, pointer, room);
		free(pointer);
	}
	return q;
}

/* Compiled with -fno-builtin, so that these loops are not turned into calls of themselves. */
void *memcpy(void *to, const void *from, size_t n)
{
	unsigned char *a = to;
	const unsigned char *b = from;

	for (; n >= 8 && ((uintptr_t)a | (uintptr_t)b) % 8 == 0; n -= 8, a += 8, b += 8)
		*(uint64_t *)(void *)a = *(const uint64_t *)(const void *)b;
	while (n--)
		*a++ = *b++;
	return to;
}

void *memmove(void *to, const void *from, size_t n)
{
	unsigned char *a = to;
	const unsigned char *b = from;

	if (a <= b)
		return memcpy(to, from, n);
	while (n--)
		a[n] = b[n];
	return to;
}

void *memset(void *p, int c, size_t n)
{
	unsigned char *a = p;

	for (; c == 0 && n >= 8 && (uintptr_t)a % 8 == 0; n -= 8, a += 8)
		*(uint64_t *)(void *)a = 0;
	while (n--)
		*a++ = (unsigned char)c;
	return p;
}

void *memchr(const void *p, int c, size_t n)
{
	for (const unsigned char *a = p; n--; a++)
		if (*a == (unsigned char)c)
			return (void *)(uintptr_t)a;
	return NULL;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *x = a, *y = b;

	for (; n; n--, x++, y++)
		if (*x != *y)
			return *x < *y ? -1 : 1;
	return 0;
}

size_t strlen(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

int strncmp(const char *a, const char *b, size_t n)
{
	for (; n; n--, a++, b++)
		if (*a != *b || !*a)
			return (unsigned char)*a - (unsigned char)*b;
	return 0;
}

int strcmp(const char *a, const char *b)
{
	return strncmp(a, b, SIZE_MAX);
}

char *strchr(const char *s, int c)
{
	for (;; s++) {
		if (*s == (char)c)
			return (char *)(uintptr_t)s;
		if (!*s)
			return NULL;
	}
}

char *strrchr(const char *s, int c)
{
	const char *last = NULL;

	for (;; s++) {
		if (*s == (char)c)
			last = s;
		if (!*s)
			return (char *)(uintptr_t)last;
	}
}

void *memmem(const void *p, size_t n, const void *needle, size_t m)
{
	const unsigned char *a = p;

	for (; n >= m; n--, a++)
		if (memcmp(a, needle, m) == 0)
			return (void *)(uintptr_t)a;
	return NULL;
}

void *memrchr(const void *p, int c, size_t n)
{
	const unsigned char *a = p;

	while (n--)
		if (a[n] == (unsigned char)c)
			return (void *)(uintptr_t)(a + n);
	return NULL;
}

char *strpbrk(const char *s, const char *accept)
{
	for (; *s; s++)
		if (strchr(accept, *s))
			return (char *)(uintptr_t)s;
	return NULL;
}

char *strerror_r(int errnum, char *buf, size_t room)
{
	(void)errnum;
	if (room)
		buf[0] = 0;
	return buf;
}

/* Heap sort: no recursion, no memory; not stable, as nobody may expect of it. */
static void swap_bytes(unsigned char *a, unsigned char *b, size_t n)
{
	while (n--) {
		unsigned char x = *a;

		*a++ = *b;
		*b++ = x;
	}
}

void qsort(void *base, size_t n, size_t size, int (*compare)(const void *, const void *))
{
	unsigned char *v = base;
	size_t begin = n / 2, end = n;

	while (end > 1) {
		size_t at, k;

		if (begin > 0)
			begin--;
		else
			swap_bytes(v, v + --end * size, size);
		for (at = begin; (k = 2 * at + 1) < end; at = k) {
			if (k + 1 < end && compare(v + k * size, v + (k + 1) * size) < 0)
				k++;
			if (compare(v + at * size, v + k * size) >= 0)
				break;
			swap_bytes(v + at * size, v + k * size, size);
		}
	}
}
