/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search.h: searching and sorting arrays by any key and order; the compiler sees the comparison.
 *
 *	uint32_t lo = 0, hi = n;
 *	BISECT(lo, hi, i, v[i].time < time);
 *
 * leaves in lo the first index i of [lo, hi) for which the condition is false, or hi if it is true
 * for all. After the first index for which it is false, it must be false for all others.
 *
 * SORT(v, n, compare) sorts an array with a function as for qsort(); v may be NULL if n is 0.
 * SORT_LONG() is for arrays that grow with the input: it goes through them from end to end; false
 * on lack of memory.
 * compare_u64() and compare_u32() are such functions. COMPARE() compares two numbers;
 * RETURN_UNLESS_EQUAL() compares a first key in a comparison of records. If the keys are members,
 *
 *	ORDER(by_cost, struct line, DOWN(cycles) A_TO_Z(name) UP(row))
 *
 * defines the comparison: a static function of two structs, or for ORDER_AT of two pointers to
 * them. THEN() uses another such function as the next key.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SORT(v, n, compare) ((n) ? qsort((v), (n), sizeof(*(v)), (compare)) : (void)0)
#define SORT_LONG(v, n, compare) (!(n) || sort_long((v), (n), sizeof(*(v)), (compare)))

/* A stable sort. */
bool sort_long(void *v, size_t n, size_t size, int (*compare)(const void *, const void *));

#define BISECT(lo, hi, i, is_before)                                                               \
	do {                                                                                       \
		while ((lo) < (hi)) {                                                              \
			__typeof__(lo) i = (lo) + ((hi) - (lo)) / 2;                               \
                                                                                                   \
			if (is_before)                                                             \
				(lo) = i + 1;                                                      \
			else                                                                       \
				(hi) = i;                                                          \
		}                                                                                  \
	} while (0)

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

#define RETURN_UNLESS_EQUAL(a, b)                                                                  \
	do {                                                                                       \
		if ((a) != (b))                                                                    \
			return (a) < (b) ? -1 : 1;                                                 \
	} while (0)

/* clang-format off */
#define UP(member) if (a->member < b->member) return -1; if (a->member > b->member) return 1;
#define DOWN(member) if (a->member > b->member) return -1; if (a->member < b->member) return 1;
#define THEN(compare) if (compare(a, b)) return compare(a, b);
#define A_TO_Z(member) if (strcmp(a->member, b->member) != 0) return strcmp(a->member, b->member);
/* clang-format on */
#define ORDER(name, type, keys)                                                                    \
	static int name(const void *pa, const void *pb)                                            \
	{                                                                                          \
		const type *a = pa, *b = pb;                                                       \
                                                                                                   \
		keys return 0;                                                                     \
	}
#define ORDER_AT(name, type, keys)                                                                 \
	static int name(const void *pa, const void *pb)                                            \
	{                                                                                          \
		const type *a = *(const type *const *)pa, *b = *(const type *const *)pb;           \
                                                                                                   \
		keys return 0;                                                                     \
	}

static inline int compare_u64(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return COMPARE(*a, *b);
}

/* Sorts times that are mostly in order already. */
static inline void sort_u64_in_order(uint64_t *v, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (v[i] < v[i - 1]) {
			SORT(v, n, compare_u64);
			return;
		}
}

static inline int compare_u32(const void *pa, const void *pb)
{
	const uint32_t *a = pa, *b = pb;

	return COMPARE(*a, *b);
}

/* A percentile of n > 0 sorted numbers. */
static inline uint64_t quantile_u64(const uint64_t *sorted, uint64_t n, unsigned percent)
{
	uint64_t i = n * percent / 100;

	return sorted[i < n ? i : n - 1];
}
