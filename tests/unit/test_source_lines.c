/* SPDX-License-Identifier: Apache-2.0 */
/* test_source_lines.c: exclusive and inclusive sums, granularity, collapse, regions of the listing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/code/regions.h"
#include "analysis/code/source_lines.h"
#include "mem_trace.h"

/* in.py:5 is inlined into a.py:1 and a.py:2; b.py:9 calls itself. */
static const struct mem_code code[] = {{.text = "; k"},
	{.text = "v_mov_b32 v0, v1", .source = "in.py:5 -> a.py:1"},
	{.text = "v_mov_b32 v2, v3", .source = "in.py:5 -> a.py:2"},
	{.text = "s_nop 0", .source = "b.py:9 -> b.py:9 -> a.py:2"},
	{.text = "s_waitcnt vmcnt(0)", .source = "a.py:2"}, {.text = "s_nop 0"},
	{.text = "s_endpgm", .source = "a.py:3"}};
static const struct code_totals totals[] = {{0, 0, 0, 0}, {2, 10, 1, 0}, {2, 20, 2, 4},
	{1, 30, 3, 0}, {1, 40, 40, 0}, {1, 5, 5, 0}, {0, 0, 0, 0}};

static source_idx source_of(const struct trace *t, const char *path)
{
	for (source_idx i = 0; i < t->n_sources; i++)
		if (str_is(str_of(t->sources[i].path), path))
			return i;
	return NO_SOURCE;
}

static const struct source_line *line_of(
	const struct source_lines *s, const char *path, uint32_t line)
{
	uint32_t i = source_lines_find(s, source_of(s->trace, path), line);

	assert_int_not_equal(i, UINT32_MAX);
	return &s->lines[i];
}

static void test_source_lines_sums(void **state)
{
	struct trace *t = mem_trace_new(&(struct mem_capture){MEM_CODE(code)});
	struct source_lines s;
	uint64_t lines = 0, files = 0;
	uint32_t rows = 0;

	(void)state;
	assert_true(source_lines_compute(&s, t, totals, NULL));
	for (uint32_t i = 0; i < s.n_lines; i++) {
		lines += s.lines[i].exclusive.totals.latency;
		rows += s.lines[i].exclusive.rows;
	}
	for (uint32_t i = 0; i < s.n_files; i++)
		files += s.files[i].exclusive.totals.latency;
	assert_int_equal(lines, 105);
	assert_int_equal(files, 105);
	assert_int_equal(rows, 6);
	assert_int_equal(s.all.totals.latency, 105);
	assert_int_equal(s.unmapped.totals.latency, 5);
	assert_int_equal(s.distinct_lines, 4);
	assert_int_equal(line_of(&s, "in.py", 5)->exclusive.totals.latency, 30);
	assert_int_equal(line_of(&s, "a.py", 2)->exclusive.totals.latency, 40);
	assert_int_equal(line_of(&s, "a.py", 2)->inclusive.totals.latency, 20 + 30 + 40);
	assert_int_equal(line_of(&s, "a.py", 1)->exclusive.rows, 0);
	assert_int_equal(line_of(&s, "b.py", 9)->inclusive.totals.latency, 30); /* once */
	assert_int_equal(line_of(&s, "a.py", 3)->exclusive.executed_rows, 0);
	assert_int_equal(source_lines_find(&s, source_of(t, "a.py"), 77), UINT32_MAX);
	source_lines_deinit(&s);
	trace_free(t);
}

static void test_source_lines_granularity(void **state)
{
	struct trace *t = mem_trace_new(&(struct mem_capture){MEM_CODE(code)});
	struct source_lines s;
	const struct granularity *g;

	(void)state;
	assert_true(source_lines_compute(&s, t, totals, NULL));
	g = &s.granularity[WEIGHT_LATENCY];
	assert_int_equal(g->mapped, 100);
	assert_int_equal(g->lines, 3);
	assert_true(g->top1_share > 0.3999 && g->top1_share < 0.4001);
	assert_true(g->top2_share > 0.2999 && g->top2_share < 0.3001);
	/* exp(-(.3 ln .3 + .3 ln .3 + .4 ln .4)) */
	assert_true(g->effective_lines > 2.9710 && g->effective_lines < 2.9720);
	assert_int_equal(s.collapse, COLLAPSE_NO);
	source_lines_deinit(&s);
	trace_free(t);
}

static void test_source_lines_collapse(void **state)
{
	static const struct mem_code one[] = {{.text = "; k"},
		{.text = "s_nop 0", .source = "a.py:1"}, {.text = "s_nop 1", .source = "a.py:1"},
		{.text = "s_nop 2", .source = "a.py:1"}, {.text = "s_endpgm", .source = "a.py:2"}};
	static const struct {
		struct code_totals x[5];
		enum collapse want;
	} cases[] = {
		{{{0}, {1, 50, 0, 0}, {1, 10, 0, 0}, {1, 10, 0, 0}, {1, 30, 0, 0}}, COLLAPSE_YES},
		{{{0}, {1, 30, 0, 0}, {1, 15, 0, 0}, {1, 10, 0, 0}, {1, 45, 0, 0}},
			COLLAPSE_PARTLY},
		{{{0}, {1, 10, 0, 0}, {1, 10, 0, 0}, {1, 10, 0, 0}, {1, 70, 0, 0}}, COLLAPSE_NO},
		{{{0}, {1, 90, 0, 0}, {0}, {0}, {1, 10, 0, 0}}, COLLAPSE_NO},
		{{{0}, {0}, {0}, {0}, {0}}, COLLAPSE_NO},
	};
	struct trace *t = mem_trace_new(&(struct mem_capture){MEM_CODE(one)});

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct source_lines s;

		assert_true(source_lines_compute(&s, t, cases[i].x, NULL));
		assert_int_equal(s.collapse, cases[i].want);
		source_lines_deinit(&s);
	}
	trace_free(t);
}

static void test_source_lines_regions(void **state)
{
	static const struct mem_code looped[] = {{.text = "; k"},
		{.text = "s_nop 0", .source = "a:1"}, {.text = "v_mov_b32 v0, v1", .source = "a:1"},
		{.text = "s_cbranch_scc0 65534", .source = "a:2"},
		{.text = "s_endpgm", .source = "a:1"}};
	static const struct code_totals x[] = {
		{0, 0, 0, 0}, {1, 1, 0, 0}, {3, 20, 5, 0}, {3, 12, 0, 0}, {1, 100, 0, 0}};
	struct trace *t = mem_trace_new(&(struct mem_capture){MEM_CODE(looped)});
	struct cfg g;
	struct arena a;
	struct region *v;
	uint32_t n;
	struct strbuf sb = {0};

	(void)state;
	arena_init(&a);
	assert_true(cfg_build(&g, t, NULL));
	assert_true(regions_build(&g, REGION_SOURCE_RUN, x, &a, &v, &n, NULL));
	assert_int_equal(n, 3);
	assert_int_equal(v[0].n_rows, 2);
	assert_true(regions_build(&g, REGION_BLOCK, x, &a, &v, &n, NULL));
	assert_int_equal(n, 3);
	assert_true(regions_build(&g, REGION_LOOP, x, &a, &v, &n, NULL));
	assert_int_equal(n, 3);
	assert_int_equal(v[1].loop, 0);
	assert_int_equal(v[1].totals.latency, 32);
	assert_int_equal(v[1].dominant, CLASS_VALU);
	assert_int_equal(v[2].loop, NO_LOOP);
	assert_true(region_put_label(&v[1], &sb));
	assert_string_equal(sb.p, "0x1004-0x1008 VALU");
	sb_free(&sb);
	cfg_deinit(&g);
	arena_deinit(&a);
	trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_source_lines_sums),
		cmocka_unit_test(test_source_lines_granularity),
		cmocka_unit_test(test_source_lines_collapse),
		cmocka_unit_test(test_source_lines_regions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
