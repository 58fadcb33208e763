/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict of the summary: which family, mixed or not, and when none is given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>
#include <string.h>

#include "analysis/advise/advise.h"
#include "analysis/summary/summary.h"
#include "mem_trace.h"

static const struct mem_code code[] = {
	{"; k", NULL, 0},
	{"buffer_load_dword v0, v1, s[0:3], 0 offen", "dir/a.py:3", 0},
	{"s_waitcnt vmcnt(0)", "dir/a.py:4", 0},
	{"s_barrier", "dir/a.py:5", 0},
	{"v_add_f32 v0, v0, v0", "dir/b.py:1", 0},
	{"s_endpgm", NULL, 0},
};

/* 200 cycles of memory, 192 of barrier, 400 of arithmetic */
static const struct mem_record records[] = {
	{100, 3, 0, 4, 1},
	{104, 9, 200, 200, 2},
	{304, 9, 192, 192, 3},
	{496, 6, 0, 400, 4},
	{896, 11, 0, 4, 5},
};

static const struct mem_wave waves[] = {
	{.simd = 0, .begin = 100, .end = 900, MEM_RECORDS(records)},
	{.simd = 1, .begin = 100, .end = 900, MEM_RECORDS(records)},
};

static struct summary *ask(const struct trace *t, const struct summary_options *given)
{
	struct walk_options w = {0};
	struct summary_options o = given ? *given : (struct summary_options){0};
	struct incore_error e = {0};
	struct summary *s;

	if (!o.walk)
		o.walk = &w;
	s = summary_new(t, &o, &e);
	assert_non_null(s);
	return s;
}

static size_t count_advice(const struct summary *s)
{
	struct arena arena;
	struct advise_list l = {.arena = &arena};
	size_t n;

	arena_init(&arena);
	assert_true(advise_waves(s, &l, NULL));
	n = l.n;
	advise_list_deinit(&l);
	arena_deinit(&arena);
	return n;
}

static void test_summary_mixed_without_repeats(void **state)
{
	struct trace *t = mem_trace_new(&(struct mem_capture){MEM_CODE(code), MEM_WAVES(waves)});
	struct summary *s = ask(t, NULL);

	(void)state;
	assert_true(s->bound.has_verdict);
	assert_int_equal(s->bound.family, FAMILY_MEMORY);
	assert_int_equal(s->bound.second, FAMILY_SYNC);
	assert_int_equal(s->bound.exposed_cyc, 2 * 204);
	assert_int_equal(s->bound.second_exposed_cyc, 2 * 192);
	assert_true(s->bound.is_mixed);
	assert_int_equal(s->bound.where, 2);
	assert_int_equal(s->bound.producer, 1);
	assert_non_null(strstr(s->sentence, "Mixed: memory (25.5 %) and sync (24.0 %)"));
	assert_non_null(
		strstr(s->sentence, "row 2 (0x1004, a.py:4): `s_waitcnt vmcnt(0)` waits for "
				    "`buffer_load_dword v0"));
	assert_int_equal(count_advice(s), 2);
	assert_int_equal(s->duration_cyc, 1600);
	assert_int_equal(s->rows[0].code, 2);
	assert_int_equal(s->n_line_rows, 5); /* four lines and the rows without one */
	summary_free(s);
	trace_free(t);
}

/* A repeat that agrees makes the small difference count. */
static void test_summary_repeats(void **state)
{
	static const double alike[1][FAMILY_COUNT] = {
		{[FAMILY_MEMORY] = 0.2551, [FAMILY_SYNC] = 0.2401}};
	struct trace *t = mem_trace_new(&(struct mem_capture){MEM_CODE(code), MEM_WAVES(waves)});
	struct summary_options o = {.repeats = alike, .n_repeats = 1};
	struct summary *s = ask(t, &o);

	(void)state;
	assert_false(s->bound.is_mixed);
	assert_true(s->bound.noise < 0.001);
	assert_int_equal(strncmp(s->sentence, "Lost to memory and exposed: 25.5 %", 34), 0);
	summary_free(s);
	trace_free(t);
}

static void test_summary_repeat_shares(void **state)
{
	struct trace *t = mem_trace_new(&(struct mem_capture){MEM_CODE(code), MEM_WAVES(waves)});
	struct walk_options w = {0};
	double share[FAMILY_COUNT], per_execution;

	(void)state;
	assert_true(summary_repeat(t, &w, share, &per_execution, NULL));
	assert_true(share[FAMILY_MEMORY] == 408.0 / 1600 && share[FAMILY_SYNC] == 384.0 / 1600);
	/* latency over executions of the waves above */
	assert_true(per_execution > 0);
	trace_free(t);
}

static void test_summary_no_verdict(void **state)
{
	struct trace *t = mem_trace_new(&(struct mem_capture){MEM_CODE(code)});
	struct selection none = {0};
	struct walk_options w = {.selection = &none};
	struct summary_options o = {.walk = &w};
	struct summary *s = ask(t, NULL);

	(void)state;
	assert_false(s->bound.has_verdict);
	assert_int_equal(strncmp(s->sentence, "No bound verdict: ", 18), 0);
	assert_int_equal(count_advice(s), 0);
	summary_free(s);
	trace_free(t);

	t = mem_trace_new(&(struct mem_capture){MEM_CODE(code), MEM_WAVES(waves)});
	assert_true(number_set_parse(&none.level[0], STR("9"), "se", NULL));
	s = ask(t, &o);
	assert_string_equal(s->sentence, "No bound verdict: no wave lies in the selection.");
	summary_free(s);
	selection_deinit(&none);
	trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_summary_mixed_without_repeats),
		cmocka_unit_test(test_summary_repeats),
		cmocka_unit_test(test_summary_repeat_shares),
		cmocka_unit_test(test_summary_no_verdict),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
