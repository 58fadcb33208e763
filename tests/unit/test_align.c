/* SPDX-License-Identifier: Apache-2.0 */
/* Are clock domains brought together exactly, by the sample next to where work begins? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace/align.h"

#define N(a) (sizeof(a) / sizeof(*(a)))

static const int64_t first[][2] = {{1000, 100000}, {3000, 100100}, {6000, 100200}};
static const int64_t second[][2] = {{900, 100000}, {2950, 100100}, {5990, 100200}};
static const int64_t later[][2] = {{500, 100010}, {3000, 100110}};

static struct trace *make(const int64_t (*samples[])[2], const uint32_t *counts, uint32_t n)
{
	struct trace *t = trace_new();

	t->clocks = arena_zalloc(&t->arena, n, sizeof(*t->clocks));
	t->n_clocks = n;
	for (uint32_t i = 0; i < n; i++) {
		t->clocks[i].id = i;
		t->clocks[i].samples = samples[i];
		t->clocks[i].n_samples = counts[i];
	}
	return t;
}

static void test_align_by_first_or_nearest_sample(void **state)
{
	const int64_t(*samples[])[2] = {first, second};
	static const uint32_t counts[] = {N(first), N(second)};
	static const uint64_t starts[] = {4000, 3900};
	struct trace *t = make(samples, counts, 2);

	(void)state;
	assert_true(trace_align_clocks(t, 100000000, NULL, "test"));
	assert_int_equal(t->reference_clock, 0);
	assert_int_equal(t->clocks[1].offset_cyc, 100);
	assert_true(trace_align_clocks(t, 100000000, starts, "test"));
	assert_int_equal(t->clocks[0].offset_cyc, 0);
	assert_int_equal(t->clocks[1].offset_cyc, 50);
	assert_string_equal(t->meta.clock_source, "test");
	trace_free(t);
}

static void test_align_across_ticks(void **state)
{
	const int64_t(*samples[])[2] = {NULL, first, later};
	static const uint32_t counts[] = {0, N(first), N(later)};
	struct trace *t = make(samples, counts, 3);

	(void)state;
	assert_true(trace_align_clocks(t, 100000000, NULL, "test"));
	assert_int_equal(t->reference_clock, 1);
	assert_false(t->clocks[0].is_aligned);
	/* (5000 + 2500) cycles in 300 ticks: 10 ticks are 250 cycles; 250 - (500 - 1000) */
	assert_int_equal(t->clocks[2].offset_cyc, 750);
	assert_int_equal(t->n_notes, 1);
	assert_string_equal(t->notes[0].code, "unaligned-clock");
	trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_align_by_first_or_nearest_sample),
		cmocka_unit_test(test_align_across_ticks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
