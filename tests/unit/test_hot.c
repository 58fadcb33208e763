/* SPDX-License-Identifier: Apache-2.0 */
/* hot: totals beside the accounting, groups, windows, unknown code, damaged tracks, any number of
 * threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>
#include <string.h>

#include "analysis/code/flydsl_hotspot.h"
#include "analysis/code/hot.h"
#include "mem_trace.h"
#include "random_trace.h"

static const struct mem_code code[] = {
	{"; k", NULL, 0},
	{"s_load_dwordx2 s[0:1], s[2:3], 0x0", "a.py:1", 0},
	{"s_waitcnt lgkmcnt(0)", "a.py:2 -> b.py:9", 0},
	{"v_add_f32 v0, v0, v0", "a.py:2", 0},
	{"s_endpgm", NULL, 0},
};
static const struct mem_record records[] = {
	{108, 1, 0, 4, 1},
	{112, 9, 40, 40, 2},
	{152, 6, 4, 8, 3},
	{168, 6, 0, 4, 99}, /* code nobody knows */
	{180, 6, 0, 4, 3},
	{184, 11, 0, 16, 4},
};
static const struct mem_wave waves[] = {
	{.begin = 100, .end = 200, MEM_RECORDS(records)},
	{.wave = 1, .begin = 200, .end = 260}, /* ran nothing */
};

static struct trace *small(void)
{
	return mem_trace_new(&(struct mem_capture){MEM_CODE(code), MEM_WAVES(waves)});
}

static struct hot *walk(
	const struct trace *t, const struct selection *s, struct pool *pool, struct walk_result *r)
{
	struct walk_options o = {.selection = s, .pool = pool};
	struct incore_error e = {0};
	struct hot *h = hot_new(t);
	struct collector c = hot_collector(h);
	const struct collector *list[] = {&c};

	assert_true(walk_tracks(t, &o, list, 1, r, &e));
	return h;
}

static void test_hot_totals_and_accounting(void **state)
{
	struct trace *t = small();
	struct walk_result r;
	struct hot *h = walk(t, NULL, NULL, &r);

	(void)state;
	assert_int_equal(h->n_waves, 2);
	assert_int_equal(h->n_instructions, 6);
	assert_int_equal(r.n_unknown_code, 1);
	/* as the producer counts: the unknown record is no hit, and its time is a gap */
	assert_int_equal(h->all.totals.hit, 5);
	assert_int_equal(h->all.totals.latency, 4 + 40 + 8 + 4 + 16);
	assert_int_equal(h->all.totals.stall, 44);
	assert_int_equal(h->rows[3].totals.idle, 180 - 160);
	/* conserved: the unknown record issues */
	assert_int_equal(h->all.bucket[BUCKET_ISSUE], 4 + 4 + 4 + 4);
	assert_int_equal(h->all.bucket[BUCKET_WAIT], 40);
	assert_int_equal(h->all.bucket[BUCKET_STALL], 4);
	assert_int_equal(h->all.bucket[BUCKET_IDLE], 8 + 8 + 8 + 60);
	assert_int_equal(h->all.bucket[BUCKET_DRAIN], 16);
	assert_int_equal(hot_cycles(&h->all), h->duration_cyc);
	assert_int_equal(h->residue_cyc, 0);
	hot_free(h);
	walk_result_deinit(&r);
	trace_free(t);
}

static void test_hot_groups_add_up(void **state)
{
	struct trace *t = small();
	struct walk_result r;
	struct hot *h = walk(t, NULL, NULL, &r);
	struct arena a;

	(void)state;
	arena_init(&a);
	for (unsigned by = HOT_BY_INSTR; by <= HOT_BY_CLASS; by++) {
		struct hot_group *v;
		uint32_t n;
		uint64_t cycles = 0;

		assert_true(hot_group(h, by, HOT_SORT_CYCLES, false, &a, &v, &n, NULL));
		for (uint32_t i = 0; i < n; i++) {
			assert_true(i == 0 || hot_cycles(&v[i - 1].sums) >= hot_cycles(&v[i].sums));
			cycles += hot_cycles(&v[i].sums);
		}
		/* 60 cycles belong to a wave without records: to no row */
		assert_int_equal(cycles, h->duration_cyc - 60);
		if (by == HOT_BY_LINE) /* an inlined line is the innermost one */
			assert_string_equal(v[0].key, "a.py:2");
	}
	arena_deinit(&a);
	hot_free(h);
	walk_result_deinit(&r);
	trace_free(t);
}

static void test_hot_line_of(void **state)
{
	static const struct {
		const char *source, *line;
	} cases[] = {
		{"a.py:2", "a.py:2"},
		{"a.h:7 -> b.cpp:9", "a.h:7"},
		{"a.h:? -> a.h:281 -> b.cpp:9", "a.h:281"}, /* the compiler's own code */
		{"a.h:? -> b.h:? -> c.cpp:4", "c.cpp:4"},
		{"a.h:? -> b.h:?", "a.h:?"},
		{"a.h:?", "a.h:?"},
		{"", "<unknown>"},
		{NULL, "<unknown>"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct code_row row = {.source = cases[i].source};

		assert_true(str_is(hot_line_of(&row), cases[i].line));
	}
}

static void test_hot_window_clips_and_counts_starts(void **state)
{
	struct trace *t = small();
	struct selection s = {.has_from = true, .from_cyc = 20, .has_to = true, .to_cyc = 60};
	struct walk_result r;
	struct hot *h = walk(t, &s, NULL, &r); /* cycles 120 to 160 of the first wave */

	(void)state;
	assert_int_equal(r.n_tracks, 1);
	assert_int_equal(h->duration_cyc, 40);
	assert_int_equal(h->all.bucket[BUCKET_WAIT], 32);
	assert_int_equal(h->all.bucket[BUCKET_STALL], 4);
	assert_int_equal(h->all.bucket[BUCKET_ISSUE], 4);
	assert_int_equal(h->all.totals.hit, 1); /* only row 3 starts inside */
	hot_free(h);
	walk_result_deinit(&r);
	trace_free(t);
}

static void test_hot_same_for_any_number_of_threads(void **state)
{
	struct random_shape shape = {.seed = 3,
		.n_tracks = 60,
		.max_slices = 300,
		.has_bad_tracks = true,
		.clock_quantum = 4};
	struct trace *t = random_trace_new(&shape);
	struct pool *pool = pool_new(4, NULL);
	struct walk_result r1, r4;
	struct hot *one = walk(t, NULL, NULL, &r1), *four = walk(t, NULL, pool, &r4);

	(void)state;
	assert_true(r1.n_failed > 0); /* a track that cannot be read is a note, the others count */
	assert_int_equal(r1.n_failed, r4.n_failed);
	assert_int_equal(r1.n_notes, r4.n_notes);
	for (uint32_t i = 0; i < r1.n_notes; i++)
		assert_string_equal(r1.notes[i].message, r4.notes[i].message);
	assert_memory_equal(one->rows, four->rows, (t->n_code + 1) * sizeof(*one->rows));
	assert_memory_equal(&one->all, &four->all, sizeof(one->all));
	assert_memory_equal(one->classes, four->classes, sizeof(one->classes));
	assert_int_equal(one->residue_cyc, 0);
	hot_free(one);
	hot_free(four);
	walk_result_deinit(&r1);
	walk_result_deinit(&r4);
	pool_free(pool);
	trace_free(t);
}

static void test_selection_sets(void **state)
{
	struct number_set s = {0};
	struct incore_error e = {0};

	(void)state;
	assert_true(number_set_has(&s, 5));
	assert_true(number_set_parse(&s, STR("0,2, 5-7"), "--se", &e));
	assert_true(number_set_has(&s, 0) && number_set_has(&s, 2) && number_set_has(&s, 6));
	assert_false(number_set_has(&s, 1) || number_set_has(&s, 8));
	VEC_FREE(&s.ranges);
	static const char *const bad[] = {
		"", "x", "3-1", "1-", "-1", "1,,2", "99999999999999999999"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_false(number_set_parse(&s, str_of(bad[i]), "--se", &e));
		assert_int_equal(e.status, INCORE_USAGE);
		VEC_FREE(&s.ranges);
	}
	incore_error_clear(&e);
}

static void test_flydsl_types(void **state)
{
	static const struct {
		const char *text, *type;
	} cases[] = {
		{"s_waitcnt vmcnt(3) lgkmcnt(0)", "VMEM-wait"},
		{"s_waitcnt lgkmcnt(0)", "LDS/SMEM-wait"},
		{"s_waitcnt expcnt(0)", "EXP-wait"},
		{"s_waitcnt 0xc07f", "waitcnt"},
		{"s_barrier", "barrier"},
		{"s_barrier_wait -1", "barrier"},
		{"s_wait_idle", "barrier"},
		{"s_buffer_load_dword s0, s[0:3], 0x0", "VMEM-load"},
		{"flat_store_dword v[0:1], v2", "other"},
		{"ds_read_b128 v[0:3], v4", "LDS"},
		{"ds_load_b128 v[0:3], v4", "SMEM"},
		{"ds_bpermute_b32 v0, v1, v2", "other"},
		{"V_MFMA_F32_16x16x16_f16 v0, v1, v2", "MFMA/FMA"},
		{"v_fma_f32 v0, v1, v2", "MFMA/FMA"},
		{"v_pk_fma_f32 v0, v1, v2", "other"},
		{"s_wait_loadcnt 0x0", "other"},
		{"s_nop 1", "other"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(
			flydsl_type_name(flydsl_type_of(str_of(cases[i].text))), cases[i].type);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hot_totals_and_accounting),
		cmocka_unit_test(test_hot_groups_add_up),
		cmocka_unit_test(test_hot_line_of),
		cmocka_unit_test(test_hot_window_clips_and_counts_starts),
		cmocka_unit_test(test_hot_same_for_any_number_of_threads),
		cmocka_unit_test(test_selection_sets),
		cmocka_unit_test(test_flydsl_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
