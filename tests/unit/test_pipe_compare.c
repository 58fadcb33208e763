/* SPDX-License-Identifier: Apache-2.0 */
/* test_pipe_compare.c: counts, order and cycles of two hand-made traces of one kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>
#include <string.h>

#include "analysis/pipes/pipe_compare.h"
#include "mem_pipes.h"

static struct pipes *ask(const struct trace *t)
{
	struct walk_options o = {0};
	struct walk_result r = {0};
	struct incore_error e = {0};
	struct pipes *p = pipes_new(t, &e);

	assert_non_null(p);
	assert_true(pipes_collect(p, &o, &r, &e));
	walk_result_deinit(&r);
	return p;
}

static const struct mem_slice vec_a[] = {{10, 20, 0, "TADD x", NULL},
	{30, 5, 0, "WAIT_FLAG PIPE:MTE2,TRIGGERPIPE:VEC,FLAGID:0,", NULL},
	{40, 10, 0, "TMUL x", NULL}};
static const struct mem_slice load_a[] = {{0, 10, 0, "TLOAD x", NULL}};
static const struct mem_pipe side_a[] = {
	{"core0.veccore0/MTE2", MEM_SLICES(load_a)}, {"core0.veccore0/VECTOR", MEM_SLICES(vec_a)}};

/* The same ops, slower; the scalar unit shows how it hands them on. */
static const struct mem_slice scalar_b[] = {{0, 4, 0, "ISSUE ops handed to pipes", NULL}};
static const struct mem_slice vec_b[] = {{20, 30, 0, "TADD x", NULL}, {50, 10, 0, "TMUL x", NULL}};
static const struct mem_slice load_b[] = {{4, 14, 0, "TLOAD y", NULL}};
static const struct mem_pipe side_b[] = {{"core0.veccore0/SCALAR", MEM_SLICES(scalar_b)},
	{"core0.veccore0/MTE2", MEM_SLICES(load_b)}, {"core0.veccore0/VECTOR", MEM_SLICES(vec_b)}};

/* Another order, then another count. */
static const struct mem_slice vec_c[] = {{20, 10, 0, "TMUL x", NULL}, {50, 10, 0, "TADD x", NULL}};
static const struct mem_pipe side_c[] = {
	{"core0.veccore0/MTE2", MEM_SLICES(load_b)}, {"core0.veccore0/VECTOR", MEM_SLICES(vec_c)}};
static const struct mem_slice vec_d[] = {{20, 10, 0, "TADD x", NULL}};
static const struct mem_pipe side_d[] = {
	{"core0.veccore0/MTE2", MEM_SLICES(load_b)}, {"core0.veccore0/VECTOR", MEM_SLICES(vec_d)}};

struct two {
	struct trace *t[2];
	struct pipes *p[2];
	struct pipe_compare c;
};

static void compare(struct two *x, const struct mem_pipe *b, uint32_t n)
{
	x->t[0] = mem_pipes_new(&(struct mem_pipes){MEM_PIPES(side_a)});
	x->t[1] = mem_pipes_new(&(struct mem_pipes){.pipes = b, .n_pipes = n});
	for (unsigned i = 0; i < 2; i++)
		x->p[i] = ask(x->t[i]);
	assert_true(pipe_compare(x->p[0], x->p[1], &x->c, NULL));
}

static void done(struct two *x)
{
	pipe_compare_deinit(&x->c);
	for (unsigned i = 0; i < 2; i++) {
		pipes_free(x->p[i]);
		trace_free(x->t[i]);
	}
}

static const struct compare_row *row(const struct compare_row *v, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(v[i].name, name) == 0)
			return &v[i];
	return NULL;
}

static void test_same_work(void **state)
{
	struct two x;
	const struct compare_row *r;

	(void)state;
	compare(&x, side_b, MEM_COUNT(side_b));
	assert_true(x.c.is_same_count);
	assert_true(x.c.is_same_order);
	assert_null(x.c.order_lane);
	assert_int_equal(x.c.span_cyc[0], 50);
	assert_int_equal(x.c.span_cyc[1], 60);
	assert_int_equal(x.c.pipes.n, 3);
	r = row(x.c.pipes.v, x.c.pipes.n, "VECTOR");
	assert_non_null(r);
	assert_string_equal(r->core, "core0.veccore0");
	assert_int_equal(r->cyc[0], 30);
	assert_int_equal(r->cyc[1], 40);
	assert_int_equal(r->count[0], 2);
	/* waits and the scalar unit's own stretches are no ops */
	assert_int_equal(x.c.ops.n, 3);
	assert_string_equal(x.c.ops.v[0].name, "TADD");
	assert_int_equal(x.c.ops.v[0].cyc[1], 30);
	assert_null(row(x.c.ops.v, x.c.ops.n, "ISSUE"));
	done(&x);
}

static void test_other_order(void **state)
{
	struct two x;

	(void)state;
	compare(&x, side_c, MEM_COUNT(side_c));
	assert_true(x.c.is_same_count);
	assert_false(x.c.is_same_order);
	assert_string_equal(x.c.order_lane, "core0.veccore0/VECTOR");
	assert_int_equal(x.c.order_at, 0);
	done(&x);
}

static void test_other_count(void **state)
{
	struct two x;
	const struct compare_row *r;

	(void)state;
	compare(&x, side_d, MEM_COUNT(side_d));
	assert_false(x.c.is_same_count);
	assert_false(x.c.is_same_order);
	assert_int_equal(x.c.order_at, 1);
	r = row(x.c.ops.v, x.c.ops.n, "TMUL");
	assert_non_null(r);
	assert_int_equal(r->count[0], 1);
	assert_int_equal(r->count[1], 0);
	done(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_work),
		cmocka_unit_test(test_other_order),
		cmocka_unit_test(test_other_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
