/* SPDX-License-Identifier: Apache-2.0 */
/* The wave table, states and path clusters of hand-made waves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include "analysis/waves/waves.h"
#include "mem_trace.h"

static const struct mem_code code[] = {
	{"; k", NULL, 0},
	{"v_add_f32 v0, v0, v0", NULL, 0},
	{"s_waitcnt vmcnt(0)", NULL, 0},
	{"s_cbranch_scc1 65533", NULL, 0},
	{"s_endpgm", NULL, 0},
};

/* one trip, two trips, an early exit, cut short */
static const struct mem_record once[] = {
	{100, 6, 0, 4, 1}, {104, 9, 8, 8, 2}, {112, 8, 0, 4, 3}, {116, 11, 0, 4, 4}};
static const struct mem_record twice[] = {{100, 6, 0, 4, 1}, {104, 9, 8, 8, 2}, {112, 7, 0, 4, 3},
	{128, 6, 0, 4, 1}, {132, 9, 8, 8, 2}, {140, 8, 0, 4, 3}, {144, 11, 0, 16, 4}};
static const struct mem_record early[] = {{100, 11, 0, 4, 4}};
static const struct mem_record cut[] = {{100, 6, 0, 4, 1}};
static const struct mem_state states[] = {{1, 4}, {2, 4}, {3, 8}, {2, 4}, {3, 4}};

static const struct mem_wave waves[] = {
	{.begin = 96, .end = 120, MEM_RECORDS(once), MEM_STATES(states)},
	{.wave = 1, .begin = 96, .end = 160, MEM_RECORDS(twice)},
	{.slot = 1, .begin = 96, .end = 124, MEM_RECORDS(once)},
	{.se = 1, .begin = 96, .end = 104, MEM_RECORDS(early)},
	{.se = 1, .wave = 1, .begin = 96, .end = 104, MEM_RECORDS(cut)},
};
static const int64_t offsets[] = {0, 1000};

static struct waves *ask(const struct trace *t, const struct selection *sel, uint32_t bins)
{
	struct incore_error e = {0};
	struct waves *w = waves_new(t, bins, &e);
	struct walk_result r;

	assert_non_null(w);
	assert_true(waves_collect(w, &(struct walk_options){.selection = sel}, &r, &e));
	walk_result_deinit(&r);
	return w;
}

static struct trace *make(void)
{
	return mem_trace_new(&(struct mem_capture){
		MEM_CODE(code), MEM_WAVES(waves), .se_offsets = offsets, .n_se_offsets = 2});
}

static void test_waves_table(void **state)
{
	struct trace *t = make();
	struct waves *w = ask(t, NULL, 0);

	(void)state;
	assert_int_equal(w->n_waves, 5);
	assert_int_equal(w->n_instructions, 4 + 7 + 4 + 1 + 1);
	assert_int_equal(w->n_not_ended, 1);
	assert_int_equal(w->residue_cyc, 0);
	assert_int_equal(w->duration.min, 8);
	assert_int_equal(w->duration.median, 24);
	assert_int_equal(w->duration.max, 64);
	assert_int_equal(w->duration.sum, 24 + 64 + 28 + 8 + 8);
	assert_int_equal(w->rows[1].bucket[BUCKET_ISSUE], 16);
	assert_int_equal(w->rows[1].bucket[BUCKET_WAIT], 16);
	assert_int_equal(w->rows[1].bucket[BUCKET_IDLE], 4 + 12);
	assert_int_equal(w->rows[1].bucket[BUCKET_DRAIN], 16);
	assert_int_equal(w->categories[9].n, 4);
	assert_int_equal(w->categories[9].stall, 32);
	assert_int_equal(w->n_groups[WAVES_BY_SE], 2);
	assert_int_equal(w->n_groups[WAVES_BY_ORDER], 2);
	assert_int_equal(w->groups[WAVES_BY_ORDER][1].duration.n, 2);
	waves_free(w);
	trace_free(t);
}

static void test_waves_clusters(void **state)
{
	struct trace *t = make();
	struct waves *w = ask(t, NULL, 0);
	const struct clusters *c = w->clusters;

	(void)state;
	assert_int_equal(c->n_collisions, 0);
	assert_int_equal(c->n, 3);
	assert_int_equal(c->v[0].n_waves, 3);
	assert_int_equal(c->v[0].n_rows, 4);
	assert_int_equal(c->v[0].latency, 20 + 48 + 20);
	assert_int_equal(c->v[0].stall, 32);
	assert_int_equal(c->v[0].n_variants, 2);
	assert_int_equal(c->v[0].variants[0].n_waves, 2);
	assert_int_equal(c->v[0].variants[1].records, 7);
	assert_int_equal(c->v[0].median_dur, 28);
	assert_int_equal(c->v[0].representative, 2);
	/* equal latency and waves: the first wave decides */
	assert_int_equal(c->v[1].first, 3);
	assert_int_equal(c->v[2].first, 4);
	assert_int_equal(c->of_track[2], 0);
	assert_int_equal(c->of_track[4], 2);
	waves_free(w);
	trace_free(t);
}

static void test_waves_states_and_window(void **state)
{
	struct trace *t = make();
	struct selection sel = {.has_from = true, .has_to = true, .from_cyc = 6, .to_cyc = 14};
	struct waves *w = ask(t, NULL, 4);

	(void)state;
	assert_int_equal(w->states->all.cyc[STATE_IDLE], 4);
	assert_int_equal(w->states->all.cyc[STATE_WAIT], 12);
	assert_int_equal(w->states->all.segments, 5);
	assert_int_equal(w->states->n_waves, 1);
	/* aligned span 96 .. 1104 in 4 bins of 253: all of the states in the first */
	assert_int_equal(w->states->bins[0][STATE_EXEC], 8);
	waves_free(w);

	w = ask(t, &sel, 0); /* cycles 102 .. 110 of SE 0; SE 1 lies later */
	assert_int_equal(w->states->all.cyc[STATE_EXEC], 2);
	assert_int_equal(w->states->all.cyc[STATE_WAIT], 6);
	assert_int_equal(w->states->all.segments, 2);
	assert_int_equal(w->rows[0].duration_cyc, 8);
	assert_int_equal(w->rows[0].bucket[BUCKET_ISSUE], 2);
	assert_int_equal(w->rows[0].bucket[BUCKET_WAIT], 6);
	assert_int_equal(w->rows[0].instructions, 1);
	assert_int_equal(w->residue_cyc, 0);
	waves_free(w);
	trace_free(t);
}

static void test_waves_sorted(void **state)
{
	struct trace *t = make();
	struct waves *w = ask(t, NULL, 0);
	struct arena a;
	track_idx *list;
	uint32_t n;

	(void)state;
	arena_init(&a);
	assert_true(waves_sorted(w, WAVES_SORT_DURATION, &a, &list, &n, NULL));
	assert_int_equal(n, 5);
	assert_int_equal(list[0], 1);
	assert_int_equal(list[1], 2);
	assert_int_equal(list[3], 3);
	assert_true(waves_sorted(w, WAVES_SORT_DRAIN, &a, &list, &n, NULL));
	assert_int_equal(list[0], 1);
	assert_int_equal(list[4], 4);
	assert_true(waves_sorted(w, WAVES_SORT_BEGIN, &a, &list, &n, NULL));
	assert_int_equal(list[4], 4);
	arena_deinit(&a);
	waves_free(w);
	trace_free(t);
}

/* Four waves meet twice at one barrier row, another CU's wave and a later pair do not mix in. */
static void test_waves_barriers(void **state)
{
	static const struct mem_code rows[] = {
		{"; k", NULL, 0}, {"s_barrier", NULL, 0}, {"s_endpgm", NULL, 0}};
	static const struct mem_record a[] = {
		{100, 9, 108, 108, 1}, {300, 9, 8, 8, 1}, {308, 11, 0, 4, 2}};
	static const struct mem_record b[] = {
		{200, 9, 8, 8, 1}, {260, 9, 48, 48, 1}, {308, 11, 0, 4, 2}};
	static const struct mem_record alone[] = {{150, 9, 58, 58, 1}, {208, 11, 0, 4, 2}};
	static const struct mem_wave met[] = {
		{.simd = 0, .begin = 100, .end = 312, MEM_RECORDS(a)},
		{.simd = 1, .begin = 100, .end = 312, MEM_RECORDS(b)},
		{.cu = 1, .begin = 100, .end = 212, MEM_RECORDS(alone)},
	};
	struct trace *t = mem_trace_new(&(struct mem_capture){MEM_CODE(rows), MEM_WAVES(met)});
	struct waves *w = ask(t, NULL, 0);
	const struct barriers *m = w->barriers;

	(void)state;
	assert_int_equal(m->executions, 5);
	assert_int_equal(m->wait_cyc, 108 + 8 + 8 + 48 + 58);
	assert_int_equal(m->meetings, 2);
	assert_int_equal(m->n_met, 4);
	assert_int_equal(m->skew_cyc.min, 40);
	assert_int_equal(m->skew_cyc.max, 100);
	assert_int_equal(m->last_wait_cyc.max, 8);
	assert_int_equal(m->n_rows, 1);
	assert_int_equal(m->rows[0].meetings, 2);
	assert_int_equal(m->rows[0].widest.skew_cyc, 100);
	assert_int_equal(m->rows[0].widest.n_waves, 2);
	assert_int_equal(m->rows[0].widest.first, 0);
	assert_int_equal(m->rows[0].widest.last, 1);
	assert_int_equal(m->rows[0].widest.first_arrival, 100);
	assert_int_equal(m->rows[0].widest.last_arrival, 200);
	assert_int_equal(m->rows[0].widest.release, 208);
	/* each came last once: the first of them is named */
	assert_int_equal(m->rows[0].latest, 0);
	assert_int_equal(m->rows[0].n_latest, 1);
	assert_int_equal(m->rows[0].n_latest_met, 2);
	assert_int_equal(w->rows[0].barriers, 2);
	assert_int_equal(w->rows[0].barrier_cyc, 116);
	waves_free(w);
	trace_free(t);
}

/* First, steady and tail are told by what else ran in the slot. */
static void test_waves_phases(void **state)
{
	static const struct mem_wave row[] = {
		{.wave = 0, .begin = 96, .end = 120, MEM_RECORDS(once)},
		{.wave = 1, .begin = 196, .end = 220, MEM_RECORDS(once)},
		{.wave = 2, .begin = 296, .end = 320, MEM_RECORDS(once)},
		{.slot = 1, .begin = 96, .end = 120, MEM_RECORDS(once)},
	};
	static const enum wave_phase expect[] = {WAVE_FIRST, WAVE_STEADY, WAVE_TAIL, WAVE_FIRST};
	struct trace *t = mem_trace_new(&(struct mem_capture){MEM_CODE(code), MEM_WAVES(row)});
	struct waves *w = ask(t, NULL, 0);

	(void)state;
	for (track_idx i = 0; i < 4; i++)
		assert_int_equal(wave_phase_of(t, i), expect[i]);
	assert_int_equal(w->n_groups[WAVES_BY_PHASE], 3);
	assert_int_equal(w->groups[WAVES_BY_PHASE][0].duration.n, 2);
	assert_int_equal(w->groups[WAVES_BY_PHASE][1].first, 1);
	assert_int_equal(w->groups[WAVES_BY_PHASE][2].duration.n, 1);
	waves_free(w);
	trace_free(t);
}

/* The one wave with a timeline: its states from its records. */
static void test_waves_explained(void **state)
{
	static const uint64_t records[] = {4 + 4, 0, 8 + 4, 4};
	struct trace *t = make();
	struct waves *w = ask(t, NULL, 0);
	struct state_explained x[STATES_EXPLAINED];

	(void)state;
	assert_int_equal(waves_explain(w, x), STATES_EXPLAINED);
	for (unsigned i = 0; i < STATES_EXPLAINED; i++) {
		assert_int_equal(x[i].records, records[i]);
		assert_int_equal(x[i].cyc, records[i]);
	}
	assert_int_equal(x[2].parts[0].cyc, 8);
	assert_int_equal(x[2].parts[2].cyc, 4);
	waves_free(w);
	trace_free(t);
}

/* Nothing traced is an answer too. */
static void test_waves_none(void **state)
{
	struct trace *t = mem_trace_new(&(struct mem_capture){MEM_CODE(code)});
	struct waves *w = ask(t, NULL, 8);

	(void)state;
	assert_int_equal(w->n_waves, 0);
	assert_int_equal(waves_explain(w, (struct state_explained[STATES_EXPLAINED]){0}), 0);
	assert_int_equal(w->clusters->n, 0);
	assert_int_equal(w->duration.max, 0);
	waves_free(w);
	trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waves_table),
		cmocka_unit_test(test_waves_clusters),
		cmocka_unit_test(test_waves_states_and_window),
		cmocka_unit_test(test_waves_sorted),
		cmocka_unit_test(test_waves_barriers),
		cmocka_unit_test(test_waves_phases),
		cmocka_unit_test(test_waves_explained),
		cmocka_unit_test(test_waves_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
