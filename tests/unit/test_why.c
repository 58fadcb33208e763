/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of causes: streams with a planted cause, one rule each (without the rule the cycles are
 * unknown and the case fails), and conservation on random traces.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>
#include <string.h>

#include "analysis/code/samples.h"
#include "mem_trace.h"

struct asked {
	struct trace *t;
	struct busy *busy;
	struct causes *causes;
	struct why *why;
};

static struct asked ask_with(struct trace *t, const struct walk_options *o)
{
	struct asked x = {.t = t};
	struct incore_error e = {0};
	struct collector c;
	const struct collector *list[] = {&c};
	struct walk_result r;

	x.busy = busy_new(t, &e);
	assert_non_null(x.busy);
	assert_true(busy_walk(x.busy, o, &e));
	x.causes = causes_new(t, x.busy, 0, &e);
	assert_non_null(x.causes);
	c = causes_collector(x.causes);
	assert_true(walk_tracks(t, o, list, 1, &r, &e));
	walk_result_deinit(&r);
	assert_true(causes_finish(x.causes, &e));
	x.why = why_new(t, x.busy, x.causes, &e);
	assert_non_null(x.why);
	assert_true(why_run(x.why, o, &e));
	assert_int_equal(x.why->residue_cyc, 0);
	return x;
}

static struct asked ask(const struct mem_capture *m)
{
	return ask_with(mem_trace_new(m), &(struct walk_options){0});
}

static void drop(struct asked *x)
{
	why_free(x->why);
	causes_free(x->causes);
	busy_free(x->busy);
	trace_free(x->t);
}

/* Cycles of a row with this verdict; of: the row to blame, or -1 for none. */
static uint64_t cycles(
	const struct asked *x, code_idx row, enum why_word word, enum why_sure sure, int of)
{
	uint64_t n = 0;

	EACH (const struct why_cell, c, x->why->cells, x->why->n_cells)
		if (c->code == row && c->word == word && c->sure == sure &&
			c->of == (of < 0 ? NO_CODE : (code_idx)of))
			n += c->cyc;
	return n;
}

/* --- the wave's own instructions, gfx9 --- */

static const struct mem_code own_code[] = {
	{"; k", NULL, 0x1000}, {"v_add_u32_e32 v1, v2, v3", NULL, 0x1004}, /* 1 */
	{"buffer_load_dword v5, v1, s[0:3], 0 offen", NULL, 0x1008},	   /* 2: reads v1 */
	{"ds_read_b32 v6, v9", NULL, 0x1010},			      /* 3: reads nothing new */
	{"v_cmp_gt_u32_e32 vcc, v2, v3", NULL, 0x1024},		      /* 4 */
	{"s_and_b64 s[4:5], vcc, s[6:7]", NULL, 0x1028},	      /* 5: reads vcc */
	{"s_mov_b32 s9, 0", NULL, 0x102c},			      /* 6: reads nothing */
	{"s_cmp_lt_i32 s2, 0", NULL, 0x1030},			      /* 7 */
	{"s_cbranch_scc1 4", NULL, 0x1034},			      /* 8: reads scc */
	{"s_mov_b32 m0, s9", NULL, 0x1044},			      /* 9 */
	{"buffer_load_dword v1, s[0:3], 0 offen lds", NULL, 0x1048},  /* 10: reads m0 */
	{"v_accvgpr_write_b32 a3, v2", NULL, 0x1050},		      /* 11 */
	{"buffer_store_dword a3, v8, s[0:3], 0 offen", NULL, 0x1054}, /* 12: reads a3 */
	{"s_and_saveexec_b64 s[10:11], s[12:13]", NULL, 0x1064},      /* 13: writes exec */
	{"ds_write_b32 v9, v4", NULL, 0x1068},			      /* 14: under exec */
	{"v_readfirstlane_b32 s20, v0", NULL, 0x1070},		      /* 15 */
	{"s_add_u32 s21, s20, s22", NULL, 0x1074},		      /* 16: reads s20 */
	{"s_cbranch_vccnz 4", NULL, 0x1078},			      /* 17: reads vcc */
	{"v_exp_f32_e32 v4, v5", NULL, 0x1084},			      /* 18 */
};

/* One wave of two records: the first issues at 100, the second starts at 100 + after. */
static struct asked ask_pair(uint32_t first, uint32_t first_category, uint32_t second,
	uint32_t second_category, uint32_t after)
{
	struct mem_record rec[] = {
		{100, first_category, 0, 4, first}, {100 + after, second_category, 0, 4, second}};
	struct mem_wave waves[] = {{.begin = 100, .end = 104 + after, MEM_RECORDS(rec)}};

	return ask(&(struct mem_capture){MEM_CODE(own_code), MEM_WAVES(waves)});
}

static void test_why_own_instructions(void **state)
{
	static const struct {
		uint32_t first, first_category, second, second_category, after;
		enum why_word word;
	} cases[] = {
		{1, 6, 2, 3, 12, WHY_REGISTER},	  /* VGPR: VALU to address */
		{1, 6, 3, 5, 12, WHY_OWN_PIPE},	  /* the same without a register */
		{4, 6, 5, 2, 20, WHY_REGISTER},	  /* VCC: VALU to SALU */
		{4, 6, 6, 2, 20, WHY_OWN_PIPE},	  /* pending, not read */
		{4, 6, 17, 8, 24, WHY_REGISTER},  /* VCC: VALU to branch */
		{7, 2, 8, 8, 8, WHY_REGISTER},	  /* SCC: SALU to branch */
		{9, 2, 10, 3, 8, WHY_REGISTER},	  /* M0: SALU to a load into LDS */
		{11, 6, 12, 3, 12, WHY_REGISTER}, /* AGPR: VALU to store */
		{13, 2, 14, 5, 8, WHY_REGISTER},  /* EXEC: SALU to LDS */
		{15, 6, 16, 2, 20, WHY_REGISTER}, /* SGPR: VALU to SALU */
		{18, 6, 3, 5, 16, WHY_OWN_PIPE},  /* TRANS to LDS */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct asked x = ask_pair(cases[i].first, cases[i].first_category, cases[i].second,
			cases[i].second_category, cases[i].after);

		if (cycles(&x, cases[i].second, cases[i].word, WHY_CERTAIN, (int)cases[i].first) !=
			cases[i].after - 4)
			fail_msg("case %zu: not %s of the instruction before", i,
				why_word_name(cases[i].word));
		assert_int_equal(x.why->cells[0].latency_cyc, cases[i].after);
		drop(&x);
	}
}

/* The rule names 12 cycles: what is more is not its doing, what is less is against it. */
static void test_why_sureness(void **state)
{
	struct asked x = ask_pair(1, 6, 2, 3, 16);

	(void)state;
	assert_int_equal(cycles(&x, 2, WHY_REGISTER, WHY_LIKELY, 1), 8);
	assert_int_equal(cycles(&x, 2, WHY_UNKNOWN, WHY_NONE, -1), 4);
	drop(&x);
	x = ask_pair(1, 6, 2, 3, 8);
	assert_int_equal(cycles(&x, 2, WHY_REGISTER, WHY_WEAK, 1), 4);
	drop(&x);
}

/* --- the matrix pipe, gfx9 --- */

static const struct mem_code matrix_code[] = {
	{"; k", NULL, 0x1000},
	{"v_mfma_f32_16x16x32_bf16 v[0:3], v[8:11], v[12:15], v[0:3]", NULL, 0x1004},
	{"v_mfma_f32_16x16x32_bf16 v[4:7], v[8:11], v[12:15], v[4:7]", NULL, 0x100c},
	{"v_pk_mul_f32 v[20:21], v[22:23], v[24:25]", NULL, 0x1024},
	{"v_add_f32_e32 v30, v31, v32", NULL, 0x102c},
	{"s_mov_b32 s0, 0", NULL, 0x1030},
};

static void test_why_matrix_pipe(void **state)
{
	/* 16 cycles of the pipe; packed arithmetic 12 later; any vector instruction after 8 */
	static const struct mem_record rec[] = {{100, 6, 0, 4, 1}, {104, 6, 12, 16, 2},
		{120, 6, 24, 28, 3}, {160, 6, 0, 4, 1}, {164, 6, 4, 8, 4}};
	static const struct mem_wave waves[] = {{.begin = 100, .end = 172, MEM_RECORDS(rec)}};
	struct asked x = ask(&(struct mem_capture){MEM_CODE(matrix_code), MEM_WAVES(waves)});

	(void)state;
	assert_int_equal(cycles(&x, 2, WHY_OWN_PIPE, WHY_CERTAIN, 1), 12);
	assert_int_equal(cycles(&x, 3, WHY_OWN_PIPE, WHY_CERTAIN, 2), 24);
	assert_int_equal(cycles(&x, 4, WHY_OWN_PIPE, WHY_CERTAIN, 1), 4);
	drop(&x);
}

/* Another wave's matrix instruction keeps the pipe long after it issued. */
static void test_why_matrix_of_another_wave(void **state)
{
	static const struct mem_record a[] = {{100, 6, 0, 4, 1}, {140, 2, 0, 4, 5}};
	static const struct mem_record b[] = {{100, 2, 0, 4, 5}, {104, 6, 12, 16, 2}};
	static const struct mem_wave waves[] = {{.begin = 100, .end = 144, MEM_RECORDS(a)},
		{.slot = 1, .begin = 100, .end = 120, MEM_RECORDS(b)}};
	struct asked x = ask(&(struct mem_capture){MEM_CODE(matrix_code), MEM_WAVES(waves)});

	(void)state;
	assert_int_equal(cycles(&x, 2, WHY_OTHER_WAVE, WHY_CERTAIN, 1), 12);
	assert_int_equal(x.why->tracks[1].other, 0);
	assert_int_equal(x.why->tracks[1].other_cyc, 12);
	drop(&x);
}

/* --- other waves, other SIMDs --- */

static const struct mem_code busy_code[] = {
	{"; k", NULL, 0x1000},
	{"v_add_f32_e32 v0, v1, v2", NULL, 0x1004},
	{"v_mul_f32_e32 v3, v4, v5", NULL, 0x1008},
};

/* The other wave issues in 8 of the 16 cycles; nobody does in the rest. */
static void test_why_other_wave(void **state)
{
	static const struct mem_record a[] = {{100, 6, 0, 4, 1}, {104, 6, 16, 20, 1}};
	static const struct mem_record b[] = {{104, 6, 0, 8, 2}};
	static const struct mem_wave waves[] = {{.begin = 100, .end = 124, MEM_RECORDS(a)},
		{.slot = 1, .begin = 104, .end = 112, MEM_RECORDS(b)}};
	struct asked x = ask(&(struct mem_capture){MEM_CODE(busy_code), MEM_WAVES(waves)});

	(void)state;
	assert_int_equal(cycles(&x, 1, WHY_OTHER_WAVE, WHY_CERTAIN, 2), 8);
	assert_int_equal(cycles(&x, 1, WHY_UNKNOWN, WHY_NONE, -1), 8);
	assert_int_equal(x.why->hidden_cyc[WHY_OTHER_WAVE], 8);
	assert_int_equal(x.why->hidden_cyc[WHY_UNKNOWN], 0);
	drop(&x);
}

/* Turns: exactly one SIMD issues. Where two do it is no turn. */
static void test_why_other_simd(void **state)
{
	static const struct mem_record a[] = {{100, 6, 0, 4, 1}, {104, 6, 48, 52, 1}};
	static const struct mem_record b[] = {{104, 6, 0, 32, 2}};
	static const struct mem_record c[] = {{128, 6, 0, 24, 2}};
	static const struct mem_wave waves[] = {{.begin = 100, .end = 156, MEM_RECORDS(a)},
		{.simd = 1, .begin = 104, .end = 136, MEM_RECORDS(b)},
		{.simd = 2, .begin = 128, .end = 152, MEM_RECORDS(c)}};
	struct asked x = ask(&(struct mem_capture){MEM_CODE(busy_code), MEM_WAVES(waves)});

	(void)state;
	assert_int_equal(cycles(&x, 1, WHY_OTHER_SIMD, WHY_LIKELY, -1), 24 + 16);
	assert_int_equal(cycles(&x, 1, WHY_UNKNOWN, WHY_NONE, -1), 8);
	drop(&x);
}

/* --- memory --- */

static const struct mem_code memory_code[] = {
	{"; k", NULL, 0x1000},
	{"buffer_load_dword v5, v1, s[0:3], 0 offen", NULL, 0x1004},
	{"s_waitcnt vmcnt(0)", NULL, 0x100c},
	{"buffer_load_dword v6, v1, s[0:3], 0 offen", NULL, 0x1010},
};

/* Seventeen loads, the next is held up; after a wait for all so is one that has no rival. */
static void test_why_queue(void **state)
{
	struct mem_record rec[20];
	struct mem_wave wave = {.begin = 100, .end = 2000, .records = rec, .n_records = 20};
	struct asked x;

	(void)state;
	for (uint32_t i = 0; i < 17; i++)
		rec[i] = (struct mem_record){100 + 4 * i, 3, 0, 4, 1};
	rec[17] = (struct mem_record){168, 3, 100, 104, 3};
	rec[18] = (struct mem_record){272, 9, 20, 20, 2};
	rec[19] = (struct mem_record){292, 3, 40, 44, 1};
	x = ask(&(struct mem_capture){MEM_CODE(memory_code), .waves = &wave, .n_waves = 1});
	assert_int_equal(cycles(&x, 3, WHY_QUEUE, WHY_LIKELY, -1), 100);
	assert_int_equal(cycles(&x, 1, WHY_UNKNOWN, WHY_NONE, -1), 40);
	drop(&x);
}

static void test_why_queue_of_few(void **state)
{
	static const struct mem_record rec[] = {
		{100, 3, 0, 4, 1}, {104, 3, 0, 4, 1}, {108, 3, 20, 24, 3}};
	static const struct mem_wave waves[] = {{.begin = 100, .end = 132, MEM_RECORDS(rec)}};
	struct asked x = ask(&(struct mem_capture){MEM_CODE(memory_code), MEM_WAVES(waves)});

	(void)state;
	assert_int_equal(cycles(&x, 3, WHY_QUEUE, WHY_WEAK, -1), 20);
	drop(&x);
}

/* The first of all, and one after 160 silent cycles; not one after 100. */
static void test_why_wake(void **state)
{
	static const struct mem_record rec[] = {{100, 3, 8, 12, 1}, {112, 9, 88, 88, 2},
		{200, 3, 8, 12, 3}, {212, 9, 188, 188, 2}, {400, 3, 8, 12, 1}};
	static const struct mem_wave waves[] = {{.begin = 100, .end = 412, MEM_RECORDS(rec)}};
	struct asked x = ask(&(struct mem_capture){MEM_CODE(memory_code), MEM_WAVES(waves)});

	(void)state;
	assert_int_equal(cycles(&x, 1, WHY_WAKE, WHY_LIKELY, -1), 16);
	assert_int_equal(cycles(&x, 3, WHY_WAKE, WHY_LIKELY, -1), 0);
	drop(&x);
}

/* --- instructions, padding, ends --- */

static const struct mem_code fetch_code[] = {
	{"; k", NULL, 0x1000},
	{"v_add_f32_e32 v0, v1, v2", NULL, 0x1018},
	{"v_add_f32_e32 v3, v4, v5", NULL, 0x101c},
	{"v_add_f32_e32 v6, v7, v8", NULL, 0x1020}, /* begins a fetch of 32 bytes */
	{"v_add_f32_e32 v6, v7, v8", NULL, 0x1024},
	{"s_branch 1", NULL, 0x1028},
	{"s_nop 3", NULL, 0x102c},
	{"s_endpgm", NULL, 0x1030},
};

static void test_why_fetch(void **state)
{
	static const struct mem_record rec[] = {{100, 6, 0, 4, 1},
		{108, 6, 0, 4, 2}, /* inside: 4 */
		{116, 6, 0, 4, 3}, /* at the border: 4 */
		{200, 6, 0, 4, 4}, /* nobody ran it yet: 80 */
		{204, 7, 0, 4, 5}, /* taken */
		{224, 6, 0, 4, 2}, /* after it: 16 */
		{268, 6, 0, 4, 4}, /* 40, but it ran before */
		{272, 11, 0, 4, 7}};
	static const struct mem_wave waves[] = {{.begin = 92, .end = 276, MEM_RECORDS(rec)}};
	struct asked x = ask(&(struct mem_capture){MEM_CODE(fetch_code), MEM_WAVES(waves)});

	(void)state;
	assert_int_equal(cycles(&x, 1, WHY_LAUNCH, WHY_CERTAIN, -1), 8);
	assert_int_equal(cycles(&x, 2, WHY_UNKNOWN, WHY_NONE, -1), 4);
	assert_int_equal(cycles(&x, 3, WHY_FETCH, WHY_LIKELY, -1), 4);
	assert_int_equal(cycles(&x, 4, WHY_FETCH, WHY_LIKELY, -1), 80);
	assert_int_equal(cycles(&x, 2, WHY_FETCH, WHY_LIKELY, -1), 16);
	assert_int_equal(cycles(&x, 4, WHY_UNKNOWN, WHY_NONE, -1), 40);
	drop(&x);
}

static void test_why_padding_and_tail(void **state)
{
	static const struct mem_record rec[] = {{100, 9, 20, 20, 6}, {120, 6, 0, 4, 1}};
	static const struct mem_wave waves[] = {{.begin = 100, .end = 130, MEM_RECORDS(rec)},
		{.slot = 1, .begin = 100, .end = 140}};
	struct asked x = ask(&(struct mem_capture){MEM_CODE(fetch_code), MEM_WAVES(waves)});

	(void)state;
	assert_int_equal(cycles(&x, 6, WHY_HAZARD, WHY_CERTAIN, -1), 16);
	assert_int_equal(cycles(&x, 6, WHY_UNKNOWN, WHY_NONE, -1), 4);
	assert_int_equal(cycles(&x, 1, WHY_TAIL, WHY_CERTAIN, -1), 6);
	assert_int_equal(cycles(&x, NO_CODE, WHY_TAIL, WHY_CERTAIN, -1), 40);
	drop(&x);
}

/* --- gfx11, gfx12: registers off the words of an instruction --- */

static const struct mem_code word_code[] = {
	{"; k", NULL, 0x1000},
	{"v_vop2 <0x06000480>", NULL, 0x1004},		 /* v0 = v_add(0, v2) */
	{"v_vop2 <0x06000700>", NULL, 0x1008},		 /* v0 = v_add(v0, v3) */
	{"ds_op <0xdbfc0020 0x02000001>", NULL, 0x100c}, /* v2 of v1 */
	{"s_sop2 <0x81000e02>", NULL, 0x1024},		 /* s0 */
	{"s_sop2 <0x86019f00>", NULL, 0x1028},		 /* s1 of s0 */
	{"v_vopc <0x7d940080>", NULL, 0x102c},		 /* exec */
	{"s_cbranch_execz 43", NULL, 0x1030},
	{"v_wmma <0xcc404026 0x1c9a451e>", NULL, 0x1044},
	{"v_wmma <0xcc44404e 0x1d3a9546>", NULL, 0x104c},
	{"s_sopc <0xbf008001>", NULL, 0x1054},
	{"s_cbranch_scc0 3", NULL, 0x1058},
};

static struct asked ask_words(unsigned major, const struct mem_record *rec, uint32_t n)
{
	struct mem_wave wave = {.begin = rec[0].time,
		.end = rec[n - 1].time + rec[n - 1].duration,
		.records = rec,
		.n_records = n};

	return ask(&(struct mem_capture){
		MEM_CODE(word_code), .waves = &wave, .n_waves = 1, .gfx_major = major});
}

static void test_why_words_gfx11(void **state)
{
	static const struct mem_record rec[] = {{100, 6, 0, 1, 1}, {105, 6, 0, 1, 2},
		{122, 5, 0, 1, 3}, {123, 2, 0, 1, 4}, {125, 2, 0, 1, 5}, {126, 6, 0, 1, 6},
		{142, 8, 0, 1, 7}};
	struct asked x = ask_words(11, rec, MEM_COUNT(rec));

	(void)state;
	assert_int_equal(cycles(&x, 2, WHY_REGISTER, WHY_CERTAIN, 1), 4);
	assert_int_equal(cycles(&x, 3, WHY_OWN_PIPE, WHY_CERTAIN, 2), 16);
	assert_int_equal(cycles(&x, 5, WHY_REGISTER, WHY_CERTAIN, 4), 1);
	assert_int_equal(cycles(&x, 7, WHY_REGISTER, WHY_CERTAIN, 6), 15);
	drop(&x);
}

static void test_why_words_gfx12(void **state)
{
	/* two matrix instructions in line: 16 and 8 cycles; the third is held up behind them */
	static const struct mem_record rec[] = {{100, 2, 0, 1, 4}, {109, 2, 0, 1, 5},
		{110, 2, 0, 1, 10}, {120, 8, 0, 1, 11}, {200, 6, 0, 16, 8}, {201, 6, 0, 8, 9},
		{216, 6, 10, 26, 8}};
	struct asked x = ask_words(12, rec, MEM_COUNT(rec));

	(void)state;
	assert_int_equal(cycles(&x, 5, WHY_REGISTER, WHY_CERTAIN, 4), 8);
	assert_int_equal(cycles(&x, 11, WHY_REGISTER, WHY_CERTAIN, 10), 9);
	assert_int_equal(cycles(&x, 8, WHY_OWN_PIPE, WHY_LIKELY, 9), 8);
	assert_int_equal(cycles(&x, 8, WHY_UNKNOWN, WHY_NONE, -1), 2);
	drop(&x);
}

/* --- conservation --- */

/* Parts of each cause add up to it, hidden cycles too, whatever the trace and the window. */
static void compare_with_causes(const struct asked *x)
{
	for (uint32_t i = 0; i < x->causes->n; i++) {
		const struct cause *c = &x->causes->v[i];
		uint64_t cyc = 0, hidden = 0;

		if (!why_splits(c->kind))
			continue;
		EACH (const struct why_cell, k, x->why->cells, x->why->n_cells)
			if (k->kind == c->kind &&
				(c->kind != CAUSE_PIPE_STALL || k->inst_class == c->inst_class)) {
				cyc += k->cyc;
				hidden += k->hidden_cyc;
			}
		assert_int_equal(cyc, c->cyc);
		assert_int_equal(hidden, c->hidden_cyc);
	}
}

#define RANDOM_WAVES 7u
#define RANDOM_RECORDS 150u

/* Waves of two SIMDs and two units, with gaps, stalls and records that begin too early. */
static struct trace *random_waves(
	unsigned seed, struct mem_record (*rec)[RANDOM_RECORDS], struct mem_wave *waves)
{
	static const uint8_t categories[] = {
		0, 6, 3, 5, 6, 2, 2, 2, 8, 2, 3, 6, 3, 2, 5, 6, 2, 7, 6};

	for (uint32_t w = 0; w < RANDOM_WAVES; w++) {
		uint64_t at = 100 + 4 * (seed * 7 + w * 13) % 200;

		waves[w] = (struct mem_wave){.cu = w / 5,
			.simd = w % 5 / 3,
			.slot = w % 5 % 3,
			.begin = at,
			.records = rec[w],
			.n_records = (seed * 31 + w * 17) % RANDOM_RECORDS};
		for (uint32_t i = 0; i < waves[w].n_records; i++) {
			uint32_t dice = (seed * 2654435761u + w * 40503u + i * 2246822519u) >> 7;
			uint32_t line = 1 + dice % (MEM_COUNT(own_code) - 1);
			uint32_t stall = dice % 5 ? 0 : 4 * (dice / 5 % 20);

			at += dice % 3 ? 0 : 4 * (dice / 3 % 12);
			rec[w][i] = (struct mem_record){dice % 11 ? at : at - 4, categories[line],
				stall, stall + 4 + 4 * (dice / 64 % 2), line};
			at += rec[w][i].duration;
		}
		waves[w].end = at + (seed + w) % 3 * 4;
	}
	return mem_trace_new(
		&(struct mem_capture){MEM_CODE(own_code), .waves = waves, .n_waves = RANDOM_WAVES});
}

static void test_why_conserves(void **state)
{
	struct mem_record rec[RANDOM_WAVES][RANDOM_RECORDS];
	struct mem_wave waves[RANDOM_WAVES];

	(void)state;
	for (unsigned seed = 1; seed <= 80; seed++) {
		struct selection s = {.has_from = seed % 3 == 1,
			.from_cyc = 300,
			.has_to = seed % 2 == 1,
			.to_cyc = 1500};
		struct walk_options o = {.selection = seed % 4 ? &s : NULL};
		struct asked x = ask_with(random_waves(seed, rec, waves), &o);

		compare_with_causes(&x);
		assert_true(x.why->lump_cyc > 0);
		drop(&x);
	}
}

/* Every reason of both samplers has its place. */
static void test_why_reasons(void **state)
{
	(void)state;
	for (unsigned i = 0; i < AMD_STALL_REASONS; i++)
		assert_string_equal(
			sample_cause_of(amd_stall_reasons[i])->reason, amd_stall_reasons[i]);
	assert_int_equal(sample_cause_of("mio_throttle")->word, WHY_QUEUE);
	assert_int_equal(sample_cause_of("never heard of")->word, WHY_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_why_own_instructions),
		cmocka_unit_test(test_why_sureness),
		cmocka_unit_test(test_why_matrix_pipe),
		cmocka_unit_test(test_why_matrix_of_another_wave),
		cmocka_unit_test(test_why_other_wave),
		cmocka_unit_test(test_why_other_simd),
		cmocka_unit_test(test_why_queue),
		cmocka_unit_test(test_why_queue_of_few),
		cmocka_unit_test(test_why_wake),
		cmocka_unit_test(test_why_fetch),
		cmocka_unit_test(test_why_padding_and_tail),
		cmocka_unit_test(test_why_words_gfx11),
		cmocka_unit_test(test_why_words_gfx12),
		cmocka_unit_test(test_why_conserves),
		cmocka_unit_test(test_why_reasons),
	};

	return cmocka_run_group_tests_name("why", tests, NULL, NULL);
}
