/* SPDX-License-Identifier: Apache-2.0 */
/* Hidden latency and utilization: by hand, and against looking at every cycle of every wave. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>
#include <string.h>

#include "analysis/waves/hidden.h"
#include "analysis/waves/utilization.h"
#include "mem_trace.h"

static const struct mem_code code[] = {
	{"; k", NULL, 0},
	{"v_add_f32 v0, v0, v0", NULL, 0},
	{"s_waitcnt vmcnt(0)", NULL, 0},
	{"buffer_load_dword v0, v1, s[0:3], 0 offen", NULL, 0},
	{"s_endpgm", NULL, 0},
	{"v_mfma_f32_32x32x16_bf16 a[0:15], v[0:3], v[4:7], a[0:15]", NULL, 0},
	{"v_exp_f32_e32 v0, v0", NULL, 0},
	{"s_mov_b32 s0, 0", NULL, 0},
};

/* Walks once for the union and once for the question. */
static void ask(const struct trace *t, const struct selection *sel, struct busy **b,
	struct hidden **h, struct utilization **u)
{
	struct walk_options o = {.selection = sel};
	struct incore_error e = {0};
	struct collector list[2];
	const struct collector *refs[] = {&list[0], &list[1]};
	struct walk_result r;

	*b = busy_new(t, &e);
	assert_non_null(*b);
	assert_true(busy_walk(*b, &o, &e));
	*h = hidden_new(*b, &e);
	*u = utilization_new(*b, &e);
	assert_true(*h && *u);
	list[0] = hidden_collector(*h);
	list[1] = utilization_collector(*u);
	assert_true(walk_tracks(t, &o, refs, 2, &r, &e));
	assert_true(utilization_finish(*u, &e));
	walk_result_deinit(&r);
}

static void drop(struct trace *t, struct busy *b, struct hidden *h, struct utilization *u)
{
	utilization_free(u);
	hidden_free(h);
	busy_free(b);
	trace_free(t);
}

static const struct mem_record two_a[] = {
	{100, 3, 0, 4, 3}, {104, 9, 96, 96, 2}, {200, 11, 0, 8, 4}};
static const struct mem_record two_b[] = {
	{100, 6, 0, 20, 1}, {124, 6, 8, 28, 1}, {160, 6, 0, 40, 5}, {200, 11, 0, 20, 4}};

/* A waits 96 cycles; B of the same SIMD issues 20 - 4 + 20 + 40 of them; B's own loss meets A's 4.
 */
static void test_hidden_two_waves(void **state)
{
	static const struct mem_wave waves[] = {
		{.begin = 100, .end = 208, MEM_RECORDS(two_a)},
		{.slot = 1, .begin = 96, .end = 220, MEM_RECORDS(two_b)},
	};
	struct trace *t = mem_trace_new(&(struct mem_capture){MEM_CODE(code), MEM_WAVES(waves)});
	struct busy *b;
	struct hidden *h;
	struct utilization *u;

	(void)state;
	ask(t, NULL, &b, &h, &u);
	assert_int_equal(h->bucket[BUCKET_WAIT].cyc, 96);
	assert_int_equal(h->bucket[BUCKET_WAIT].hidden_cyc, 16 + 20 + 40);
	assert_int_equal(h->bucket[BUCKET_STALL].cyc, 8);
	assert_int_equal(h->bucket[BUCKET_STALL].hidden_cyc, 0);
	assert_int_equal(h->bucket[BUCKET_IDLE].cyc, 4 + 4 + 8);
	assert_int_equal(h->bucket[BUCKET_DRAIN].cyc, 8 + 20);
	assert_int_equal(h->bucket[BUCKET_DRAIN].hidden_cyc, 0);
	assert_int_equal(h->recorded.cyc, 104);
	assert_int_equal(h->recorded.hidden_cyc, 76);
	assert_int_equal(h->rows[2].hidden_cyc, 76);
	assert_int_equal(h->tracks[0].cyc, 96 + 8);
	assert_int_equal(u->cyc[PIPE_RESIDENT], 124);
	assert_int_equal(u->cyc[PIPE_VALU], 40);
	assert_int_equal(u->cyc[PIPE_MATRIX], 40);
	assert_int_equal(u->cyc[PIPE_VMEM], 4);
	assert_int_equal(u->cyc[PIPE_ANY], 80);
	drop(t, b, h, u);
}

/* Waves of different SIMDs hide nothing; a lone selected wave is still hidden by its neighbour. */
static void test_hidden_other_simd_and_selection(void **state)
{
	static const struct mem_wave apart[] = {
		{.begin = 100, .end = 208, MEM_RECORDS(two_a)},
		{.simd = 1, .begin = 96, .end = 220, MEM_RECORDS(two_b)},
	};
	static const struct mem_wave together[] = {
		{.begin = 100, .end = 208, MEM_RECORDS(two_a)},
		{.slot = 1, .begin = 96, .end = 220, MEM_RECORDS(two_b)},
	};
	struct selection first = {0};
	struct busy *b;
	struct hidden *h;
	struct utilization *u;
	struct trace *t = mem_trace_new(&(struct mem_capture){MEM_CODE(code), MEM_WAVES(apart)});

	(void)state;
	ask(t, NULL, &b, &h, &u);
	assert_int_equal(hidden_lost(h).hidden_cyc, 0);
	drop(t, b, h, u);

	t = mem_trace_new(&(struct mem_capture){MEM_CODE(code), MEM_WAVES(together)});
	assert_true(number_set_parse(&first.level[3], STR("0"), "slot", NULL));
	ask(t, &first, &b, &h, &u);
	assert_int_equal(h->bucket[BUCKET_WAIT].hidden_cyc, 76);
	assert_int_equal(h->bucket[BUCKET_STALL].cyc, 0);
	drop(t, b, h, u);
	selection_deinit(&first);
}

/* --- against every cycle --- */

#define WAVES 6u
#define RECORDS 60u
#define SPAN 4096u

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 10;
}

static void make_wave(struct mem_wave *w, struct mem_record *r, unsigned n, uint32_t *seed)
{
	static const struct {
		uint32_t category, line;
	} kinds[] = {{6, 1}, {9, 2}, {3, 3}, {6, 5}, {6, 6}, {2, 7}};
	uint64_t now;

	*w = (struct mem_wave){.slot = n % 3, .wave = n / 3, .simd = 0};
	w->begin = 4 * (next_random(seed) % 50);
	now = w->begin + 4 * (next_random(seed) % 4);
	for (unsigned i = 0; i < RECORDS; i++) {
		unsigned k = next_random(seed) % 6;
		uint32_t stall = 4 * (next_random(seed) % 6),
			 issue = k == 1 ? 0 : 4 + 4 * (next_random(seed) % 2);

		/* some records start before the last one has ended */
		if (i && next_random(seed) % 8 == 0 && stall >= 4)
			now -= 4;
		r[i] = (struct mem_record){
			now, kinds[k].category, stall, stall + issue, kinds[k].line};
		now += stall + issue + 4 * (next_random(seed) % 3 == 0);
	}
	r[RECORDS - 1] = (struct mem_record){now, 11, 0, 24, 4};
	w->end = now + 24 - 4 * (next_random(seed) % 2);
	w->records = r;
	w->n_records = RECORDS;
}

/* issue[w][x]: wave w issues in cycle x; lost[w][x]: 1 + bucket where it loses it. */
static uint8_t issue[WAVES][SPAN], lost[WAVES][SPAN];

static void paint(const struct mem_wave *w, uint8_t *is, uint8_t *lo)
{
	uint64_t prev = w->begin;

	for (unsigned i = 0; i < w->n_records; i++) {
		const struct mem_record *r = &w->records[i];
		uint64_t from = r->time > prev ? r->time : prev;
		unsigned b = r->category == 9	 ? BUCKET_WAIT
			     : r->category == 11 ? BUCKET_DRAIN
						 : BUCKET_STALL;

		for (uint64_t x = prev; x < from; x++)
			lo[x] = 1 + BUCKET_IDLE;
		for (uint64_t x = from; x < r->time + r->duration && x < w->end; x++) {
			if (x < r->time + r->stall || b == BUCKET_DRAIN)
				lo[x] = (uint8_t)(1 + b);
			else if (b == BUCKET_STALL)
				is[x] = 1;
		}
		if (r->time + r->duration > prev)
			prev = r->time + r->duration;
	}
	for (uint64_t x = prev; x < w->end; x++)
		lo[x] = 1 + BUCKET_IDLE;
}

static void expect(const struct mem_wave *waves, uint64_t *want, uint64_t *recorded)
{
	memset(want, 0, BUCKET_COUNT * sizeof(*want));
	*recorded = 0;
	for (unsigned w = 0; w < WAVES; w++) {
		for (unsigned x = 0; x < SPAN; x++) {
			bool other = false;

			for (unsigned v = 0; v < WAVES; v++)
				other |= v != w && issue[v][x];
			if (lost[w][x] && other)
				want[lost[w][x] - 1]++;
		}
		for (unsigned i = 0; i < waves[w].n_records; i++) {
			const struct mem_record *r = &waves[w].records[i];

			for (uint64_t x = r->time; x < r->time + r->stall; x++) {
				bool other = false;

				for (unsigned v = 0; v < WAVES; v++)
					other |= v != w && issue[v][x];
				*recorded += other;
			}
		}
	}
}

static void test_hidden_every_cycle(void **state)
{
	uint32_t seed = 3;

	(void)state;
	for (unsigned round = 0; round < 20; round++) {
		static struct mem_record records[WAVES][RECORDS];
		struct mem_wave made[WAVES], waves[WAVES];
		uint64_t want[BUCKET_COUNT], recorded;
		struct trace *t;
		struct busy *b;
		struct hidden *h;
		struct utilization *u;

		memset(issue, 0, sizeof(issue));
		memset(lost, 0, sizeof(lost));
		for (unsigned n = 0; n < WAVES; n++)
			make_wave(&made[n], records[n], n, &seed);
		for (unsigned n = 0; n < WAVES; n++) /* sorted by slot, wave */
			waves[n] = made[n % 2 * 3 + n / 2];
		for (unsigned n = 0; n < WAVES; n++) {
			assert_true(waves[n].end < SPAN);
			paint(&waves[n], issue[n], lost[n]);
		}
		expect(waves, want, &recorded);
		t = mem_trace_new(
			&(struct mem_capture){MEM_CODE(code), .waves = waves, .n_waves = WAVES});
		ask(t, NULL, &b, &h, &u);
		for (unsigned k = 0; k < BUCKET_COUNT; k++)
			assert_int_equal(h->bucket[k].hidden_cyc, want[k]);
		assert_int_equal(h->recorded.hidden_cyc, recorded);
		drop(t, b, h, u);
	}
}

/* SIMDs without detail: their issue on the same clock, a column of its own. */
static void test_hidden_other_simd(void **state)
{
	static struct other_issue issues[] = {
		{110, 20, 6, 0}, {120, 30, 3, 0}, {160, 10, 9, 0}, {104, 90, 6, 1}};
	static const struct mem_wave one[] = {{.begin = 100, .end = 208, MEM_RECORDS(two_a)}};
	static const int64_t offsets[] = {0, 0};
	struct trace *t = mem_trace_new(&(struct mem_capture){
		MEM_CODE(code), MEM_WAVES(one), .se_offsets = offsets, .n_se_offsets = 2});
	struct utilization *u;
	struct hidden *h;
	struct busy *b;

	(void)state;
	t->other_issues = issues;
	t->n_other_issues = 4;
	ask(t, NULL, &b, &h, &u);
	/* the wait is [104, 200): [110, 150) of the other SIMD; a wait there and another clock
	 * do not count */
	assert_int_equal(h->bucket[BUCKET_WAIT].cyc, 96);
	assert_int_equal(h->bucket[BUCKET_WAIT].other_simd_cyc, 40);
	assert_int_equal(h->bucket[BUCKET_WAIT].hidden_cyc, 0);
	assert_int_equal(h->bucket[BUCKET_DRAIN].other_simd_cyc, 0);
	assert_int_equal(hidden_lost(h).other_simd_cyc, 40);
	drop(t, b, h, u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hidden_two_waves),
		cmocka_unit_test(test_hidden_other_simd_and_selection),
		cmocka_unit_test(test_hidden_every_cycle),
		cmocka_unit_test(test_hidden_other_simd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
