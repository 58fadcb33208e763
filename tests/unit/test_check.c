/* SPDX-License-Identifier: Apache-2.0 */
/* test_check.c: each rule of `check` fires on what it is for, and not on a whole capture. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/check/check.h"
#include "analysis/check/check_internal.h"
#include "mem_trace.h"

static const struct mem_code code[] = {
	{.text = "; k"},
	{.text = "s_load_dwordx2 s[0:1], s[2:3], 0x0", .source = "a.py:1"},
	{.text = "s_waitcnt lgkmcnt(0)", .source = "a.py:2"},
	{.text = "s_cbranch_scc1 1", .source = "a.py:3"},
	{.text = "v_add_u32_e32 v0, v1, v2", .source = "a.py:4"},
	{.text = "s_endpgm", .source = "a.py:5"},
};
static const struct mem_record whole[] = {{0, 1, 0, 4, 1}, {4, 9, 100, 100, 2}, {104, 8, 0, 4, 3},
	{108, 6, 0, 4, 4}, {112, 11, 0, 12, 5}};
static const struct mem_record jumped[] = {
	{0, 1, 0, 4, 1}, {4, 9, 100, 100, 2}, {104, 7, 0, 4, 3}, {108, 11, 0, 12, 5}};
static const struct mem_record cut[] = {{0, 1, 0, 4, 1}, {4, 9, 100, 100, 2}};
static const struct mem_record broken[] = {
	{0, 1, 0, 4, 1}, {4, 9, 100, 100, 2}, {104, 6, 0, 4, 4}, {108, 11, 0, 12, 5}};
static const struct mem_state states[] = {{1, 0}, {2, 4}, {3, 100}, {2, 8}, {3, 12}};

/* Eight waves on four SIMDs, the first of them as given. */
static struct trace *make(const struct mem_record *first, uint32_t n_first)
{
	static struct mem_wave w[8];

	for (uint32_t i = 0; i < 8; i++) {
		w[i] = (struct mem_wave){.cu = 1,
			.simd = i / 2,
			.slot = i % 2,
			.end = 124,
			.records = whole,
			.n_records = 5,
			MEM_STATES(states)};
	}
	w[0].records = first;
	w[0].n_records = n_first;
	w[0].end = first[n_first - 1].time + first[n_first - 1].duration;
	return mem_trace_new(&(struct mem_capture){MEM_CODE(code), MEM_WAVES(w)});
}

static struct check *run(const struct trace *t, const struct check_context *ctx)
{
	struct walk_result w;
	struct check *c = check_run(t, ctx, NULL, &w, NULL);

	assert_non_null(c);
	walk_result_deinit(&w);
	return c;
}

static void expect(struct trace *t, const char *id, enum verdict least)
{
	struct check *c = run(t, NULL);

	if (!check_find(c, id))
		fail_msg("%s did not fire", id);
	assert_true(c->verdict >= least);
	check_free(c);
	trace_free(t);
}

static void expect_not(struct trace *t, const char *id)
{
	struct check *c = run(t, NULL);

	if (check_find(c, id))
		fail_msg("%s fired: %s", id, check_find(c, id)->note.message);
	check_free(c);
	trace_free(t);
}

static void test_check_flow(void **state)
{
	(void)state;
	expect_not(make(whole, 5), "truncated");
	expect_not(make(jumped, 4), "truncated");
	expect(make(cut, 2), "truncated", VERDICT_UNUSABLE);
	expect(make(broken, 4), "truncated", VERDICT_SUSPECT);
}

static void test_check_shell(void **state)
{
	struct trace *t = mem_trace_new(&(struct mem_capture){MEM_CODE(code)});
	struct check *c;

	(void)state;
	c = run(t, NULL);
	assert_int_equal(c->n_findings, 1);
	assert_string_equal(c->findings[0].note.code, "not-executed");
	assert_int_equal(c->verdict, VERDICT_UNUSABLE);
	check_free(c);
	trace_free(t);
	t = mem_trace_new(&(struct mem_capture){0});
	c = run(t, NULL);
	assert_int_equal(c->n_findings, 1);
	assert_string_equal(c->findings[0].note.code, "empty-shell");
	check_free(c);
	trace_free(t);
}

static void test_check_totals(void **state)
{
	struct trace *t = make(whole, 5);

	(void)state;
	t->has_stated_totals = true;
	for (code_idx i = 1; i < t->n_code; i++)
		t->code[i].stated = (struct code_totals){.hit = 8, .latency = 32};
	t->code[2].stated.latency = t->code[2].stated.stall = 800;
	t->code[5].stated.latency = 96;
	expect_not(t, "inconsistent-totals");
	t = make(whole, 5);
	t->has_stated_totals = true;
	expect(t, "inconsistent-totals", VERDICT_SUSPECT);
}

/* The fingerprint does not care about order or merging, and sees every change. */
static void test_check_series(void **state)
{
	static const uint64_t time[] = {4, 104, 112, 124};
	static const uint32_t wait[] = {8, 0, 8, 0}, wrong[] = {8, 0, 7, 0};
	struct stated_series s = {.state = STATE_WAIT, .n = 4, .time_cyc = time, .count = wait};
	static const uint64_t exec_time[] = {0, 4, 104, 112};
	static const uint32_t exec[] = {8, 0, 8, 0};
	struct stated_series both[2];
	struct trace *t = make(whole, 5);

	(void)state;
	both[0] = (struct stated_series){
		.state = STATE_EXEC, .n = 4, .time_cyc = exec_time, .count = exec};
	both[1] = s;
	t->stated_series = both;
	t->n_stated_series = 2;
	expect_not(t, "inconsistent-states");
	t = make(whole, 5);
	both[1].count = wrong;
	t->stated_series = both;
	t->n_stated_series = 2;
	expect(t, "inconsistent-states", VERDICT_SUSPECT);
}

static void test_check_clock(void **state)
{
	struct check_sibling s[] = {{.path = "a", .dispatch = 1, .is_self = true},
		{.path = "b", .dispatch = 2, .clock_mhz = 2100}};
	struct check_context ctx = {.siblings = s, .n_siblings = 2};
	struct trace *t = make(whole, 5);
	struct check *c;

	(void)state;
	t->meta.arch = "gfx90a"; /* no maximum is known of it */
	t->meta.clock_hz_num = 2000000000;
	t->meta.clock_hz_den = 1;
	c = run(t, &ctx);
	assert_non_null(check_find(c, "repeated-capture"));
	assert_non_null(check_find(c, "throttled-clock"));
	check_free(c);
	s[1].clock_mhz = 2010;
	c = run(t, &ctx);
	assert_null(check_find(c, "throttled-clock"));
	check_free(c);
	t->meta.machine.max_clock_mhz = 2200;
	c = run(t, &ctx);
	assert_non_null(check_find(c, "throttled-clock"));
	check_free(c);
	trace_free(t);
}

static void test_check_order(void **state)
{
	struct trace *t = make(cut, 2);
	struct check *c = run(t, NULL);
	struct strbuf b = {0};

	(void)state;
	for (uint32_t i = 1; i < c->n_findings; i++)
		assert_true(c->findings[i - 1].note.weight >= c->findings[i].note.weight);
	assert_true(check_health(c, &b));
	assert_true(str_starts(str_of(b.p), "unusable: truncated"));
	sb_free(&b);
	check_free(c);
	trace_free(t);
}

/* No id stands twice among the words of the schema. */
static void test_check_words(void **state)
{
	struct str rest = str_of(FINDING_WORDS), left, word, other;

	(void)state;
	while (str_cut(&rest, "|", &word))
		for (left = rest; str_cut(&left, "|", &other);)
			assert_false(str_eq(word, other));
}

/* The recorded path tells whose file it is: one without a copy is a finding on the user's source, a remark on a toolkit's. */
static void test_check_toolkit(void **state)
{
	static const struct {
		const char *path;
		bool is_of_toolkit;
	} x[] = {
		{"/usr/local/cuda/targets/x86_64-linux/include/sm_20_intrinsics.hpp", true},
		{"/usr/local/cuda-13.0/include/cuda_fp16.hpp", true},
		{"/opt/conda/targets/sbsa-linux/include/mma.h", true},
		{"/opt/rocm-6.2.0/include/hip/amd_detail/amd_device_functions.h", true},
		{"/usr/include/c++/12/cmath", true},
		{"/usr/local/Ascend/latest/tikcpp/kernel_operator.h", true},
		{"a.py", false},
		{"/src/cuda/scale.cu", false},
		{"/opt/rocmlib/gemm.hip", false},
		{"/usr/local/cudaless/k.cu", false},
		{"/usr/src/k.cu", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(x) / sizeof(*x); i++) {
		struct trace *t = make(whole, 5);
		struct check *c;

		t->sources[0].path = x[i].path;
		c = run(t, NULL);
		assert_int_equal(check_find(c, "toolkit-source") != NULL, x[i].is_of_toolkit);
		assert_int_equal(check_find(c, "stale-source") != NULL, !x[i].is_of_toolkit);
		check_free(c);
		trace_free(t);
	}
}

static void test_check_unmapped_samples(void **state)
{
	struct trace *t = mem_trace_new(&(struct mem_capture){MEM_CODE(code)});

	(void)state;
	t->meta.vendor = VENDOR_NVIDIA;
	assert_true(trace_note(t, "unmapped-addresses", NULL, INCORE_NO_OFFSET, 7, "7 samples"));
	expect(t, "unmapped-addresses", VERDICT_SUSPECT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_check_flow),
		cmocka_unit_test(test_check_shell),
		cmocka_unit_test(test_check_totals),
		cmocka_unit_test(test_check_series),
		cmocka_unit_test(test_check_clock),
		cmocka_unit_test(test_check_order),
		cmocka_unit_test(test_check_words),
		cmocka_unit_test(test_check_toolkit),
		cmocka_unit_test(test_check_unmapped_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
