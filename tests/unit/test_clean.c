/* SPDX-License-Identifier: Apache-2.0 */
/* test_clean.c: rows, order and neighbours against the obvious way to find them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/pipes/clean.h"
#include "base/hash.h"

#define MOST 400

static uint64_t roll(uint64_t *n, uint64_t below)
{
	return hash_mix64(0x9e3779b97f4a7c15u * ++*n) % below;
}

static int in_order(const void *pa, const void *pb)
{
	const struct clean_span *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->length != b->length)
		return a->length < b->length ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

static size_t make(struct clean_span *v, uint64_t *seed, bool is_sorted)
{
	size_t n = roll(seed, MOST);

	for (size_t i = 0; i < n; i++)
		v[i] = (struct clean_span){(double)(is_sorted ? i / 3 : roll(seed, 200)) / 4,
			(double)roll(seed, 40) / 8, (uint32_t)i};
	return n;
}

static void test_clean_sort(void **state)
{
	struct clean_span v[MOST], w[MOST];
	uint64_t seed = 1;

	(void)state;
	for (int k = 0; k < 200; k++) {
		size_t n = make(v, &seed, k % 2);

		memcpy(w, v, n * sizeof(*v));
		qsort(w, n, sizeof(*w), in_order);
		assert_true(clean_sort(v, n));
		for (size_t i = 0; i < n; i++)
			assert_int_equal(v[i].index, w[i].index);
	}
}

/* Falling starts: more moves than an insertion may make. */
static void test_clean_sort_reversed(void **state)
{
	size_t n = 5000;
	struct clean_span *v = calloc(n, sizeof(*v));

	(void)state;
	assert_non_null(v);
	for (size_t i = 0; i < n; i++)
		v[i] = (struct clean_span){(double)(n - i), 1, (uint32_t)i};
	assert_true(clean_sort(v, n));
	for (size_t i = 0; i < n; i++)
		assert_int_equal(v[i].index, n - 1 - i);
	free(v);
}

/* The lowest row whose end is at or before the start, found by looking at all of them. */
static void test_clean_rows(void **state)
{
	struct clean_span v[MOST];
	double ends[MOST];
	struct clean_rows r;
	uint64_t seed = 7;

	(void)state;
	clean_rows_init(&r);
	for (int k = 0; k < 100; k++) {
		size_t n = make(v, &seed, true), n_rows = 0;

		clean_rows_clear(&r);
		for (size_t i = 0; i < n; i++) {
			size_t row = 0;

			while (row < n_rows && ends[row] > v[i].start)
				row++;
			n_rows += row == n_rows;
			ends[row] = v[i].start + v[i].length;
			assert_int_equal(clean_rows_put(&r, v[i].start, ends[row], 0), row);
		}
		assert_int_equal(r.n_rows, n_rows);
	}
	clean_rows_deinit(&r);
}

static void test_clean_neighbours(void **state)
{
	struct clean_span v[MOST];
	uint64_t seed = 3;

	(void)state;
	for (int k = 0; k < 100; k++) {
		size_t n = make(v, &seed, false), last = SIZE_MAX, first = SIZE_MAX;
		double at = (double)roll(&seed, 220) / 4;

		assert_true(clean_sort(v, n));
		for (size_t i = 0; i < n; i++) {
			if (v[i].start <= at)
				last = i;
			if (v[i].start >= at && first == SIZE_MAX)
				first = i;
		}
		assert_int_equal(clean_last_before(v, n, at), last == SIZE_MAX ? n : last);
		assert_int_equal(clean_first_after(v, n, at), first == SIZE_MAX ? n : first);
	}
}

/* Depth and lengths, counted eighth by eighth. */
static void test_clean_sum(void **state)
{
	struct clean_span v[MOST];
	uint64_t seed = 11;

	(void)state;
	for (int k = 0; k < 100; k++) {
		size_t n = make(v, &seed, false);
		unsigned depth[8 * 64] = {0}, most = 0;
		double lengths = 0;
		struct clean_lane_sum sum;

		assert_true(clean_sort(v, n));
		for (size_t i = 0; i < n; i++) {
			unsigned a = (unsigned)(v[i].start * 8),
				 b = a + (unsigned)(v[i].length * 8);

			for (; a < b; a++)
				depth[a]++;
			lengths += v[i].length;
		}
		for (unsigned i = 0; i < 8 * 64; i++)
			most = depth[i] > most ? depth[i] : most;
		assert_true(clean_sum(v, n, &sum));
		assert_true(sum.length_sum == lengths);
		assert_int_equal(sum.depth_max, most);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clean_sort),
		cmocka_unit_test(test_clean_sort_reversed),
		cmocka_unit_test(test_clean_rows),
		cmocka_unit_test(test_clean_neighbours),
		cmocka_unit_test(test_clean_sum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
