/* SPDX-License-Identifier: Apache-2.0 */
/* Producers of sampled AMD waits, from the code alone: order, counts, loops, skid. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "analysis/code/samples.h"
#include "analysis/code/static_waits.h"
#include "mem_trace.h"

enum { WAITCNT = 3, BARRIER = 5 };

static struct trace *sampled(const struct mem_code *code, uint32_t n, code_idx at)
{
	struct trace *t = mem_trace_new(&(struct mem_capture){.code = code, .n_code = n});

	t->meta.vendor = VENDOR_AMD;
	t->sampling.period_cyc = 256;
	assert_true(trace_make_samples(t, amd_stall_reasons, AMD_STALL_REASONS));
	t->samples[at].stalled = 8;
	t->reason_counts[(size_t)at * AMD_STALL_REASONS + WAITCNT].all = 8;
	return t;
}

static void expect(
	const struct mem_code *code, uint32_t n, code_idx at, const code_idx *to, uint32_t n_to)
{
	struct trace *t = sampled(code, n, at);
	struct incore_error e = {0};
	struct static_waits w;
	const struct code_link *l;
	uint32_t n_links;

	assert_true(static_waits_find(&w, t, &e));
	l = static_waits_of(&w, at, &n_links);
	assert_int_equal(n_links, n_to);
	for (uint32_t i = 0; i < n_to; i++)
		assert_int_equal(l[i].to, to[i]);
	static_waits_deinit(&w);
	trace_free(t);
}

static const struct mem_code loads[] = {{.text = "; k"},
	{.text = "buffer_load_dword v1, v0, s[0:3], 0 offen"},
	{.text = "buffer_load_dword v2, v0, s[0:3], 0 offen"},
	{.text = "buffer_load_dword v3, v0, s[0:3], 0 offen"}, {.text = "s_waitcnt vmcnt(1)"},
	{.text = "v_add_f32_e32 v1, v1, v2"}, {.text = "s_waitcnt vmcnt(0)"},
	{.text = "s_waitcnt vmcnt(0)"}, {.text = "s_endpgm"}};

static void test_in_order(void **state)
{
	static const code_idx second[] = {2}, third[] = {3};

	(void)state;
	expect(loads, MEM_COUNT(loads), 4, second, 1); /* the newest may stay out */
	expect(loads, MEM_COUNT(loads), 6, third, 1);  /* what the wait before let pass */
}

/* Nothing is out at the second of two equal waits: the sample belongs to the first. */
static void test_drained_is_skid(void **state)
{
	static const code_idx third[] = {3};

	(void)state;
	expect(loads, MEM_COUNT(loads), 7, third, 1);
	expect(loads, MEM_COUNT(loads), 8, third, 1); /* a row that cannot wait */
}

static void test_out_of_order(void **state)
{
	static const struct mem_code code[] = {{.text = "; k"},
		{.text = "s_load_dwordx4 s[4:7], s[0:1], 0x0"}, {.text = "ds_read_b128 v[0:3], v9"},
		{.text = "s_waitcnt lgkmcnt(0)"}, {.text = "s_endpgm"}};
	static const code_idx both[] = {1, 2};

	(void)state;
	expect(code, MEM_COUNT(code), 3, both, 2);
}

/* Before the loop or one turn earlier: both can be what the wait of the loop waits for. */
static void test_loop(void **state)
{
	static const struct mem_code code[] = {{.text = "; k"},
		{.text = "buffer_load_dword v1, v0, s[0:3], 0 offen"},
		{.text = "s_waitcnt vmcnt(0)"}, {.text = "v_add_f32_e32 v2, v2, v1"},
		{.text = "buffer_load_dword v1, v0, s[0:3], 0 offen"},
		{.text = "s_cbranch_scc1 65532"}, {.text = "s_endpgm"}};
	static const code_idx both[] = {1, 4};

	(void)state;
	expect(code, MEM_COUNT(code), 2, both, 2);
}

/* In the words of hot: the samples x period are the producer's, and none is lost. */
static void test_producers_of_samples(void **state)
{
	struct trace *t = sampled(loads, MEM_COUNT(loads), 4);
	struct incore_error e = {0};
	struct producers *p;
	struct causes *c = causes_new(t, NULL, 0, &e);

	(void)state;
	t->reason_counts[8 * AMD_STALL_REASONS + BARRIER].all = 3;
	t->samples[8].stalled = 3;
	p = producers_new(t, PRODUCERS_EDGES, &e);
	assert_non_null(p);
	assert_true(samples_fill_producers(p, &e));
	assert_int_equal(p->edges.n, 1);
	assert_int_equal(p->edges.v[0].producer, 2);
	assert_int_equal(p->edges.v[0].stall_cyc, 8 * 256);
	assert_int_equal(p->n_unresolved, 0);
	assert_int_equal(p->blocking.barrier_cyc, 3 * 256);
	assert_non_null(c);
	assert_true(samples_fill_causes(c, &e));
	assert_string_equal(c->v[0].name, "wait:VMEM-load");
	assert_int_equal(c->v[0].cyc, 8 * 256);
	assert_int_equal(c->duration_cyc, 11 * 256);
	causes_free(c);
	producers_free(p);
	trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_order),
		cmocka_unit_test(test_drained_is_skid),
		cmocka_unit_test(test_out_of_order),
		cmocka_unit_test(test_loop),
		cmocka_unit_test(test_producers_of_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
