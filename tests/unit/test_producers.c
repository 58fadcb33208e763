/* SPDX-License-Identifier: Apache-2.0 */
/* test_producers.c: cycles by producer, edges, latency and histograms on two small waves. */
#include "analysis/waves/producers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "analysis/waves/latency.h"
#include "mem_trace.h"

enum { LABEL, S_LOAD, LOAD, DS_READ, W_LGKM, W_VM, W_BOTH, BARRIER, SLEEP, ENDPGM };

static const struct mem_code code[] = {
	[LABEL] = {"; k", NULL, 0},
	[S_LOAD] = {"s_load_dwordx2 s[0:1], s[2:3], 0x0", "a.py:1", 0},
	[LOAD] = {"buffer_load_dword v0, v1, s[0:3], 0 offen", "a.py:2", 0},
	[DS_READ] = {"ds_read_b32 v0, v1", "a.py:2", 0},
	[W_LGKM] = {"s_waitcnt lgkmcnt(0)", "a.py:3", 0},
	[W_VM] = {"s_waitcnt vmcnt(0)", "a.py:3", 0},
	[W_BOTH] = {"s_waitcnt vmcnt(0) lgkmcnt(0)", "a.py:3", 0},
	[BARRIER] = {"s_barrier", "a.py:4", 0},
	[SLEEP] = {"s_sleep 1", "a.py:4", 0},
	[ENDPGM] = {"s_endpgm", "a.py:5", 0},
};

static const struct mem_record first[] = {
	{100, 1, 0, 4, S_LOAD},
	{104, 9, 96, 96, W_LGKM},  /* blocked, exact, latency 100 */
	{200, 3, 8, 12, LOAD},	   /* issues at 208 */
	{212, 9, 100, 100, W_VM},  /* latency 104 */
	{308, 9, 8, 8, W_VM},	   /* starts 4 early: 4 of its 8 are overlap; drained */
	{316, 9, 20, 20, BARRIER}, /* */
	{336, 9, 12, 12, SLEEP},   /* */
	{348, 5, 0, 4, DS_READ},   /* */
	{352, 3, 0, 4, LOAD},	   /* */
	{356, 9, 40, 40, W_BOTH},  /* two counters */
	{396, 11, 0, 4, ENDPGM},
};
static const struct mem_record second[] = {
	{100, 1, 0, 4, S_LOAD},
	{104, 9, 4, 4, W_LGKM}, /* free: latency 8, an upper bound */
	{108, 11, 0, 4, ENDPGM},
};
static const struct mem_wave waves[] = {
	{.slot = 0, .begin = 100, .end = 400, MEM_RECORDS(first)},
	{.slot = 1, .begin = 100, .end = 112, MEM_RECORDS(second)},
};

static struct trace *make_trace(void)
{
	return mem_trace_new(&(struct mem_capture){MEM_CODE(code), MEM_WAVES(waves)});
}

static void walk(struct trace *t, struct collector made, const struct selection *s)
{
	struct incore_error e = {0};
	const struct collector *list = &made;
	struct walk_options o = {.selection = s};
	struct walk_result r;

	assert_true(walk_tracks(t, &o, &list, 1, &r, &e));
	walk_result_deinit(&r);
}

static uint64_t cycles_of(const struct producer_groups *g, const char *key)
{
	char name[WAIT_KEY_LEN];

	for (size_t i = 0; i < g->groups.n; i++)
		if (!strcmp(wait_key_name(g->groups.v[i].key, name), key))
			return g->groups.v[i].wait_cyc;
	return UINT64_MAX;
}

static void test_producers_blocking(void **state)
{
	struct incore_error e = {0};
	struct trace *t = make_trace();
	struct producers *p = producers_new(t, PRODUCERS_EDGES | PRODUCERS_CLASS_SET, &e);

	(void)state;
	walk(t, producers_collector(p), NULL);
	assert_true(producers_finish(p, &e));
	assert_int_equal(cycles_of(&p->blocking, "SMEM"), 96 + 4);
	assert_int_equal(cycles_of(&p->blocking, "VMEM-load"), 100);
	assert_int_equal(cycles_of(&p->blocking, "LDS & VMEM-load"), 40);
	assert_int_equal(cycles_of(&p->blocking, "(drained)"), 4);
	assert_int_equal(p->blocking.wait_cyc, 244);
	assert_int_equal(p->blocking.barrier_cyc, 20);
	assert_int_equal(p->blocking.sleep_cyc, 12);
	assert_int_equal(cycles_of(&p->class_set, "(drained)"), 8);
	assert_int_equal(cycles_of(&p->class_set, "LDS+VMEM-load"), 40);
	assert_int_equal(p->class_set.barrier_cyc, 20);
	assert_int_equal(p->n_waits, 5);
	assert_int_equal(p->n_free, 1);
	assert_int_equal(p->n_blocked, 4);
	assert_int_equal(p->n_exact, 4);
	assert_int_equal(p->n_drained, 1);
	producers_free(p);
	trace_free(t);
}

static void test_producers_edges(void **state)
{
	struct incore_error e = {0};
	struct trace *t = make_trace();
	struct producers *p = producers_new(t, PRODUCERS_EDGES, &e);

	(void)state;
	walk(t, producers_collector(p), NULL);
	assert_true(producers_finish(p, &e));
	assert_int_equal(p->edges.n, 4);
	/* equal cycles: by producer row */
	assert_int_equal(p->edges.v[0].producer, S_LOAD);
	assert_int_equal(p->edges.v[0].count, 2);
	assert_int_equal(p->edges.v[0].stall_cyc, 100);
	assert_int_equal(p->edges.v[0].latency.min, 8);
	assert_int_equal(p->edges.v[0].latency.max, 100);
	assert_int_equal(p->edges.v[1].producer, LOAD);
	assert_int_equal(p->edges.v[1].latency.median, 104);
	assert_int_equal(p->edges.v[2].shared_cyc, 40);
	assert_int_equal(p->edges.v[3].shared_cyc, 40);
	producers_free(p);
	trace_free(t);
}

/* In a window the pieces inside count, and the wait belongs to it when it starts there. */
static void test_producers_window(void **state)
{
	struct incore_error e = {0};
	struct trace *t = make_trace();
	struct producers *p = producers_new(t, 0, &e);
	struct selection s = {.has_from = true, .from_cyc = 50, .has_to = true, .to_cyc = 150};

	(void)state;
	walk(t, producers_collector(p), &s);
	assert_true(producers_finish(p, &e));
	assert_int_equal(cycles_of(&p->blocking, "SMEM"), 50);
	assert_int_equal(cycles_of(&p->blocking, "VMEM-load"), 38);
	assert_int_equal(p->n_waits, 1);
	producers_free(p);
	trace_free(t);
}

static const struct latency_row *latency_of(const struct latency *l, const char *opcode)
{
	for (size_t i = 0; i < l->rows.n; i++)
		if (!strcmp(l->trace->opcodes[l->rows.v[i].opcode], opcode))
			return &l->rows.v[i];
	return NULL;
}

static void test_latency_rows(void **state)
{
	struct incore_error e = {0};
	struct trace *t = make_trace();
	struct latency *l = latency_new(t, &e);
	const struct latency_row *r;

	(void)state;
	walk(t, latency_collector(l), NULL);
	assert_true(latency_finish(l, &e));
	r = latency_of(l, "s_load_dwordx2");
	assert_non_null(r);
	assert_int_equal(r->all.n, 2);
	assert_int_equal(r->n_exact, 1);
	assert_int_equal(r->n_bound, 1);
	assert_int_equal(r->exact.max, 100);
	assert_int_equal(r->distance.median, 1);
	r = latency_of(l, "buffer_load_dword");
	assert_int_equal(r->all.n, 2);
	assert_int_equal(r->n_exact, 1); /* the other waited with LDS: an upper bound */
	assert_int_equal(r->all.min, 44);
	assert_int_equal(r->all.max, 104);
	assert_int_equal(r->in_flight.max, 1);
	latency_free(l);
	trace_free(t);
}

static void test_histogram_quantiles(void **state)
{
	struct incore_error e = {0};
	struct histograms h = {0};
	struct distribution d;

	(void)state;
	for (uint64_t v = 1; v <= 100; v++)
		assert_true(histograms_add(&h, 1, v * 4, 1));
	assert_true(histograms_add(&h, 0, UINT64_MAX, 3));
	assert_true(histograms_seal(&h, 3, &e));
	d = histograms_get(&h, 1);
	assert_int_equal(d.n, 100);
	assert_int_equal(d.min, 4);
	assert_int_equal(d.median, 51 * 4);
	assert_int_equal(d.p95, 96 * 4);
	assert_int_equal(d.max, 400);
	d = histograms_get(&h, 0);
	assert_int_equal(d.n, 3);
	assert_int_equal(d.max, HISTOGRAM_MAX_VALUE);
	d = histograms_get(&h, 2);
	assert_int_equal(d.n, 0);
	histograms_deinit(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_producers_blocking),
		cmocka_unit_test(test_producers_edges),
		cmocka_unit_test(test_producers_window),
		cmocka_unit_test(test_latency_rows),
		cmocka_unit_test(test_histogram_quantiles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
