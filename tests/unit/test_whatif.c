/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What if: traces whose answer is known by hand, one constraint each. Each capture replayed
 * unchanged gives its own times.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>
#include <string.h>

#include "analysis/whatif/whatif.h"
#include "mem_pipes.h"

struct change {
	const char *faster, *remove, *waves, *ahead;
};

static struct whatif_result ask(const struct mem_capture *m, struct change c)
{
	struct trace *t = mem_trace_new(m);
	struct incore_error e = {0};
	struct whatif_plan *p = whatif_plan_new(t, &e);
	const struct whatif_plan *plans[] = {p};
	struct whatif_result r = {0};

	assert_non_null(p);
	if (c.faster)
		assert_true(whatif_faster(p, c.faster, &e));
	if (c.remove)
		assert_true(whatif_remove(p, c.remove, &e));
	if (c.ahead)
		assert_true(whatif_ahead(p, c.ahead, &e));
	if (c.waves)
		assert_true(whatif_waves(p, c.waves, &e));
	assert_true(whatif_run(t, plans, 1, &(struct walk_options){0}, &r, &e));
	assert_int_equal(r.method, WHATIF_REPLAY);
	assert_int_equal(r.n_true, r.n_waves);
	assert_true(r.low_cyc <= r.after_cyc && r.after_cyc <= r.high_cyc);
	whatif_plan_free(p);
	trace_free(t);
	return r;
}

/* Cycles of a part on the path after the change, of all rows. */
static uint64_t part(const struct whatif_result *r, enum whatif_part part)
{
	uint64_t n = 0;

	EACH (const struct whatif_limit, x, r->limits.v, r->limits.n)
		n += x->part == part ? x->after_cyc : 0;
	return n;
}

static uint64_t path(const struct whatif_result *r, bool is_after)
{
	uint64_t n = 0;

	EACH (const struct whatif_limit, x, r->limits.v, r->limits.n)
		n += is_after ? x->after_cyc : x->before_cyc;
	return n;
}

/* --- a wait --- */

static const struct mem_code wait_code[] = {
	{"; k"}, {"s_load_dwordx2 s[0:1], s[2:3], 0x0", "k.py:3"}, /* 1 */
	{"s_waitcnt lgkmcnt(0)"},				   /* 2 */
	{"v_mov_b32_e32 v1, v2"},				   /* 3 */
	{"s_nop 7"},						   /* 4 */
	{"s_endpgm"},						   /* 5 */
	{"global_load_dword v1, v2, s[0:1]"},			   /* 6: never runs */
};

/* 100 load, 104 to 504 wait (400 after its issue), 504 mov, 508 to 540 nop, 540 to 556 end */
static const struct mem_record wait_records[] = {{100, 1, 0, 4, 1}, {104, 9, 396, 400, 2},
	{504, 6, 0, 4, 3}, {508, 9, 32, 32, 4}, {540, 11, 0, 16, 5}};
static const struct mem_wave wait_waves[] = {{.begin = 96, .end = 556, MEM_RECORDS(wait_records)}};
static const struct mem_capture wait_capture = {MEM_CODE(wait_code), MEM_WAVES(wait_waves)};

static void test_wait(void **state)
{
	static const struct {
		struct change c;
		uint64_t after;
	} cases[] = {
		{{.faster = "SMEM"}, 460 - 200},     /* 400 become 200 */
		{{.faster = "1=4"}, 460 - 300},	     /* the same by row */
		{{.faster = "k.py:3=4"}, 460 - 300}, /* by line */
		{{.faster = "2=4"}, 460 - 300},	     /* the wait itself: what it is for */
		{{.faster = "smem=inf"}, 460 - 396}, /* the wait's floor is left */
		{{.remove = "WAIT"}, 460 - 400},
		{{.remove = "4"}, 460 - 32},
		{{.faster = "NOP=2"}, 460 - 16},
		{{.faster = "VALU=0.5"}, 460 + 4},
		{{.faster = "6"}, 460},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct whatif_result r = ask(&wait_capture, cases[i].c);

		assert_int_equal(r.before_cyc, 460);
		assert_int_equal(r.after_cyc, cases[i].after);
		assert_int_equal(path(&r, false), 460);
		assert_int_equal(path(&r, true), cases[i].after);
		assert_int_equal(r.does_nothing, cases[i].after == 460);
		whatif_result_deinit(&r);
	}
}

static void test_path(void **state)
{
	struct whatif_result r = ask(&wait_capture, (struct change){.faster = "SMEM"});

	(void)state;
	assert_int_equal(r.limits.v[0].part, PART_LATENCY);
	assert_int_equal(r.limits.v[0].code, 1);
	assert_int_equal(r.limits.v[0].before_cyc, 400);
	assert_int_equal(r.limits.v[0].after_cyc, 200);
	assert_int_equal(part(&r, PART_STALL), 32); /* the nop */
	assert_int_equal(part(&r, PART_ISSUE), 4 + 4);
	whatif_result_deinit(&r);
}

/* --- memory that all share --- */

static const struct mem_code load_code[] = {
	{"; k"}, {"s_nop 0"},		      /* 1 */
	{"global_load_dword v1, v2, s[0:1]"}, /* 2 */
	{"s_waitcnt vmcnt(0)"},		      /* 3 */
	{"s_endpgm"},			      /* 4 */
};
static const struct mem_record load_records[] = {
	{100, 9, 100, 100, 1}, {200, 4, 0, 4, 2}, {204, 9, 496, 496, 3}, {700, 11, 0, 16, 4}};
static const struct mem_wave load_waves[] = {{.begin = 100, .end = 716, MEM_RECORDS(load_records)}};
static const struct mem_capture load_capture = {MEM_CODE(load_code), MEM_WAVES(load_waves)};

/* Asked earlier, it comes earlier, or not at all: nothing speaks of a queue here. */
static void test_bounds(void **state)
{
	struct whatif_result r = ask(&load_capture, (struct change){.remove = "NOP"});

	(void)state;
	assert_int_equal(r.after_cyc, 516);
	assert_int_equal(r.low_cyc, 516 - 8); /* a per cent of 616, and two of what is gained */
	assert_int_equal(r.high_cyc, 616 + 8);
	whatif_result_deinit(&r);
}

/* --- a loop: results that are asked for earlier --- */

static const struct mem_code loop_code[] = {{"; k"}, {"ds_read_b32 v1, v2"}, /* 1 */
	{"s_waitcnt lgkmcnt(0)"}, {"v_exp_f32_e32 v3, v1"},		     /* 2, 3 */
	{"s_endpgm"}};
/* three times: 4 for the load, 100 from its issue to the end of the wait, 40 of work */
static const struct mem_record loop_records[] = {{100, 5, 0, 4, 1}, {104, 9, 96, 96, 2},
	{200, 6, 0, 40, 3}, {240, 5, 0, 4, 1}, {244, 9, 96, 96, 2}, {340, 6, 0, 40, 3},
	{380, 5, 0, 4, 1}, {384, 9, 96, 96, 2}, {480, 6, 0, 40, 3}, {520, 11, 0, 4, 4}};
static const struct mem_wave loop_waves[] = {{.begin = 100, .end = 524, MEM_RECORDS(loop_records)}};
static const struct mem_capture loop_capture = {MEM_CODE(loop_code), MEM_WAVES(loop_waves)};

static void test_ahead(void **state)
{
	struct whatif_result r = ask(&loop_capture, (struct change){.ahead = "LDS"});

	(void)state;
	/* the second comes at 200, long before its wait at 244; the third at 340, asked at 240 */
	assert_int_equal(r.before_cyc, 424);
	assert_int_equal(r.after_cyc, 380 + 4 - 100);
	whatif_result_deinit(&r);
	r = ask(&loop_capture,
		(struct change){.ahead = "2=2"}); /* by the wait: all that it is for */
	assert_int_equal(r.after_cyc, 140 + 48 + 48 + 4);
	whatif_result_deinit(&r);
}

/* --- a barrier --- */

static const struct mem_code barrier_code[] = {{"; k"}, {"v_exp_f32_e32 v1, v2"}, /* 1 */
	{"v_mov_b32_e32 v1, v2"},						  /* 2 */
	{"s_barrier"}, {"s_endpgm"}};
static const struct mem_record slow_records[] = {
	{100, 6, 0, 200, 1}, {300, 9, 8, 8, 3}, {308, 11, 0, 4, 4}};
static const struct mem_record quick_records[] = {
	{100, 6, 0, 40, 2}, {140, 9, 168, 168, 3}, {308, 11, 0, 4, 4}};
static const struct mem_wave barrier_waves[] = {
	{.simd = 0, .begin = 100, .end = 312, MEM_RECORDS(slow_records)},
	{.simd = 1, .begin = 100, .end = 312, MEM_RECORDS(quick_records)}};
static const struct mem_capture barrier_capture = {
	MEM_CODE(barrier_code), MEM_WAVES(barrier_waves)};

static void test_barrier(void **state)
{
	static const struct {
		struct change c;
		uint64_t after;
	} cases[] = {
		{{.faster = "1=2"}, 112},     /* both leave 100 earlier */
		{{.faster = "1=10"}, 52},     /* now the other one comes last, at 40 */
		{{.faster = "2=10"}, 212},    /* who waits anyway gains nothing */
		{{.remove = "BARRIER"}, 204}, /* 200 and 4 */
		{{.faster = "2=0.1"}, 412},   /* at 400, and 12 */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct whatif_result r = ask(&barrier_capture, cases[i].c);

		assert_int_equal(r.before_cyc, 212);
		assert_int_equal(r.after_cyc, cases[i].after);
		assert_int_equal(path(&r, true), cases[i].after);
		whatif_result_deinit(&r);
	}
}

/* --- one pipe, two waves --- */

static const struct mem_code port_code[] = {
	{"; k"}, {"v_exp_f32_e32 v1, v2"}, {"v_log_f32_e32 v1, v2"}, {"s_endpgm"}};
static const struct mem_record first_records[] = {{100, 6, 0, 100, 1}, {200, 11, 0, 4, 3}};
static const struct mem_record second_records[] = {{120, 6, 80, 120, 2}, {240, 11, 0, 4, 3}};
static const struct mem_wave port_waves[] = {
	{.slot = 0, .begin = 100, .end = 204, MEM_RECORDS(first_records)},
	{.slot = 1, .begin = 120, .end = 244, MEM_RECORDS(second_records)}};
static const struct mem_capture port_capture = {MEM_CODE(port_code), MEM_WAVES(port_waves)};

static void test_port(void **state)
{
	static const struct {
		const char *faster;
		uint64_t after, other;
	} cases[] = {
		{"1=2", 96, 32}, /* the pipe is free at 152: 50 cycles are 52 by the clock */
		{"1=10", 64, 0}, /* at 112, before the second one comes */
		{"1=0.5", 244, 180},
		{"2=2", 124, 80},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct whatif_result r =
			ask(&port_capture, (struct change){.faster = cases[i].faster});

		assert_int_equal(r.before_cyc, 144);
		assert_int_equal(r.after_cyc, cases[i].after);
		assert_int_equal(part(&r, PART_OTHER), cases[i].other);
		whatif_result_deinit(&r);
	}
}

/* --- slots --- */

static const struct mem_record one_records[] = {{100, 6, 0, 100, 1}, {200, 11, 0, 4, 3}};
static const struct mem_record two_records[] = {{220, 6, 0, 100, 2}, {320, 11, 0, 4, 3}};
static const struct mem_wave slot_waves[] = {
	{.slot = 0, .wave = 0, .begin = 100, .end = 204, MEM_RECORDS(one_records)},
	{.slot = 0, .wave = 1, .begin = 220, .end = 324, MEM_RECORDS(two_records)}};
static const struct mem_capture slot_capture = {MEM_CODE(port_code), MEM_WAVES(slot_waves)};

static void test_slots(void **state)
{
	struct whatif_result r = ask(&slot_capture, (struct change){.faster = "1=2"});

	(void)state;
	assert_int_equal(r.before_cyc, 224);
	assert_int_equal(r.after_cyc, 176); /* the second wave begins 48 earlier */
	whatif_result_deinit(&r);
	r = ask(&slot_capture, (struct change){.waves = "+1"});
	assert_int_equal(r.after_cyc, 204); /* both begin at once and share the pipe: 100, 100, 4 */
	whatif_result_deinit(&r);
	r = ask(&slot_capture, (struct change){.waves = "-1"});
	assert_int_equal(r.after_cyc, 224); /* there is one anyway */
	whatif_result_deinit(&r);
}

/* --- pipes --- */

static const struct mem_slice cube[] = {
	{0, 103, 0, "WAIT_FLAG PIPE:MTE2,TRIGGERPIPE:M,FLAGID:0,", NULL},
	{103, 40, 0, "MMAD", NULL}};
static const struct mem_slice mte2[] = {{0, 100, 0, "MOV_OUT_TO_L1 a", NULL},
	{100, 1, 0, "SET_FLAG PIPE:MTE2,TRIGGERPIPE:M,FLAGID:0,", NULL}};
static const struct mem_pipe two_pipes[] = {
	{"core0.cubecore0/CUBE", MEM_SLICES(cube)}, {"core0.cubecore0/MTE2", MEM_SLICES(mte2)}};
static const struct link flag[] = {{1, 0, 1, 0, LINK_FLAG}};

static void test_pipes(void **state)
{
	static const struct {
		const char *faster, *remove;
		uint64_t after;
	} cases[] = {{"MTE", NULL, 93}, {"CUBE", NULL, 123}, {NULL, "FLAG-wait", 101},
		{"MTE=0.5", NULL, 243}};
	struct trace *t = mem_pipes_new(&(struct mem_pipes){MEM_PIPES(two_pipes), MEM_LINKS(flag)});
	struct incore_error e = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct whatif_plan *p = whatif_plan_new(t, &e);
		const struct whatif_plan *plans[] = {p};
		struct whatif_result r = {0};

		assert_true(cases[i].faster ? whatif_faster(p, cases[i].faster, &e)
					    : whatif_remove(p, cases[i].remove, &e));
		assert_true(whatif_run(t, plans, 1, &(struct walk_options){0}, &r, &e));
		assert_int_equal(r.method, WHATIF_PIPES);
		assert_int_equal(r.n_true, 2);
		assert_int_equal(r.before_cyc, 143);
		assert_int_equal(r.after_cyc, cases[i].after);
		assert_int_equal(path(&r, true), cases[i].after);
		whatif_result_deinit(&r);
		whatif_plan_free(p);
	}
	trace_free(t);
}

/* --- what is said wrongly --- */

static void test_targets(void **state)
{
	static const char *const bad[] = {
		"", "99", "no.py:1", "VMEMM", "1=0", "1=x", "1=-2", "1=", "=2", "NOP=1e9", "ROW"};
	struct trace *t = mem_trace_new(&wait_capture);
	struct incore_error e = {0};
	struct whatif_plan *p = whatif_plan_new(t, &e);

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_false(whatif_faster(p, bad[i], &e));
		assert_int_equal(e.status, INCORE_USAGE);
		incore_error_clear(&e);
	}
	assert_false(whatif_waves(p, "many", &e));
	incore_error_clear(&e);
	assert_false(whatif_remove(p, "0", &e)); /* a label */
	incore_error_clear(&e);
	assert_int_equal(p->n_rows, 0);
	assert_true(whatif_faster(p, "MEMORY=1.5", &e));
	assert_int_equal(p->rows[1].faster_milli, 1500);
	assert_int_equal(p->n_rows, 2);
	whatif_plan_free(p);
	trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wait),
		cmocka_unit_test(test_path),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_ahead),
		cmocka_unit_test(test_barrier),
		cmocka_unit_test(test_port),
		cmocka_unit_test(test_slots),
		cmocka_unit_test(test_pipes),
		cmocka_unit_test(test_targets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
