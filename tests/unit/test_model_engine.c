/* SPDX-License-Identifier: Apache-2.0 */
/* test_model_engine.c: schedules worked out by hand, to the cycle. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model_streams.h"

static struct profile prof;

static int load(void **state)
{
	(void)state;
	if (!profile_load(&prof, "910b1", ARCH_A2A3, NULL))
		return 1;
	/* what these tests are about begins with the first instruction */
	prof.k[K_LAUNCH].e4 = prof.k[K_S_FETCH].e4 = prof.k[K_HBM_LAT].e4 = 0;
	return 0;
}

static int unload(void **state)
{
	(void)state;
	profile_deinit(&prof);
	return 0;
}

static void run(struct opstream_set *set, struct timed *t)
{
	struct engine_options o = {.profile = &prof, .keep_slices = true, .find_races = true};

	ms_seal(set);
	assert_true(engine_run(set, &o, t, NULL));
}

static const struct timed_slice *slice(
	const struct timed *t, unsigned core, unsigned pipe, size_t i)
{
	assert_true(i < t->cores.v[core].lanes[pipe].slices.n);
	return &t->cores.v[core].lanes[pipe].slices.v[i];
}

static void check_slice(
	const struct timed *t, unsigned pipe, size_t i, uint64_t start, uint64_t end)
{
	const struct timed_slice *s = slice(t, 0, pipe, i);

	assert_int_equal(s->start, start);
	assert_int_equal(s->start + s->dur, end);
}

static void drop(struct opstream_set *set, struct timed *t)
{
	timed_deinit(t);
	opstream_set_deinit(set);
}

/* load 8 KiB, add 4096 halves, store; flags between */
static void test_engine_vector_chain(void **state)
{
	struct opstream_set set;
	struct opstream *s;
	struct timed t;

	(void)state;
	opstream_set_init(&set);
	s = ms_new(&set, CORE_AIV, 0);
	ms_load(s, 1, 32, 128, 0, 0);
	ms_set(s, 2, OPP_MTE2, OPP_V, 0);
	ms_wait(s, 3, OPP_MTE2, OPP_V, 0);
	ms_vec(s, 4, "TADD", 32, 128, (uint64_t[]){0x4000, 0, 0});
	ms_set(s, 5, OPP_V, OPP_MTE3, 0);
	ms_wait(s, 6, OPP_V, OPP_MTE3, 0);
	ms_store(s, 7, 32, 128, 0x4000, 1);
	run(&set, &t);
	/* issued at 4; 381 to the first byte; 8192 / 64 */
	check_slice(&t, OPP_MTE2, 0, 4, 4 + 381 + 128);
	check_slice(&t, OPP_MTE2, 1, 513, 514); /* the set */
	check_slice(&t, OPP_V, 0, 8, 515);	/* the wait, issued at 8 */
	check_slice(&t, OPP_V, 1, 515, 515 + 64 + 24);
	check_slice(&t, OPP_V, 2, 603, 604);
	check_slice(&t, OPP_MTE3, 0, 16, 605);
	check_slice(&t, OPP_MTE3, 1, 605, 605 + 190 + 93); /* 8192 / 88 = 93.09 */
	assert_int_equal(t.cores.v[0].end_cyc, 888);
	assert_int_equal(t.cores.v[0].lanes[OPP_V].busy_cyc, 88);
	assert_int_equal(t.cores.v[0].lanes[OPP_V].wait_cyc, 507);
	assert_int_equal(t.links.n, 3); /* two flags, the end's barrier */
	assert_int_equal(t.links.v[0].from_slice, 1);
	assert_int_equal(t.links.v[0].to_lane, OPP_V);
	assert_int_equal(t.links.v[0].to_slice, 0);
	assert_int_equal(t.findings.n, 0);
	assert_true(t.is_complete);
	drop(&set, &t);
}

/* Two loads of 40 KiB: the second's latency is hidden behind the first's data. */
static void test_engine_dma_port(void **state)
{
	struct opstream_set set;
	struct opstream *s;
	struct timed t;

	(void)state;
	opstream_set_init(&set);
	s = ms_new(&set, CORE_AIV, 0);
	ms_load(s, 1, 160, 128, 0, 0);
	ms_load(s, 2, 160, 128, 0xa000, 0);
	run(&set, &t);
	check_slice(&t, OPP_MTE2, 0, 4, 4 + 381 + 640);
	check_slice(&t, OPP_MTE2, 1, 12, 1025 + 640); /* a gap after the first */
	assert_int_equal(t.cores.v[0].lanes[OPP_MTE2].busy_cyc, 1661);
	drop(&set, &t);
}

/* A wait may precede its set in program order: the pipe stalls, the scalar goes on. */
static void test_engine_wait_before_set(void **state)
{
	struct opstream_set set;
	struct opstream *s;
	struct timed t;

	(void)state;
	opstream_set_init(&set);
	s = ms_new(&set, CORE_AIV, 0);
	ms_wait(s, 1, OPP_MTE2, OPP_V, 3);
	ms_vec(s, 2, "TADD", 32, 128, (uint64_t[]){0x4000, 0, 0});
	ms_load(s, 3, 32, 128, 0, 0);
	ms_set(s, 4, OPP_MTE2, OPP_V, 3);
	run(&set, &t);
	check_slice(&t, OPP_MTE2, 0, 10, 10 + 381 + 128);
	check_slice(&t, OPP_V, 0, 2, 521);
	check_slice(&t, OPP_V, 1, 521, 521 + 88);
	assert_int_equal(t.findings.n, 0);
	drop(&set, &t);
}

/* The 33rd op waits for the first to complete. */
static void test_engine_queue_full(void **state)
{
	struct opstream_set set;
	struct opstream *s;
	struct timed t;

	(void)state;
	opstream_set_init(&set);
	s = ms_new(&set, CORE_AIV, 0);
	for (int i = 0; i < 33; i++)
		ms_vec(s, 1 + i, "TADD", 320, 128, (uint64_t[]){0, 0, 0});
	run(&set, &t);
	/* 640 + 24 from 4 on: done at 668; the scalar was there at 132 */
	assert_int_equal(t.cores.v[0].lanes[OPP_S].stall_cyc, 668 - 132);
	check_slice(&t, OPP_V, 1, 4 + 659, 4 + 659 + 664);
	check_slice(&t, OPP_V, 32, 4 + 32 * 659, 4 + 32 * 659 + 664);
	/* the run of issues is cut by the stall */
	check_slice(&t, OPP_S, 0, 0, 132);
	check_slice(&t, OPP_S, 1, 132, 668);
	assert_int_equal(slice(&t, 0, OPP_S, 1)->stall, 536);
	drop(&set, &t);
}

static void test_engine_barriers(void **state)
{
	struct opstream_set set;
	struct opstream *s;
	struct timed t;

	(void)state;
	opstream_set_init(&set);
	s = ms_new(&set, CORE_AIV, 0);
	ms_vec(s, 1, "TADD", 32, 128, (uint64_t[]){0, 0, 0}); /* 4 .. 92, next from 87 */
	ms_barrier(s, 2, OPP_V);
	ms_vec(s, 3, "TADD", 32, 128, (uint64_t[]){0, 0, 0});
	ms_barrier(s, 4, OPP_ALL);
	ms_load(s, 5, 32, 128, 0, 0);
	run(&set, &t);
	check_slice(&t, OPP_V, 1, 87, 92);
	check_slice(&t, OPP_V, 2, 92, 180);
	check_slice(&t, OPP_S, 1, 12, 180); /* the scalar waits for all */
	check_slice(&t, OPP_MTE2, 0, 184, 184 + 509);
	assert_int_equal(t.findings.n, 0);
	drop(&set, &t);
}

/* wait_flag(V, S): the scalar itself waits. */
static void test_engine_scalar_wait(void **state)
{
	struct opstream_set set;
	struct opstream *s;
	struct timed t;

	(void)state;
	opstream_set_init(&set);
	s = ms_new(&set, CORE_AIV, 0);
	ms_vec(s, 1, "TADD", 32, 128, (uint64_t[]){0, 0, 0});
	ms_set(s, 2, OPP_V, OPP_S, 0);
	ms_wait(s, 3, OPP_V, OPP_S, 0);
	ms_load(s, 4, 32, 128, 0, 0);
	run(&set, &t);
	check_slice(&t, OPP_MTE2, 0, 94 + 4, 98 + 509); /* 92 + 1 + 1 */
	assert_int_equal(t.findings.n, 0);
	drop(&set, &t);
}

/* AIC sets after its store, both AIVs wait; both answer, the AIC waits for the later. */
static void test_engine_cross_core(void **state)
{
	struct opstream_set set;
	struct opstream *s;
	struct timed t;

	(void)state;
	opstream_set_init(&set);
	s = ms_new(&set, CORE_AIC, 0);
	ms_load(s, 1, 32, 128, 0, 0);
	s->opnds.v[0].loc = LOC_MAT; /* 8192 / 85 = 96.4: 4 .. 481 */
	ms_x(s, 2, OPK_XSET, OPP_MTE2, 5, 2);
	ms_x(s, 3, OPK_XWAIT, OPP_S, 6, 2);
	for (uint32_t lane = 0; lane < 2; lane++) {
		s = ms_new(&set, CORE_AIV, lane);
		ms_x(s, 1, OPK_XWAIT, OPP_S, 5, 2);
		ms_vec(s, 2, "TADD", lane ? 64 : 32, 128, (uint64_t[]){0, 0, 0});
		ms_x(s, 3, OPK_XSET, OPP_V, 6, 2);
	}
	run(&set, &t);
	assert_true(t.is_complete);
	check_slice(&t, OPP_MTE2, 0, 4, 481);
	/* waits end at 481 + 1 + 1; adds from 487: 88 and 152 long */
	assert_int_equal(slice(&t, 1, OPP_V, 0)->start, 487);
	assert_int_equal(slice(&t, 2, OPP_V, 0)->dur, 152);
	assert_int_equal(t.cores.v[0].end_cyc, 487 + 152 + 2);
	assert_int_equal(t.findings.n, 0);
	drop(&set, &t);
}

/* 6 tiles through a FIFO of 4: period 2; the fifth push waits for the second pop. */
static void test_engine_fifo(void **state)
{
	static const struct op_form fifo = {.fifo_flag_id = 0,
		.fifo_dir = DIR_C2V,
		.fifo_slot_num = 4,
		.fifo_local_num = 2,
		.fifo_slot_size = 2048};
	struct opstream_set set;
	struct opstream *s;
	struct timed t;

	(void)state;
	opstream_set_init(&set);
	s = ms_new(&set, CORE_AIC, 0);
	for (uint32_t i = 0; i < 6; i++)
		ms_fifo(s, 1, OPK_PUSH, &fifo, i);
	ms_fifo(s, 2, OPK_FIFO_END, &fifo, 6);
	for (uint32_t lane = 0; lane < 2; lane++) {
		s = ms_new(&set, CORE_AIV, lane);
		for (uint32_t i = 0; i < 6; i++)
			ms_fifo(s, 1, OPK_POP, &fifo, i);
	}
	run(&set, &t);
	assert_true(t.is_complete);
	/* 16 x 64 half to GM: 164 + 16 * 4.45 = 235.2; 6 moves, 6 sets */
	assert_int_equal(t.cores.v[0].lanes[OPP_FIX].n_ops, 6);
	check_slice(&t, OPP_FIX, 0, 4, 4 + 235);
	check_slice(&t, OPP_FIX, 1, 239, 240);
	/* AIV: waits 241, load 2048 / 64: 245 + 381 + 32 */
	assert_int_equal(slice(&t, 1, OPP_MTE2, 0)->start, 245);
	assert_int_equal(slice(&t, 1, OPP_MTE2, 0)->dur, 413);
	assert_int_equal(t.cores.v[1].lanes[OPP_MTE2].n_ops, 6);
	/* 3 notices of free slots; push 4 takes one, the end waits for two */
	assert_int_equal(
		t.cores.v[0].lanes[OPP_S].slices.v[t.cores.v[0].lanes[OPP_S].slices.n - 1].part,
		PART_END);
	assert_int_equal(t.findings.n, 0);
	drop(&set, &t);
}

static void test_engine_unknown_op(void **state)
{
	struct engine_options o = {.profile = &prof};
	struct incore_error e = {0};
	struct opstream_set set;
	struct opstream *s;
	struct timed t;

	(void)state;
	opstream_set_init(&set);
	s = ms_new(&set, CORE_AIV, 0);
	ms_vec(s, 7, "TNOVEL", 32, 128, (uint64_t[]){0, 0, UINT64_MAX});
	ms_seal(&set);
	assert_false(engine_run(&set, &o, &t, &e));
	assert_int_equal(e.status, INCORE_BAD_INPUT);
	assert_non_null(strstr(e.message, "TNOVEL"));
	incore_error_clear(&e);
	o.allow_unknown = true;
	assert_true(engine_run(&set, &o, &t, NULL));
	assert_int_equal(t.n_unknown, 1);
	drop(&set, &t);
}

/* Launch, first instructions, and a memory that 24 cores share. */
static void test_engine_load(void **state)
{
	struct profile p = prof;
	struct engine_options o = {.profile = &p};
	uint16_t in_l2[OPSTREAM_SLOTS] = {0};
	struct opstream_set set;
	struct opstream *s;
	struct timed t;

	(void)state;
	opstream_set_init(&set);
	s = ms_new(&set, CORE_AIV, 0);
	ms_load(s, 1, 160, 128, 0, 0);
	ms_barrier(s, 2, OPP_MTE2);
	ms_load(s, 3, 160, 128, 0, 0); /* the same bytes once more */
	ms_seal(&set);
	p.k[K_LAUNCH].e4 = 1000 * PROF_ONE;
	p.k[K_S_FETCH].e4 = 50 * PROF_ONE;
	p.k[K_HBM_BW].e4 = 240 * PROF_ONE;
	p.k[K_L2_QUEUE].e4 = PROF_ONE / 2;
	assert_true(engine_run(&set, &o, &t, NULL));
	/* 1000 + 50 + 4, then 381 + 40960 / 64 twice; the second is issued meanwhile */
	assert_int_equal(t.cores.v[0].end_cyc, 1054 + 2 * (381 + 640));
	assert_int_equal(t.cores.v[0].memory_cyc, 640); /* the second comes from L2 */
	assert_false(t.has_load);
	timed_deinit(&t);
	/* all of them always transfer: 10 B/cyc each, 4,096 cycles; from L2 half of what that is more */
	o.others_permille = 24000;
	p.k[K_LAUNCH].e4 = p.k[K_S_FETCH].e4 = 0;
	assert_true(engine_run(&set, &o, &t, NULL));
	assert_true(t.has_load);
	assert_in_range(
		t.cores.v[0].end_cyc, 4 + 381 + 4096 + 381 + 2300, 4 + 381 + 4300 + 381 + 2500);
	timed_deinit(&t);
	o.cold_permille = in_l2;
	assert_true(engine_run(&set, &o, &t, NULL));
	assert_int_equal(t.cores.v[0].memory_cyc, 0);
	assert_in_range(t.cores.v[0].end_cyc, 4 + 2 * (381 + 2300), 4 + 2 * (381 + 2450));
	/* a memory without a limit is not shared */
	timed_deinit(&t);
	p.k[K_HBM_BW].e4 = 0;
	assert_true(engine_run(&set, &o, &t, NULL));
	assert_int_equal(t.cores.v[0].end_cyc, 4 + 2 * (381 + 640));
	drop(&set, &t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_engine_vector_chain),
		cmocka_unit_test(test_engine_dma_port),
		cmocka_unit_test(test_engine_wait_before_set),
		cmocka_unit_test(test_engine_queue_full),
		cmocka_unit_test(test_engine_barriers),
		cmocka_unit_test(test_engine_scalar_wait),
		cmocka_unit_test(test_engine_cross_core),
		cmocka_unit_test(test_engine_fifo),
		cmocka_unit_test(test_engine_unknown_op),
		cmocka_unit_test(test_engine_load),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
