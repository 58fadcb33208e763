/* SPDX-License-Identifier: Apache-2.0 */
/* vec.c: overflow-checked growth of arrays; sorting of long ones. */
#include "base/vec.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"

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
