/* SPDX-License-Identifier: Apache-2.0 */
/* test_row_waves.c: the cost of one execution, over executions and over waves. */
#include "analysis/waves/row_waves.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "analysis/waves/executions.h"
#include "mem_trace.h"

static const struct mem_code code[] = {{.text = "; k"}, {.text = "v_add_f32 v0, v0, v0"},
	{.text = "s_nop 0"}, {.text = "s_endpgm"}};

/* row 1: mean 6 in the first wave, 12 in the others; row 2 in one wave alone */
static const struct mem_record a[] = {
	{100, 6, 0, 4, 1}, {104, 6, 4, 8, 1}, {112, 9, 4, 4, 2}, {116, 11, 0, 4, 3}};
static const struct mem_record b[] = {{100, 6, 8, 12, 1}, {112, 11, 0, 4, 3}};

static const struct mem_wave waves[] = {
	{.slot = 0, .begin = 96, .end = 120, MEM_RECORDS(a)},
	{.slot = 1, .begin = 96, .end = 116, MEM_RECORDS(b)},
	{.slot = 2, .begin = 96, .end = 116, MEM_RECORDS(b)},
};

struct fixture {
	struct trace *t;
	struct row_waves *r;
	struct executions *x;
};

static void run(struct fixture *f, const struct selection *s)
{
	struct collector one, two;
	const struct collector *list[] = {&one, &two};
	struct walk_options o = {.selection = s};
	struct walk_result r;

	f->t = mem_trace_new(&(struct mem_capture){MEM_CODE(code), MEM_WAVES(waves)});
	f->r = row_waves_new(f->t, NULL);
	f->x = executions_new(f->t, NULL);
	assert_true(f->r && f->x);
	one = row_waves_collector(f->r);
	two = executions_collector(f->x);
	assert_true(walk_tracks(f->t, &o, list, 2, &r, NULL));
	walk_result_deinit(&r);
	assert_true(executions_finish(f->x, NULL));
}

static void end(struct fixture *f)
{
	row_waves_free(f->r);
	executions_free(f->x);
	trace_free(f->t);
}

static void test_over_waves(void **state)
{
	const struct row_spread *s;
	struct fixture f;

	(void)state;
	run(&f, NULL);
	s = &f.r->rows[1];
	assert_int_equal(s->n, 3);
	assert_int_equal(s->min, 6 * ROW_WAVES_UNIT);
	assert_int_equal(s->max, 12 * ROW_WAVES_UNIT);
	assert_int_equal(s->slowest, 1); /* of two the first */
	assert_float_equal(row_spread_mean(s), 10.0, 1e-9);
	/* (16 + 4 + 4) / 3 = 8 */
	assert_float_equal(row_spread_deviation(s), 2.8284271, 1e-6);
	s = &f.r->rows[2];
	assert_int_equal(s->n, 1);
	assert_float_equal(row_spread_deviation(s), 0.0, 1e-12);
	assert_int_equal(f.r->rows[0].n, 0);
	end(&f);
}

static void test_over_executions(void **state)
{
	struct distribution d;
	struct fixture f;

	(void)state;
	run(&f, NULL);
	d = executions_cycles(f.x, 1);
	assert_int_equal(d.n, 4);
	assert_int_equal(d.min, 4);
	assert_int_equal(d.median, 12);
	d = executions_stall(f.x, 1);
	assert_int_equal(d.n, 4); /* the one without a stall too */
	assert_int_equal(d.min, 0);
	assert_int_equal(d.median, 8);
	d = executions_stall(f.x, 3);
	assert_int_equal(d.n, 3);
	assert_int_equal(d.max, 0);
	assert_int_equal(executions_cycles(f.x, 99).n, 0);
	end(&f);
}

static void test_window(void **state)
{
	struct selection s = {.has_from = true, .from_cyc = 8, .has_to = true, .to_cyc = 100};
	struct fixture f;

	(void)state;
	run(&f, &s); /* from 104 on: the second execution of the first wave alone */
	assert_int_equal(f.r->rows[1].n, 1);
	assert_int_equal(f.r->rows[1].max, 8 * ROW_WAVES_UNIT);
	assert_int_equal(executions_stall(f.x, 1).max, 4);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_over_waves),
		cmocka_unit_test(test_over_executions),
		cmocka_unit_test(test_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
