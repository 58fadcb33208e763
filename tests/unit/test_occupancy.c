/* SPDX-License-Identifier: Apache-2.0 */
/* test_occupancy.c: waves over time, and the predicted limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/occupancy/limits.h"
#include "analysis/occupancy/occupancy.h"
#include "mem_trace.h"

static const struct mem_code code[] = {{.text = "; k"}, {.text = "v_mov_b32 v[0:246], v1"},
	{.text = "ds_bpermute_b32 v0, v1, v2"}, {.text = "s_endpgm"}};
static const int64_t offsets[] = {0, 100};

static struct trace *make(void)
{
	struct trace *t = mem_trace_new(
		&(struct mem_capture){MEM_CODE(code), .se_offsets = offsets, .n_se_offsets = 2});

	t->meta.target_cu = 1;
	return t;
}

/* SE 0: CU 1 SIMD 0 holds 100-200, then 200-300 in the same slot; CU 2: 150-400. SE 1 is 100
 * behind. */
static struct occupancy_event events[] = {
	{.time_cyc = 100, .clock = 0, .cu = 1, .is_start = 1, .kernel_id = 1},
	{.time_cyc = 150, .clock = 0, .cu = 2, .simd = 3, .is_start = 1, .kernel_id = 2},
	{.time_cyc = 200, .clock = 0, .cu = 1, .is_start = 1, .kernel_id = 1},
	{.time_cyc = 200, .clock = 0, .cu = 1, .is_start = 0, .kernel_id = 1},
	{.time_cyc = 300, .clock = 0, .cu = 1, .is_start = 0, .kernel_id = 1},
	{.time_cyc = 400, .clock = 0, .cu = 2, .simd = 3, .is_start = 0, .kernel_id = 2},
	{.time_cyc = 0, .clock = 1, .cu = 1, .is_start = 1, .kernel_id = 7},
	{.time_cyc = 100, .clock = 1, .cu = 1, .is_start = 0, .kernel_id = 7},
};
/* The first is AMD's word for no kernel. */
static struct kernel_name names[] = {{0, "0 / 0x0"}, {1, "k"}, {2, "k"}, {3, "idle"}};

static void give(struct trace *t, struct occupancy_event *v, uint32_t n)
{
	t->occupancy = v;
	t->n_occupancy = n;
	t->kernel_names = names;
	t->n_kernel_names = MEM_COUNT(names);
}

static void test_occupancy_sweep(void **state)
{
	struct trace *t = make();
	struct occupancy_options options = {.n_bins = 3};
	struct occupancy o;

	(void)state;
	give(t, events, MEM_COUNT(events));
	assert_true(occupancy_compute(&o, t, &options, NULL));
	assert_int_equal(o.span_cyc, 300);
	assert_int_equal(o.all.peak, 3);      /* 150 to 200: all three */
	assert_int_equal(o.peak_per_simd, 1); /* the end at 200 comes before the start at 200 */
	assert_int_equal(o.all.wave_cyc, 100 + 100 + 250 + 100);
	assert_int_equal(o.below_half_cyc, 100); /* 300 to 400: one wave, 1 * 2 < 3 */
	assert_int_equal(o.tail_cyc, 100);	 /* nothing starts after the end at 300 */
	assert_int_equal(o.n_ses, 2);
	assert_int_equal(o.ses[0].n_cus, 2);
	assert_int_equal(o.ses[0].stats.events, 6);
	assert_int_equal(o.ses[0].stats.peak, 2);
	assert_int_equal(o.ses[0].target_cu_starts, 2);
	assert_int_equal(o.n_cus, 3);
	assert_true(o.cus[0].is_target);
	assert_int_equal(o.cus[1].stats.wave_cyc, 250);
	assert_int_equal(o.n_simds, 3);
	assert_int_equal(o.simds[1].simd, 3);
	assert_int_equal(o.simds[2].se, 1);
	assert_int_equal(o.n_kernel_ids, 4);
	assert_int_equal(o.n_kernels, 3); /* k, the unnamed 7, the one without waves */
	assert_string_equal(o.kernels[0].name, "k");
	assert_int_equal(o.kernels[0].n_ids, 2);
	assert_string_equal(o.kernels[1].name, "id 7");
	assert_int_equal(o.bin_wave_cyc[0] + o.bin_wave_cyc[1] + o.bin_wave_cyc[2], 550);
	assert_int_equal(o.bin_wave_cyc[2], 100);
	assert_int_equal(o.bin_se_wave_cyc[3], 100);
	occupancy_deinit(&o);
	t->n_occupancy = 0;
	trace_free(t);
}

static void test_occupancy_selection(void **state)
{
	struct trace *t = make();
	struct selection sel = {.has_from = true, .from_cyc = 160, .has_to = true, .to_cyc = 260};
	struct occupancy_options options = {.selection = &sel};
	struct occupancy o;

	(void)state;
	give(t, events, MEM_COUNT(events));
	assert_true(number_set_parse(&sel.level[0], str_of("0"), "--se", NULL));
	assert_true(occupancy_compute(&o, t, &options, NULL));
	assert_int_equal(o.n_ses, 1);
	assert_int_equal(o.span_cyc, 100);
	assert_int_equal(o.all.wave_cyc, 200);
	assert_int_equal(o.all.peak, 2);
	assert_int_equal(o.all.starts, 1);
	occupancy_deinit(&o);
	selection_deinit(&sel);
	t->n_occupancy = 0;
	trace_free(t);
}

/* Ends without starts never make a count negative; starts without ends stay. */
/* Waves that start at once and end at once have no tail, however long they run. */
static void test_occupancy_tail(void **state)
{
	static struct occupancy_event once[] = {
		{.time_cyc = 100, .cu = 1, .is_start = 1, .kernel_id = 1},
		{.time_cyc = 100, .cu = 2, .is_start = 1, .kernel_id = 1},
		{.time_cyc = 2100, .cu = 1, .is_start = 0, .kernel_id = 1},
		{.time_cyc = 2104, .cu = 2, .is_start = 0, .kernel_id = 1},
	};
	struct trace *t = make();
	struct occupancy o;

	(void)state;
	give(t, once, MEM_COUNT(once));
	assert_true(occupancy_compute(&o, t, NULL, NULL));
	assert_int_equal(o.span_cyc, 2004);
	assert_int_equal(o.tail_cyc, 4);
	occupancy_deinit(&o);
	give(t, once, 2); /* none of them ended: nothing drains */
	assert_true(occupancy_compute(&o, t, NULL, NULL));
	assert_int_equal(o.tail_cyc, 0);
	occupancy_deinit(&o);
	t->n_occupancy = 0;
	trace_free(t);
}

static void test_occupancy_damage(void **state)
{
	static struct occupancy_event bad[] = {
		{.time_cyc = 50, .clock = 0, .is_start = 0},
		{.time_cyc = 100, .clock = 0, .is_start = 1},
		{.time_cyc = 200, .clock = 0, .cu = 3, .is_start = 1},
		{.time_cyc = 300, .clock = 0, .cu = 3, .is_start = 0},
	};
	struct trace *t = make();
	struct occupancy o;

	(void)state;
	give(t, bad, MEM_COUNT(bad));
	assert_true(occupancy_compute(&o, t, NULL, NULL));
	assert_int_equal(o.all.unmatched_ends, 1);
	assert_int_equal(o.all.open, 1);
	assert_int_equal(o.all.peak, 2);
	assert_int_equal(o.span_cyc, 200);
	assert_int_equal(o.all.wave_cyc, 300);
	occupancy_deinit(&o);
	t->n_occupancy = 0;
	trace_free(t);
}

static void test_occupancy_from_tracks(void **state)
{
	static const struct mem_record rec[] = {{100, 11, 0, 20, 3}};
	static const struct mem_wave waves[] = {
		{.cu = 1, .begin = 100, .end = 120, MEM_RECORDS(rec)},
		{.cu = 1, .slot = 1, .begin = 110, .end = 120, MEM_RECORDS(rec)}};
	struct trace *t = mem_trace_new(&(struct mem_capture){MEM_CODE(code), MEM_WAVES(waves)});
	struct occupancy o;

	(void)state;
	assert_true(occupancy_compute(&o, t, NULL, NULL));
	assert_true(o.is_from_tracks);
	assert_int_equal(o.all.peak, 2);
	assert_int_equal(o.peak_per_simd, 2);
	assert_int_equal(o.all.wave_cyc, 30);
	assert_int_equal(o.traced_waves, 2);
	occupancy_deinit(&o);
	trace_free(t);
}

static void test_occupancy_nothing(void **state)
{
	struct trace *t = make();
	struct occupancy_options options = {.n_bins = 10};
	struct strbuf sb = {0};
	struct occupancy o;

	(void)state;
	assert_true(occupancy_compute(&o, t, &options, NULL));
	assert_int_equal(o.span_cyc, 0);
	assert_true(occupancy_mean(&o) == 0);
	assert_true(occupancy_put_coverage(&o, &sb));
	sb_free(&sb);
	occupancy_deinit(&o);
	trace_free(t);
}

static void test_occupancy_limits(void **state)
{
	struct trace *t = make();
	struct strbuf sb = {0};
	struct limits l;

	(void)state;
	t->meta.launch.workgroup[0] = 256;
	t->meta.launch.workgroup[1] = t->meta.launch.workgroup[2] = 1;
	t->meta.launch.lds_bytes = 0;
	t->meta.launch.waves = 4096;
	limits_compute(t, &l);
	assert_int_equal(l.arch_vgprs, 248);
	assert_int_equal(l.by[LIMIT_VGPR].waves, 2);
	assert_int_equal(l.by[LIMIT_LDS].state, LIMIT_NONE); /* cross-lane needs none */
	assert_int_equal(l.by[LIMIT_GRID].waves, 4);
	assert_int_equal(l.predicted, 2);
	assert_int_equal(l.limiter, LIMIT_VGPR);
	assert_true(l.is_assumed);
	assert_true(limits_put_next_step(&l, &sb));
	assert_string_equal(sb.p, "3 waves need <= 168 VGPRs (now 248)");

	t->meta.launch.lds_bytes = 100000; /* one workgroup of four waves a CU */
	limits_compute(t, &l);
	assert_int_equal(l.by[LIMIT_LDS].waves, 1);
	assert_int_equal(l.limiter, LIMIT_LDS);
	assert_int_equal(limits_lds_for(&l, 2), 81920);

	t->code[2].inst_class = CLASS_LDS; /* a stated 0 beside real LDS access is no statement */
	t->meta.launch.lds_bytes = 0;
	limits_compute(t, &l);
	assert_int_equal(l.by[LIMIT_LDS].state, LIMIT_UNKNOWN);
	assert_true(l.is_upper_bound);

	t->meta.arch = NULL;
	t->meta.gfx_major = 0;
	t->meta.launch.waves = NO_VALUE;
	limits_compute(t, &l);
	assert_false(l.is_known);
	sb_reset(&sb);
	assert_false(limits_put_next_step(&l, &sb));
	assert_true(limits_put_sentence(&l, &sb));
	sb_free(&sb);
	trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_occupancy_sweep),
		cmocka_unit_test(test_occupancy_selection),
		cmocka_unit_test(test_occupancy_tail),
		cmocka_unit_test(test_occupancy_damage),
		cmocka_unit_test(test_occupancy_from_tracks),
		cmocka_unit_test(test_occupancy_nothing),
		cmocka_unit_test(test_occupancy_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
