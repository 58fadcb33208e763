/* SPDX-License-Identifier: Apache-2.0 */
/* test_levels.c: latency from the number of instructions in flight. */
#include "analysis/counters/levels.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "mem_trace.h"

static const struct mem_code code[] = {{.text = "; k"},
	{.text = "global_load_dword v0, v1, s[0:1]"}, {.text = "global_load_dword v2, v1, s[0:1]"},
	{.text = "ds_read_b32 v3, v4"}, {.text = "s_endpgm"}};

/* issued (start + stall) at 100 and 200; the other wave issues row 2 at 110 */
static const struct mem_record a[] = {
	{96, 3, 4, 8, 1}, {200, 3, 0, 4, 1}, {300, 5, 0, 4, 3}, {400, 11, 0, 4, 4}};
static const struct mem_record b[] = {{110, 3, 0, 4, 2}, {420, 11, 0, 4, 4}};

static const struct mem_wave waves[] = {
	{.cu = 1, .simd = 0, .begin = 90, .end = 404, MEM_RECORDS(a)},
	{.cu = 1, .simd = 1, .begin = 90, .end = 424, MEM_RECORDS(b)},
};

/* 140: two in flight; 180: one; gap: none at 220; 260: none; 300: none */
static const uint64_t times[] = {140, 180, 260, 300}, values[] = {2, 1, 0, 0};

struct fixture {
	struct trace *t;
	struct arena arena;
	struct level_row *rows;
	struct counter_series series[2];
};

static void run_series(struct fixture *f, const uint64_t *v, uint32_t n, uint32_t cu)
{
	f->t = mem_trace_new(&(struct mem_capture){MEM_CODE(code), MEM_WAVES(waves)});
	f->series[0] = (struct counter_series){
		.name = level_counters[0], .cu = cu, .n = n, .time_cyc = times, .value = v};
	f->series[1] = f->series[0];
	f->series[1].name = "SQ_INST_LEVEL_LDS:1"; /* of one SIMD alone: not taken */
	f->t->counters = f->series;
	f->t->n_counters = 2;
	arena_init(&f->arena);
	assert_int_equal(levels_find(f->t), 1);
	f->rows = levels_make(f->t, &f->arena, NULL);
	assert_non_null(f->rows);
}

static void end(struct fixture *f)
{
	arena_deinit(&f->arena);
	trace_free(f->t);
}

static void test_levels_in_order(void **state)
{
	const struct level_row *one, *two;
	struct fixture f;

	(void)state;
	run_series(&f, values, 4, 1);
	/* Row 1: the first is gone at 180, 80 - 20 after its issue; the second, of 200, at the
	 * sample that the gap stands for, 220: 20 / 2. Row 2, of 110, at 220 too: 110 - 20. */
	one = &f.rows[1];
	two = &f.rows[2];
	assert_int_equal(one->n, 2);
	assert_float_equal(one->mean, (60.0 + 10.0) / 2, 1e-9);
	assert_float_equal(one->deviation, sqrt(1250.0), 1e-9);
	assert_float_equal(one->error, sqrt(1250.0 + 1600.0 / 3) / sqrt(0.5), 1e-9);
	assert_int_equal(two->n, 1);
	assert_float_equal(two->mean, 90.0, 1e-9);
	assert_true(isnan(two->deviation) && isnan(two->error));
	assert_int_equal(f.rows[3].n, 0);
	end(&f);
}

/* What never came back while the counter ran has no latency. */
static void test_levels_in_flight(void **state)
{
	static const uint64_t all[] = {2, 2};
	struct fixture f;

	(void)state;
	run_series(&f, all, 2, 1);
	assert_int_equal(f.rows[1].n + f.rows[2].n, 0);
	end(&f);
}

/* A level above what was issued (of waves that were not traced) takes nothing back. */
static void test_levels_too_high(void **state)
{
	static const uint64_t high[] = {9, 9, 1, 0};
	struct fixture f;

	(void)state;
	run_series(&f, high, 4, 1);
	assert_int_equal(f.rows[1].n, 2);
	assert_int_equal(f.rows[2].n, 1);
	end(&f);
}

static void test_levels_other_cu(void **state)
{
	struct fixture f;

	(void)state;
	run_series(&f, values, 4, 2);
	assert_int_equal(f.rows[1].n + f.rows[2].n, 0);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_levels_in_order),
		cmocka_unit_test(test_levels_in_flight),
		cmocka_unit_test(test_levels_too_high),
		cmocka_unit_test(test_levels_other_cu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
