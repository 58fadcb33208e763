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
#define FIRST 12345u

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

/* Times are `scale` apart: where they lie far apart a set is no window of bits. */
static void check_list(
	const struct span_list *l, const uint8_t *depth, unsigned least, uint64_t scale)
{
	struct span_cursor c = {.list = l};
	uint64_t sum = 0;

	for (size_t i = 0; i < l->v.n; i++) {
		assert_true(l->v.v[i].start < l->v.v[i].end);
		assert_true(i == 0 || l->v.v[i - 1].end < l->v.v[i].start);
	}
	assert_false(l->words && l->v.n);
	for (unsigned x = 0; x < SPAN; x++) {
		assert_int_equal(span_cursor_at(&c, FIRST + x * scale), sum);
		sum += depth[x] >= least ? scale : 0;
	}
	assert_int_equal(span_cursor_at(&c, UINT64_MAX), sum);
	assert_int_equal(span_list_length(l), sum);
}

/* Cursor queries in any order give what queries in order give. */
static void check_jumps(
	const struct span_list *l, const uint8_t *depth, uint64_t scale, uint32_t *seed)
{
	struct span_cursor c = {.list = l};

	for (unsigned k = 0; k < 300; k++) {
		unsigned a = next_random(seed) % SPAN, b = next_random(seed) % SPAN;
		uint64_t want = 0;

		for (unsigned x = a; x < b; x++)
			want += depth[x] >= 1 ? scale : 0;
		assert_int_equal(
			span_cursor_between(&c, FIRST + a * scale, FIRST + b * scale), want);
	}
}

/* Intervals as long as `most` at random, left to three sets in any order, then one set of them. */
static void check_random(unsigned n, unsigned most, uint64_t scale, bool is_flat, uint32_t *seed)
{
	static uint8_t depth[SPAN];
	struct spans parts[3] = {{.is_flat = is_flat}, {.is_flat = is_flat}, {.is_flat = is_flat}};
	struct spans all = {.is_flat = is_flat};

	memset(depth, 0, sizeof(depth));
	for (unsigned k = 0; k < n; k++) {
		unsigned a = next_random(seed) % (SPAN - most), len = next_random(seed) % most;

		assert_true(spans_add(&parts[next_random(seed) % 3], FIRST + a * scale,
			FIRST + (a + len) * scale));
		if (next_random(seed) % 16 == 0)
			assert_true(spans_fold(&parts[0]));
		for (unsigned x = a; x < a + len; x++)
			depth[x] += depth[x] < 200;
	}
	for (unsigned p = 0; p < 3; p++)
		assert_true(spans_merge(&all, &parts[p]));
	assert_true(spans_index(&all));
	check_list(&all.once, depth, 1, scale);
	if (!is_flat)
		check_list(&all.twice, depth, 2, scale);
	check_jumps(&all.once, depth, scale, seed);
	for (unsigned p = 0; p < 3; p++)
		spans_deinit(&parts[p]);
	spans_deinit(&all);
}

static void test_spans_random(void **state)
{
	static const uint64_t scales[] = {1, 3, 63, 64, 1000, 1000000007};
	uint32_t seed = 7;

	(void)state;
	for (unsigned round = 0; round < 10; round++)
		for (unsigned k = 0; k < sizeof(scales) / sizeof(*scales); k++) {
			check_random(60 * round, 50, scales[k], round % 2, &seed);
			check_random(
				round * round * 20, round % 3 ? 4 : 4900, scales[k], false, &seed);
		}
}

/* Times that no window can reach: before, between and behind it, up to the last cycle there is. */
static void test_spans_apart(void **state)
{
	struct spans s = {0}, t = {0};
	struct span_cursor c = {.list = &s.once};

	(void)state;
	for (unsigned k = 0; k < 1000; k++) {
		assert_true(spans_add(
			&s, (UINT64_C(1) << 40) + 8 * k, (UINT64_C(1) << 40) + 8 * k + 4));
		assert_true(spans_add(&t, UINT64_MAX - 8 * k - 4, UINT64_MAX - 8 * k));
	}
	assert_true(spans_add(&s, 5, 9));
	assert_true(spans_add(&s, 100, UINT64_C(1) << 40));
	assert_true(spans_merge(&s, &t));
	assert_true(spans_index(&s));
	assert_int_equal(span_list_length(&s.once), 4 + (UINT64_C(1) << 40) - 100 + 8000);
	assert_int_equal(span_list_length(&s.twice), 0);
	assert_int_equal(span_cursor_between(&c, 0, 10), 4);
	assert_int_equal(span_cursor_between(&c, 7, 110), 12);
	assert_int_equal(span_cursor_between(&c, UINT64_MAX - 12, UINT64_MAX), 8);
	spans_deinit(&s);
	spans_deinit(&t);
}

/* Many additions over a short span, short ones and long ones: memory is that of the span. */
static void test_spans_bounded(void **state)
{
	struct spans s = {0}, far = {0};
	uint32_t seed = 1;

	(void)state;
	for (unsigned k = 0; k < 200000; k++) {
		unsigned a = next_random(&seed) % 1000;

		assert_true(spans_add(&s, a, a + 1));
		assert_true(s.pending.n == 0 && s.once.n_cyc <= 2048);
		assert_true(spans_add(&far, a * UINT64_C(100000), a * UINT64_C(100000) + 50000));
		assert_true(far.pending.n <= 256 + 1000 / 2);
	}
	assert_true(spans_index(&s) && spans_index(&far));
	assert_int_equal(span_list_length(&s.once), 1000);
	assert_int_equal(span_list_length(&s.twice), 1000);
	assert_int_equal(span_list_length(&far.twice), 50000000);
	spans_deinit(&s);
	spans_deinit(&far);
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
		cmocka_unit_test(test_spans_apart),
		cmocka_unit_test(test_spans_bounded),
		cmocka_unit_test(test_spans_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
