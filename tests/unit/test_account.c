/* SPDX-License-Identifier: Apache-2.0 */
/* The conserved accounting: worked records, overlaps and tails, windows, and random waves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>
#include <stdlib.h>

#include "trace/account.h"

#define MAX_RECORDS 200

struct wave {
	struct track_data d;
	uint64_t start[MAX_RECORDS];
	uint32_t dur[MAX_RECORDS], stall[MAX_RECORDS], code[MAX_RECORDS];
	uint8_t inst_class[MAX_RECORDS];
};

static void wave_init(struct wave *v, uint64_t begin, uint64_t end)
{
	*v = (struct wave){0};
	v->d.start_cyc = v->start;
	v->d.dur_cyc = v->dur;
	v->d.stall_cyc = v->stall;
	v->d.code = v->code;
	v->d.inst_class = v->inst_class;
	v->d.begin_cyc = begin;
	v->d.end_cyc = end;
}

static void wave_add(struct wave *v, uint64_t start, uint32_t stall, uint32_t dur)
{
	uint32_t i = v->d.n++;

	v->start[i] = start;
	v->stall[i] = stall;
	v->dur[i] = dur;
}

struct sums {
	uint64_t gap, stall, issue, tail, hits;
	int64_t residue;
	uint64_t duration;
};

static struct sums sum_up(const struct wave *v, uint64_t from, uint64_t to)
{
	struct sums s = {0};
	struct account a;
	uint64_t last = 0;

	for (account_begin(&a, &v->d, from, to); account_next(&a);) {
		uint64_t piece[][2] = {{a.at.gap, a.gap_cyc}, {a.at.stall, a.stall_cyc},
			{a.at.issue, a.issue_cyc}, {a.at.end, a.tail_cyc}};

		for (unsigned k = 0; k < 4; k++) { /* pieces follow one another and stay inside */
			if (piece[k][1] == 0)
				continue;
			assert_true(piece[k][0] >= last && piece[k][0] >= a.lo);
			last = piece[k][0] + piece[k][1];
			assert_true(last <= a.hi);
		}
		s.gap += a.gap_cyc;
		s.stall += a.stall_cyc;
		s.issue += a.issue_cyc;
		s.tail += a.tail_cyc;
		s.hits += a.is_hit;
	}
	if (v->d.n == 0)
		s.tail = a.tail_cyc;
	s.residue = account_residue(&a);
	s.duration = account_duration(&a);
	return s;
}

static void test_account_pieces(void **state)
{
	struct wave v;
	struct sums s;

	(void)state;
	wave_init(&v, 100, 180);
	wave_add(&v, 108, 0, 4);   /* head gap 8, issue 4 */
	wave_add(&v, 112, 40, 40); /* stall 40 */
	wave_add(&v, 148, 8, 12);  /* starts 4 early: stall 4 left, issue 4 */
	wave_add(&v, 164, 0, 12);  /* gap 4, issue 12 */
	s = sum_up(&v, 0, UINT64_MAX);
	assert_int_equal(s.gap, 8 + 4);
	assert_int_equal(s.stall, 40 + 4);
	assert_int_equal(s.issue, 4 + 4 + 12);
	assert_int_equal(s.tail, 4);
	assert_int_equal(s.hits, 4);
	assert_int_equal(s.residue, 0);
}

static void test_account_overlap_eats_issue_after_stall(void **state)
{
	struct wave v;
	struct sums s;

	(void)state;
	wave_init(&v, 0, 24);
	wave_add(&v, 0, 0, 20);
	wave_add(&v, 4, 8, 20); /* overlap 16: all 8 of stall, then 8 of its 12 issue */
	s = sum_up(&v, 0, UINT64_MAX);
	assert_int_equal(s.stall, 0);
	assert_int_equal(s.issue, 24);
	assert_int_equal(s.residue, 0);
}

static void test_account_negative_tail_comes_off_the_last_record(void **state)
{
	struct wave v;
	struct sums s;

	(void)state;
	wave_init(&v, 0, 16);
	wave_add(&v, 0, 12, 20); /* ends 4 after the wave: its issue first */
	s = sum_up(&v, 0, UINT64_MAX);
	assert_int_equal(s.stall, 12);
	assert_int_equal(s.issue, 4);
	assert_int_equal(s.tail, 0);
	assert_int_equal(s.residue, 0);
}

static void test_account_wave_without_records_is_idle(void **state)
{
	struct wave v;
	struct sums s;

	(void)state;
	wave_init(&v, 40, 100);
	s = sum_up(&v, 0, UINT64_MAX);
	assert_int_equal(s.tail, 60);
	assert_int_equal(s.duration, 60);
	assert_int_equal(s.residue, 0);
}

/* Hostile too: records before begin and beyond end, overlaps of any size, zero lengths. */
static void random_wave(struct wave *v, unsigned *seed)
{
	uint64_t begin = 1000 + (uint64_t)(rand_r(seed) % 100) * 4;
	uint64_t time = begin - 40 + (uint64_t)(rand_r(seed) % 40) * 4;
	unsigned n = (unsigned)rand_r(seed) % MAX_RECORDS;

	wave_init(v, begin, begin + (uint64_t)(rand_r(seed) % 4000));
	for (unsigned i = 0; i < n; i++) {
		uint32_t stall = (uint32_t)(rand_r(seed) % 8) * 4;

		wave_add(v, time, stall, stall + (uint32_t)(rand_r(seed) % 4) * 4);
		time += (uint64_t)(rand_r(seed) % 12) * 4;
	}
}

static void test_account_conserves_every_cycle(void **state)
{
	static struct wave v;
	unsigned seed = 7;

	(void)state;
	for (unsigned round = 0; round < 20000; round++) {
		struct sums whole, low, high;
		uint64_t cut;

		random_wave(&v, &seed);
		cut = v.d.begin_cyc - 50 + (uint64_t)(rand_r(&seed) % 4100);
		whole = sum_up(&v, 0, UINT64_MAX);
		low = sum_up(&v, 0, cut);
		high = sum_up(&v, cut, UINT64_MAX);
		assert_int_equal(whole.residue, 0);
		assert_int_equal(low.residue, 0);
		assert_int_equal(high.residue, 0);
		/* two windows that meet hold together what the whole holds */
		assert_int_equal(low.gap + high.gap, whole.gap);
		assert_int_equal(low.stall + high.stall, whole.stall);
		assert_int_equal(low.issue + high.issue, whole.issue);
		assert_int_equal(low.tail + high.tail, whole.tail);
		assert_int_equal(low.hits + high.hits, whole.hits);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_account_pieces),
		cmocka_unit_test(test_account_overlap_eats_issue_after_stall),
		cmocka_unit_test(test_account_negative_tail_comes_off_the_last_record),
		cmocka_unit_test(test_account_wave_without_records_is_idle),
		cmocka_unit_test(test_account_conserves_every_cycle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
