/* SPDX-License-Identifier: Apache-2.0 */
/* Unions of intervals with depth, against counting every cycle. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include "analysis/waves/spans.h"

#define SPAN 5000u

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

static void check_list(const struct span_list *l, const uint8_t *depth, unsigned least)
{
	struct span_cursor c = {.list = l};
	struct span_iter i = span_iter_of(l);
	struct span x_now, x_last = {0, 0};
	size_t n = 0;
	uint64_t sum = 0;

	for (; span_iter_next(&i, &x_now); n++) {
		assert_true(x_now.start < x_now.end);
		assert_true(n == 0 || x_last.end < x_now.start);
		x_last = x_now;
	}
	assert_int_equal(n, l->n);
	for (unsigned x = 0; x < SPAN; x++) {
		assert_int_equal(span_cursor_at(&c, x), sum);
		sum += depth[x] >= least;
	}
	assert_int_equal(span_list_length(l), sum);
}

/* Cursor queries in any order give what queries in order give. */
static void check_jumps(const struct span_list *l, const uint8_t *depth, uint32_t *seed)
{
	struct span_cursor c = {.list = l};

	for (unsigned k = 0; k < 300; k++) {
		unsigned a = next_random(seed) % SPAN, b = next_random(seed) % SPAN;
		uint64_t want = 0;

		for (unsigned x = a; x < b; x++)
			want += depth[x] >= 1;
		assert_int_equal(span_cursor_between(&c, a, b), want);
	}
}

static void test_spans_random(void **state)
{
	uint32_t seed = 7;

	(void)state;
	for (unsigned round = 0; round < 20; round++) {
		static uint8_t depth[SPAN];
		struct spans parts[3] = {0}, all = {0};

		memset(depth, 0, sizeof(depth));
		for (unsigned k = 0; k < 30 * round; k++) {
			unsigned a = next_random(&seed) % (SPAN - 60);
			unsigned n = next_random(&seed) % 50;

			assert_true(spans_add(&parts[next_random(&seed) % 3], a, a + n));
			if (next_random(&seed) % 16 == 0)
				assert_true(spans_fold(&parts[0]));
			for (unsigned x = a; x < a + n; x++)
				depth[x] += depth[x] < 200;
		}
		for (unsigned p = 0; p < 3; p++)
			assert_true(spans_merge(&all, &parts[p]));
		assert_true(spans_index(&all));
		check_list(&all.once, depth, 1);
		check_list(&all.twice, depth, 2);
		check_jumps(&all.once, depth, &seed);
		for (unsigned p = 0; p < 3; p++)
			spans_deinit(&parts[p]);
		spans_deinit(&all);
	}
}

/* Many additions over a short span: what is pending is folded on the way. */
static void test_spans_bounded(void **state)
{
	struct spans s = {0};
	uint32_t seed = 1;

	(void)state;
	for (unsigned k = 0; k < 200000; k++) {
		unsigned a = next_random(&seed) % 1000;

		assert_true(spans_add(&s, a, a + 1));
		assert_true(s.pending.n <= 256 + 1000 / 2);
	}
	assert_true(spans_index(&s));
	assert_int_equal(span_list_length(&s.once), 1000);
	assert_int_equal(span_list_length(&s.twice), 1000);
	spans_deinit(&s);
}

static void test_spans_empty(void **state)
{
	struct spans s = {0};
	struct span_cursor c = {.list = &s.once};

	(void)state;
	assert_true(spans_add(&s, 5, 5));
	assert_true(spans_add(&s, 5, 3));
	assert_true(spans_index(&s));
	assert_int_equal(span_cursor_between(&c, 0, UINT64_MAX), 0);
	spans_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spans_random),
		cmocka_unit_test(test_spans_bounded),
		cmocka_unit_test(test_spans_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
