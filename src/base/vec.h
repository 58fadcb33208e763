/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vec.h: growable arrays on the heap. VEC(int) v = {0}; VEC_PUSH(&v, 3) is false on lack of memory.
 * Owner: the holder calls VEC_FREE(&v).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define VEC(T)                                                                                     \
	struct {                                                                                   \
		T *v;                                                                              \
		size_t n, cap;                                                                     \
	}

/* Makes room for `need` elements in all (at least doubling); false on overflow or lack of memory.
 */
bool vec_grow(void **data, size_t *cap, size_t need, size_t elem_size);

#define VEC_RESERVE(vec, need)                                                                     \
	((need) <= (vec)->cap ||                                                                   \
		vec_grow((void **)&(vec)->v, &(vec)->cap, (need), sizeof(*(vec)->v)))
#define VEC_PUSH(vec, ...)                                                                         \
	(VEC_RESERVE((vec), (vec)->n + 1) && ((vec)->v[(vec)->n++] = (__VA_ARGS__), true))
#define VEC_FREE(vec) (mem_free((vec)->v), (vec)->v = NULL, (vec)->n = (vec)->cap = 0)

/* Iterates over an array that must not move or change its length; an empty one may be NULL:
 *
 *	EACH (const struct line, l, v->lines, v->n_lines)
 *		sum += l->cycles;
 */
#define EACH(type, p, array, n)                                                                    \
	for (type *p = (array), *p##_end = p ? p + (n) : p; p != p##_end; p++)

#include "base/mem.h"
