/* SPDX-License-Identifier: Apache-2.0 */
/* test_model_findings.c: what is found wrong, and that nothing is where nothing is. */
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
	return !profile_load(&prof, "910b1", ARCH_A2A3, NULL);
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

static void drop(struct opstream_set *set, struct timed *t)
{
	timed_deinit(t);
	opstream_set_deinit(set);
}

static const struct model_finding *only(const struct timed *t, enum finding_kind kind)
{
	if (t->findings.n != 1)
		for (size_t i = 0; i < t->findings.n; i++)
			print_message("%s\n", t->findings.v[i].note.message);
	assert_int_equal(t->findings.n, 1);
	assert_int_equal(t->findings.v[0].kind, kind);
	assert_non_null(t->findings.v[0].note.message);
	return &t->findings.v[0];
}

/* Two iterations of load, add, store on one buffer; `without` leaves one flag pair out. */
enum pair { PAIR_NONE, PAIR_LOAD_ADD, PAIR_ADD_STORE, PAIR_ADD_LOAD, PAIR_STORE_ADD };

static void pair(struct opstream *s, uint32_t line, enum op_pipe a, enum op_pipe b, bool on)
{
	if (!on)
		return;
	ms_set(s, line, a, b, 0);
	ms_wait(s, line + 1, a, b, 0);
}

static void loop(struct opstream *s, enum pair without)
{
	for (int i = 0; i < 2; i++) {
		if (i)
			pair(s, 10, OPP_V, OPP_MTE2, without != PAIR_ADD_LOAD);
		ms_load(s, 20, 32, 128, 0, 0);
		pair(s, 30, OPP_MTE2, OPP_V, without != PAIR_LOAD_ADD);
		if (i)
			pair(s, 40, OPP_MTE3, OPP_V, without != PAIR_STORE_ADD);
		ms_vec(s, 50, "TADD", 32, 128, (uint64_t[]){0x4000, 0, 0});
		pair(s, 60, OPP_V, OPP_MTE3, without != PAIR_ADD_STORE);
		ms_store(s, 70, 32, 128, 0x4000, 1);
	}
}

static void test_race_each_pair(void **state)
{
	static const struct {
		enum pair without;
		size_t n;
		const char *hazard;
		uint32_t a, b; /* seq */
		const char *missing;
	} cases[] = {
		{PAIR_NONE, 0, NULL, 0, 0, NULL},
		{PAIR_LOAD_ADD, 2, "RAW", 0, 1, "set_flag(PIPE_MTE2, PIPE_V)"},
		{PAIR_ADD_LOAD, 1, "WAR", 3, 7, "set_flag(PIPE_V, PIPE_MTE2)"},
		{PAIR_ADD_STORE, 2, "RAW", 3, 4, "set_flag(PIPE_V, PIPE_MTE3)"},
		{PAIR_STORE_ADD, 1, "WAR", 6, 12, "set_flag(PIPE_MTE3, PIPE_V)"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct opstream_set set;
		struct timed t;
		const struct model_finding *f;

		opstream_set_init(&set);
		loop(ms_new(&set, CORE_AIV, 0), cases[i].without);
		run(&set, &t);
		if (cases[i].n == 0)
			assert_int_equal(t.findings.n, 0);
		f = t.findings.v;
		if (cases[i].n) {
			assert_true(t.findings.n >= 1);
			assert_int_equal(f->kind, FIND_RACE);
			assert_string_equal(f->hazard, cases[i].hazard);
			assert_int_equal(f->a.op, cases[i].a);
			assert_int_equal(f->b.op, cases[i].b);
			assert_non_null(strstr(f->missing, cases[i].missing));
			assert_string_equal(f->buffer, "UB of aiv0");
			assert_int_equal(f->end_byte - f->first_byte, 8192);
		}
		drop(&set, &t);
	}
}

/* Left halves and right halves of the same rows do not touch. */
static void test_race_strided_tiles(void **state)
{
	for (int shared = 0; shared < 2; shared++) {
		struct opstream_set set;
		struct opstream *s;
		struct op_desc d;
		struct timed t;

		(void)state;
		opstream_set_init(&set);
		s = ms_new(&set, CORE_AIV, 0);
		d = op_desc_of(OPK_OP, OPP_V, "TEXPANDS", 1);
		OPND_VCOL(op_desc_tile(&d, ROLE_DST, DT_F16, 16, 128, 0)) = 64;
		ms_push(s, &d);
		d = op_desc_of(OPK_OP, OPP_MTE2, "TLOAD", 2);
		OPND_VCOL(op_desc_tile(&d, ROLE_DST, DT_F16, 16, 128, shared ? 126 : 128)) = 64;
		op_desc_gm(&d, ROLE_SRC, DT_F16, (uint32_t[]){1, 1, 1, 16, 64}, 0, 0);
		ms_push(s, &d);
		run(&set, &t);
		if (shared) {
			const struct model_finding *f = only(&t, FIND_RACE);

			assert_string_equal(f->hazard, "WAW");
			assert_int_equal(f->first_byte, 126);
		} else {
			assert_int_equal(t.findings.n, 0);
		}
		drop(&set, &t);
	}
}

static void test_race_scalar(void **state)
{
	for (int ordered = 0; ordered < 2; ordered++) {
		struct opstream_set set;
		struct opstream *s;
		struct op_desc d;
		struct timed t;

		(void)state;
		opstream_set_init(&set);
		s = ms_new(&set, CORE_AIV, 0);
		d = op_desc_of(OPK_SETV, OPP_S, "SetValue", 1);
		op_desc_tile(&d, ROLE_DST, DT_F16, 1, 128, 0);
		ms_push(s, &d);
		/* issue orders it behind the scalar */
		ms_vec(s, 2, "TADD", 1, 128, (uint64_t[]){0x1000, 0, 0});
		if (ordered) {
			ms_set(s, 3, OPP_V, OPP_S, 0);
			ms_wait(s, 4, OPP_V, OPP_S, 0);
		}
		d.line = 5;
		ms_push(s, &d);
		run(&set, &t);
		if (ordered)
			assert_int_equal(t.findings.n, 0);
		else
			assert_string_equal(only(&t, FIND_RACE)->hazard, "WAR");
		drop(&set, &t);
	}
}

/*
 * V stands at a wait while the scalar goes on. What was issued to V behind the scalar's store comes
 * after it; so does what was issued before, because the set that lets V go on was issued behind it.
 */
static void test_race_issue_while_blocked(void **state)
{
	for (int before = 0; before < 2; before++) {
		struct opstream_set set;
		struct opstream *s;
		struct op_desc d;
		struct timed t;

		(void)state;
		opstream_set_init(&set);
		s = ms_new(&set, CORE_AIV, 0);
		ms_wait(s, 1, OPP_MTE2, OPP_V, 0);
		if (before)
			ms_vec(s, 2, "TADD", 1, 128, (uint64_t[]){0x1000, 0, 0});
		d = op_desc_of(OPK_SETV, OPP_S, "SetValue", 3);
		op_desc_tile(&d, ROLE_DST, DT_F16, 1, 128, 0);
		ms_push(s, &d);
		if (!before)
			ms_vec(s, 4, "TADD", 1, 128, (uint64_t[]){0x1000, 0, 0});
		ms_load(s, 5, 1, 128, 0x8000, 0);
		ms_set(s, 6, OPP_MTE2, OPP_V, 0);
		run(&set, &t);
		assert_int_equal(t.findings.n, 0);
		drop(&set, &t);
	}
}

/* A flag orders what its pipe did before, over two hops; what comes after the set it does not. */
static void test_race_transitive(void **state)
{
	for (int late = 0; late < 2; late++) {
		struct opstream_set set;
		struct opstream *s;
		struct timed t;

		(void)state;
		opstream_set_init(&set);
		s = ms_new(&set, CORE_AIV, 0);
		if (!late)
			ms_load(s, 1, 1, 128, 0, 0);
		ms_set(s, 2, OPP_MTE2, OPP_V, 0);
		if (late)
			ms_load(s, 3, 1, 128, 0, 0);
		ms_wait(s, 4, OPP_MTE2, OPP_V, 0);
		ms_set(s, 5, OPP_V, OPP_MTE3, 0);
		ms_wait(s, 6, OPP_V, OPP_MTE3, 0);
		ms_store(s, 7, 1, 128, 0, 1);
		run(&set, &t);
		if (late)
			assert_string_equal(only(&t, FIND_RACE)->hazard, "RAW");
		else
			assert_int_equal(t.findings.n, 0);
		drop(&set, &t);
	}
}

/* AIV stores, AIC loads the same memory; only the cross-core flag orders them. */
static void test_race_cross_core(void **state)
{
	for (int ordered = 0; ordered < 2; ordered++) {
		struct opstream_set set;
		struct opstream *s;
		struct timed t;

		(void)state;
		opstream_set_init(&set);
		s = ms_new(&set, CORE_AIC, 0);
		if (ordered)
			ms_x(s, 1, OPK_XWAIT, OPP_S, 3, 2);
		ms_load(s, 2, 32, 128, 0, 1);
		s->opnds.v[0].loc = LOC_MAT;
		s = ms_new(&set, CORE_AIV, 0);
		ms_store(s, 1, 32, 128, 0, 1);
		if (ordered)
			ms_x(s, 2, OPK_XSET, OPP_MTE3, 3, 2);
		run(&set, &t);
		if (ordered) {
			assert_int_equal(t.findings.n, 0);
		} else {
			const struct model_finding *f = only(&t, FIND_RACE);

			assert_string_equal(f->buffer, "GM slot 1");
			assert_non_null(strstr(f->missing, "cross-core"));
		}
		drop(&set, &t);
	}
}

static void add_store(struct opstream *s, uint32_t line, unsigned atomic)
{
	struct op_desc d = op_desc_of(OPK_OP, OPP_MTE3, "TSTORE", line);

	op_desc_gm(&d, ROLE_DST, DT_F16, (uint32_t[]){1, 1, 1, 32, 128}, 1, 0);
	op_desc_tile(&d, ROLE_SRC, DT_F16, 32, 128, 0);
	d.form.atomic = (uint8_t)atomic;
	ms_push(s, &d);
}

/* Adding stores of two cores may meet; a plain one may not. */
static void test_race_atomic(void **state)
{
	for (unsigned second = 0; second < 2; second++) {
		struct opstream_set set;
		struct timed t;

		(void)state;
		opstream_set_init(&set);
		add_store(ms_new(&set, CORE_AIV, 0), 1, 1);
		add_store(ms_new(&set, CORE_AIV, 1), 2, second);
		run(&set, &t);
		assert_int_equal(t.findings.n, second ? 0 : 1);
		drop(&set, &t);
	}
}

/* Each fractal of a boxed tile is 512 bytes; extracts of other columns do not touch it. */
static void test_race_boxed(void **state)
{
	for (int shared = 0; shared < 2; shared++) {
		struct opstream_set set;
		struct opstream *s;
		struct op_desc d;
		struct op_opnd *o;
		struct timed t;

		(void)state;
		opstream_set_init(&set);
		s = ms_new(&set, CORE_AIC, 0);
		d = op_desc_of(OPK_OP, OPP_MTE1, "TEXTRACT", 1);
		o = op_desc_tile(&d, ROLE_DST, DT_F16, 64, 32, 0);
		o->loc = LOC_LEFT;
		o->slayout = SL_ROW_MAJOR;
		o->fractal = 512;
		o = op_desc_tile(&d, ROLE_SRC, DT_F16, 64, 64, 0);
		o->loc = LOC_MAT;
		o->blayout = BL_COL_MAJOR;
		o->slayout = SL_ROW_MAJOR;
		o->fractal = 512;
		op_desc_scalar(&d, ROLE_ROW, 0);
		op_desc_scalar(&d, ROLE_COL, 32); /* fractal columns 2 and 3: from byte 4096 */
		ms_push(s, &d);
		ms_load(s, 2, 16, shared ? 129 : 128, 0, 0); /* 4096 bytes, or two more */
		s->opnds.v[s->opnds.n - 2].loc = LOC_MAT;
		run(&set, &t);
		assert_int_equal(t.findings.n, shared);
		if (shared)
			assert_int_equal(t.findings.v[0].first_byte, 4096);
		drop(&set, &t);
	}
}

/* Two blocks store: to the same bytes, side by side, or adding. */
static void test_blocks_share(void **state)
{
	static const struct {
		uint64_t off;
		unsigned atomic;
		size_t n;
	} cases[] = {{0, 0, 1}, {8192, 0, 0}, {0, 1, 0}, {8190, 0, 1}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct opstream_set set;
		struct timed t;

		opstream_set_init(&set);
		for (uint32_t b = 0; b < 2; b++) {
			struct opstream *s = ms_new(&set, CORE_AIV, 0);

			s->block_idx = b;
			add_store(s, 1, cases[i].atomic);
			s->words.v[0] = b * cases[i].off;
		}
		run(&set, &t);
		assert_int_equal(t.findings.n, cases[i].n);
		if (cases[i].n) {
			assert_int_equal(t.findings.v[0].kind, FIND_BLOCKS_SHARE);
			assert_string_equal(t.findings.v[0].note.code, "model-blocks-share-memory");
			assert_false(note_is_loss(&t.findings.v[0].note));
			assert_int_equal(t.findings.v[0].end_byte - t.findings.v[0].first_byte,
				cases[i].off ? 2 : 8192);
		}
		assert_true(t.is_complete);
		drop(&set, &t);
	}
}

static void test_flags_unmatched(void **state)
{
	struct opstream_set set;
	struct opstream *s;
	struct timed t;

	(void)state;
	opstream_set_init(&set);
	s = ms_new(&set, CORE_AIV, 0);
	ms_wait(s, 1, OPP_MTE2, OPP_V, 2);
	ms_vec(s, 2, "TADD", 1, 128, (uint64_t[]){0x1000, 0, 0});
	run(&set, &t);
	assert_non_null(strstr(only(&t, FIND_UNMATCHED_WAIT)->note.message,
		"missing set_flag(PIPE_MTE2, PIPE_V, EVENT_ID2)"));
	assert_false(t.is_complete);
	assert_true(t.cores.v[0].is_complete); /* the rest was timed */
	assert_int_equal(t.cores.v[0].lanes[OPP_V].n_ops, 1);
	drop(&set, &t);
}

static void test_flags_left_double_bad(void **state)
{
	struct opstream_set set;
	struct opstream *s;
	struct timed t;

	(void)state;
	opstream_set_init(&set);
	s = ms_new(&set, CORE_AIV, 0);
	ms_set(s, 1, OPP_MTE2, OPP_V, 0);
	run(&set, &t);
	assert_int_equal(only(&t, FIND_LEFT_SET)->a.op, 0);
	drop(&set, &t);

	opstream_set_init(&set);
	s = ms_new(&set, CORE_AIV, 0);
	ms_set(s, 1, OPP_MTE2, OPP_V, 0);
	ms_set(s, 2, OPP_MTE2, OPP_V, 0);
	ms_wait(s, 3, OPP_MTE2, OPP_V, 0);
	ms_wait(s, 4, OPP_MTE2, OPP_V, 0);
	run(&set, &t);
	assert_int_equal(only(&t, FIND_DOUBLE_SET)->b.op, 1);
	drop(&set, &t);

	/* V stands at its wait: the second set follows in the program and finds the flag taken */
	opstream_set_init(&set);
	s = ms_new(&set, CORE_AIV, 0);
	ms_load(s, 1, 32, 128, 0, 0);
	ms_set(s, 2, OPP_MTE2, OPP_V, 0);
	ms_wait(s, 3, OPP_MTE2, OPP_V, 0);
	ms_set(s, 4, OPP_MTE2, OPP_V, 0);
	ms_wait(s, 5, OPP_MTE2, OPP_V, 0);
	run(&set, &t);
	assert_int_equal(t.findings.n, 0);
	drop(&set, &t);

	/* V is busy: the second set runs ahead of the first wait, but follows it in the program */
	opstream_set_init(&set);
	s = ms_new(&set, CORE_AIV, 0);
	for (int i = 0; i < 8; i++)
		ms_vec(s, 1, "TADD", 160, 128, (uint64_t[]){0x10000, 0x10000, 0x10000});
	ms_load(s, 2, 1, 128, 0, 0);
	ms_set(s, 3, OPP_MTE2, OPP_V, 0);
	ms_wait(s, 4, OPP_MTE2, OPP_V, 0);
	ms_load(s, 5, 1, 128, 0x100, 0);
	ms_set(s, 6, OPP_MTE2, OPP_V, 0);
	ms_wait(s, 7, OPP_MTE2, OPP_V, 0);
	run(&set, &t);
	assert_int_equal(t.findings.n, 0);
	drop(&set, &t);

	opstream_set_init(&set);
	s = ms_new(&set, CORE_AIV, 0);
	ms_set(s, 1, OPP_MTE2, OPP_ALL, 0);
	ms_set(s, 2, OPP_MTE2, OPP_V, 8);
	run(&set, &t);
	assert_int_equal(t.findings.n, 2);
	assert_int_equal(t.findings.v[1].kind, FIND_BAD_FLAG);
	drop(&set, &t);
}

/* V waits for MTE3 before its add, MTE3 waits for that add before its store: each holds the other.
 */
static void test_deadlock(void **state)
{
	struct opstream_set set;
	struct opstream *s;
	struct timed t;
	const struct model_finding *f;

	(void)state;
	opstream_set_init(&set);
	s = ms_new(&set, CORE_AIV, 0);
	ms_wait(s, 1, OPP_MTE3, OPP_V, 0);
	ms_vec(s, 2, "TADD", 1, 128, (uint64_t[]){0x1000, 0, 0});
	ms_set(s, 3, OPP_V, OPP_MTE3, 0);
	ms_wait(s, 4, OPP_V, OPP_MTE3, 0);
	ms_store(s, 5, 1, 128, 0x1000, 1);
	ms_set(s, 6, OPP_MTE3, OPP_V, 0);
	run(&set, &t);
	f = only(&t, FIND_DEADLOCK);
	assert_false(t.is_complete);
	assert_string_equal(t.reason, "deadlock");
	assert_int_equal(f->n_lines, 3); /* V, MTE3 and the scalar at the end */
	assert_non_null(strstr(f->note.message, "aiv0 V stands at wait_flag"));
	assert_non_null(strstr(f->note.message, "aiv0 MTE3 stands at wait_flag"));
	drop(&set, &t);
}

/* The same over cores: each waits for the other's set, which stands behind its wait. */
static void test_deadlock_cross_core(void **state)
{
	struct opstream_set set;
	struct opstream *s;
	struct timed t;

	(void)state;
	opstream_set_init(&set);
	s = ms_new(&set, CORE_AIC, 0);
	ms_x(s, 1, OPK_XWAIT, OPP_S, 1, 2);
	ms_x(s, 2, OPK_XSET, OPP_MTE2, 0, 2);
	s = ms_new(&set, CORE_AIV, 0);
	ms_x(s, 1, OPK_XWAIT, OPP_S, 0, 2);
	ms_x(s, 2, OPK_XSET, OPP_MTE2, 1, 2);
	run(&set, &t);
	assert_non_null(strstr(only(&t, FIND_DEADLOCK)->note.message, "aiv0 S stands at"));
	drop(&set, &t);
}

/* Three sets, of which one lane waits for two. */
static void test_counter_left(void **state)
{
	struct opstream_set set;
	struct opstream *s;
	struct timed t;
	const struct model_finding *f;

	(void)state;
	opstream_set_init(&set);
	s = ms_new(&set, CORE_AIC, 0);
	for (uint32_t i = 0; i < 3; i++)
		ms_x(s, 1 + i, OPK_XSET, OPP_MTE2, 5, 2);
	for (uint32_t lane = 0; lane < 2; lane++) {
		s = ms_new(&set, CORE_AIV, lane);
		for (uint32_t i = 0; i < 3 - lane; i++)
			ms_x(s, 1 + i, OPK_XWAIT, OPP_S, 5, 2);
	}
	run(&set, &t);
	f = only(&t, FIND_LEFT_SET);
	assert_int_equal(f->a.op, 2);
	assert_non_null(strstr(f->note.message, "cross-core id 5"));
	assert_non_null(strstr(f->note.message, "aiv1 counts 3 sets and 2 waits"));
	drop(&set, &t);
}

/* `ahead` sets before the other side, busy with a load, looks at the first. */
static void counter_run(uint32_t ahead, struct opstream_set *set, struct timed *t)
{
	struct opstream *s;

	opstream_set_init(set);
	s = ms_new(set, CORE_AIC, 0);
	for (uint32_t i = 0; i < ahead; i++)
		ms_x(s, 1, OPK_XSET, OPP_MTE2, 4, 2);
	s = ms_new(set, CORE_AIV, 0);
	ms_load(s, 1, 160, 128, 0, 0);
	ms_barrier(s, 2, OPP_ALL);
	for (uint32_t i = 0; i < ahead; i++)
		ms_x(s, 3, OPK_XWAIT, OPP_S, 4, 2);
	run(set, t);
}

static void test_counter_full(void **state)
{
	struct opstream_set set;
	struct timed t;
	const struct model_finding *f;

	(void)state;
	counter_run(15, &set, &t);
	assert_int_equal(t.findings.n, 0);
	drop(&set, &t);
	counter_run(16, &set, &t);
	f = only(&t, FIND_COUNTER_FULL);
	assert_int_equal(f->a.op, 15);
	assert_non_null(strstr(f->note.message, "set number 16 of cross-core id 4"));
	assert_non_null(strstr(f->note.message, "aiv0 has waited 0 times"));
	drop(&set, &t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_race_each_pair),
		cmocka_unit_test(test_race_strided_tiles),
		cmocka_unit_test(test_race_scalar),
		cmocka_unit_test(test_race_issue_while_blocked),
		cmocka_unit_test(test_race_transitive),
		cmocka_unit_test(test_race_cross_core),
		cmocka_unit_test(test_race_atomic),
		cmocka_unit_test(test_race_boxed),
		cmocka_unit_test(test_blocks_share),
		cmocka_unit_test(test_flags_unmatched),
		cmocka_unit_test(test_flags_left_double_bad),
		cmocka_unit_test(test_deadlock),
		cmocka_unit_test(test_deadlock_cross_core),
		cmocka_unit_test(test_counter_left),
		cmocka_unit_test(test_counter_full),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
