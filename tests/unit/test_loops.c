/* SPDX-License-Identifier: Apache-2.0 */
/* test_loops.c: iterations, passes that are none, splits that add up; matrix pipes on the side. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/code/loops.h"
#include "analysis/waves/matrix.h"
#include "mem_trace.h"

/* 1 before, 2 header, 3 latch (back to 2), 4 after, 5 a loop never reached twice, 6 end */
static const struct mem_code code[] = {{.text = "; k"}, {.text = "s_nop 0"},
	{.text = "v_mfma_f32_32x32x16_bf16 v[0:15], v[0:3], v[4:7], v[0:15]"},
	{.text = "s_cbranch_scc1 65534"}, {.text = "s_waitcnt vmcnt(0)"},
	{.text = "s_cbranch_scc0 65535"}, {.text = "s_endpgm"}};

/* Three executions of the header: two iterations of 20 and 32 cycles, one last pass of 12. */
static const struct mem_record three[] = {
	{100, 9, 4, 4, 1},
	{104, 6, 0, 4, 2},
	{116, 7, 4, 8, 3}, /* gap 8 */
	{124, 6, 12, 16, 2},
	{140, 7, 0, 4, 3},
	{156, 6, 4, 8, 2}, /* gap 12 */
	{164, 8, 0, 4, 3},
	{168, 9, 8, 8, 4},
	{176, 8, 0, 4, 5},
	{180, 11, 0, 20, 6},
};
/* Never inside the loop: it jumped over it. */
static const struct mem_record none[] = {{200, 9, 4, 4, 1}, {204, 11, 0, 16, 6}};

static const struct mem_wave waves[] = {
	{.se = 0, .begin = 96, .end = 200, MEM_RECORDS(three)},
	{.se = 0, .slot = 1, .begin = 196, .end = 220, MEM_RECORDS(none)},
	{.se = 1, .begin = 96, .end = 200, MEM_RECORDS(three)},
};

static struct loops *run(struct cfg *g, const struct trace *t, const struct selection *sel)
{
	struct loops *l;
	struct collector c;
	const struct collector *list[] = {&c};
	struct walk_result r;
	struct walk_options o = {.selection = sel};

	assert_true(cfg_build(g, t, NULL));
	l = loops_new(g);
	assert_non_null(l);
	c = loops_collector(l);
	assert_true(walk_tracks(t, &o, list, 1, &r, NULL));
	assert_true(loops_finish(l, NULL));
	walk_result_deinit(&r);
	return l;
}

static uint64_t bucket_sum(const struct loop_split *s)
{
	uint64_t sum = 0;

	for (unsigned b = 0; b < BUCKET_COUNT; b++)
		sum += s->bucket[b];
	return sum;
}

static void test_loops_iterations(void **state)
{
	struct trace *t = mem_trace_new(&(struct mem_capture){MEM_CODE(code), MEM_WAVES(waves)});
	struct cfg g;
	struct loops *l = run(&g, t, NULL);
	const struct loop_stats *s = &l->v[0];

	(void)state;
	assert_int_equal(l->n, 2);
	assert_int_equal(l->n_waves, 3);
	assert_int_equal(s->waves, 2);
	assert_int_equal(s->executions, 6);
	assert_int_equal(s->visits, 2);
	assert_int_equal(s->iterations, 4);
	assert_int_equal(s->min_cyc, 20);
	assert_int_equal(s->median_cyc, 32);
	assert_int_equal(s->p95_cyc, 32);
	assert_int_equal(s->max_cyc, 32);
	assert_int_equal(s->all.cyc, 104);
	assert_int_equal(bucket_sum(&s->all), 104);
	assert_int_equal(s->all.bucket[BUCKET_IDLE], 2 * (8 + 12));
	assert_int_equal(s->cause[BUCKET_STALL][CLASS_MATRIX], 2 * 12);
	assert_int_equal(s->first.cyc, 40);
	assert_int_equal(s->last.cyc, 64);
	assert_int_equal(s->steady.n, 0);
	assert_int_equal(s->exit_n, 2);
	assert_int_equal(s->exit_cyc, 24);
	assert_int_equal(s->prologue_cyc, 2 * 8);
	assert_int_equal(s->epilogue_cyc, 2 * 32);
	assert_true(loop_drift(s) > 0.59 && loop_drift(s) < 0.61);
	assert_int_equal(s->n_trips, 1);
	assert_int_equal(s->trips[0].executions, 3);
	assert_int_equal(s->trips[0].waves, 2);
	loops_free(l);
	cfg_deinit(&g);
	trace_free(t);
}

static void test_loops_entered_once(void **state)
{
	struct trace *t = mem_trace_new(&(struct mem_capture){MEM_CODE(code), MEM_WAVES(waves)});
	struct cfg g;
	struct loops *l = run(&g, t, NULL);

	(void)state;
	assert_int_equal(l->v[1].executions, 2);
	assert_int_equal(l->v[1].iterations, 0);
	assert_null(l->v[1].cause);
	loops_free(l);
	cfg_deinit(&g);
	trace_free(t);
}

/* An iteration counts only when it lies in the window as a whole. */
static void test_loops_window(void **state)
{
	struct trace *t = mem_trace_new(&(struct mem_capture){MEM_CODE(code), MEM_WAVES(waves)});
	struct selection sel = {.has_from = true, .from_cyc = 20, .has_to = true, .to_cyc = 80};
	struct cfg g;
	struct loops *l = run(&g, t, &sel);

	(void)state;
	assert_int_equal(l->v[0].executions, 4);
	assert_int_equal(l->v[0].iterations, 2);
	assert_int_equal(l->v[0].all.cyc, 64);
	loops_free(l);
	cfg_deinit(&g);
	trace_free(t);
}

static void test_loops_matrix(void **state)
{
	struct trace *t = mem_trace_new(&(struct mem_capture){MEM_CODE(code), MEM_WAVES(waves)});
	struct matrix *m = matrix_new(t);
	struct collector c = matrix_collector(m);
	const struct collector *list[] = {&c};
	struct walk_result r;
	struct walk_options o = {0};

	(void)state;
	assert_true(walk_tracks(t, &o, list, 1, &r, NULL));
	assert_true(matrix_finish(m, NULL));
	assert_int_equal(m->static_rows, 1);
	assert_int_equal(m->executed_rows, 1);
	assert_int_equal(m->hits, 6);
	assert_int_equal(m->n_simds, 2);
	assert_int_equal(m->resident_cyc, (220 - 96) + (200 - 96));
	assert_int_equal(m->issue_cyc, 2 * 12);
	assert_int_equal(m->modelled_hits, 6);
	assert_int_equal(m->unknown_hits, 0);
	/* 32 cycles from 104, 136 and 160; the wave lives until 200 */
	assert_int_equal(m->modelled_cyc, 2 * (200 - 104 - 8));
	walk_result_deinit(&r);
	matrix_free(m);
	trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loops_iterations),
		cmocka_unit_test(test_loops_entered_once),
		cmocka_unit_test(test_loops_window),
		cmocka_unit_test(test_loops_matrix),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
