/* SPDX-License-Identifier: Apache-2.0 */
/* test_lend.c: a track out of columns is the track that its loader brings, or it is not lent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "mem_trace.h"
#include "trace/lend.h"

static const struct mem_code code[] = {{"; k", NULL, 0},
	{"s_load_dwordx2 s[0:1], s[2:3], 0x0", NULL, 0}, {"v_add_u32_e32 v0, v1, v2", NULL, 0},
	{"s_endpgm", NULL, 0}};
static const struct mem_record plain[] = {
	{200, 1, 0, 4, 1}, {204, 6, 8, 20, 2}, {220, 6, 0, 4, 2}, {300, 11, 0, 20, 3}};
static const struct mem_record early[] = {{96, 1, 0, 4, 1}, {100, 6, 0, 4, 2}};
static const struct mem_record unknown[] = {{240, 1, 0, 4, 1}, {250, 6, 0, 4, 99}};
static const struct mem_record far[] = {{240, 1, 0, 4, 1}, {UINT64_C(6000000000), 6, 0, 4, 2}};
static const struct mem_record longest[] = {{240, 1, 0, UINT32_MAX, 1}};
static const struct mem_state states[] = {{1, 10}};

/* begin and end as the file says; is_lent: columns hold it exactly */
static const struct {
	struct mem_wave wave;
	bool is_lent;
} cases[] = {
	{{.wave = 0, .begin = 100, .end = 400, MEM_RECORDS(plain)}, false}, /* at the origin */
	{{.wave = 1, .begin = 190, .end = 400, MEM_RECORDS(plain), MEM_STATES(states)}, true},
	{{.wave = 2, .begin = 230, .end = 400, MEM_RECORDS(plain)}, true},  /* a slice before it */
	{{.wave = 3, .begin = 190, .end = 400, MEM_RECORDS(early)}, false}, /* off the screen */
	{{.wave = 4, .begin = 190, .end = 400, MEM_RECORDS(unknown)}, false},
	{{.wave = 5, .begin = 190, .end = UINT64_C(6000000004), MEM_RECORDS(far)}, false},
	{{.wave = 6, .begin = 190, .end = UINT64_C(5000000000), MEM_RECORDS(longest)}, false},
	{{.wave = 7, .begin = 190, .end = 400}, false}, /* empty */
	{{.wave = 8, .begin = 190, .end = 190, MEM_RECORDS(plain)}, false},
	{{.se = 1, .wave = 0, .begin = 1190, .end = 1400, MEM_RECORDS(plain)}, true},
	{{.se = 1, .wave = 1, .begin = 190, .end = 400, MEM_RECORDS(plain)}, true},
};
#define N MEM_COUNT(cases)

static struct track_loader own;
static unsigned n_loads;

static bool counted(const struct trace *t, track_idx i, unsigned want, struct track_data *d,
	struct incore_error *e)
{
	n_loads++;
	return own.load(t, i, want, d, e);
}

static struct trace *make(const struct mem_wave *waves)
{
	static const int64_t offsets[] = {0, 70};

	return mem_trace_new(&(struct mem_capture){MEM_CODE(code), .waves = waves, .n_waves = N,
		.se_offsets = offsets, .n_se_offsets = 2});
}

static void same(const struct track_data *a, const struct track_data *b)
{
	assert_int_equal(a->n, b->n);
	assert_int_equal(a->begin_cyc, b->begin_cyc);
	assert_int_equal(a->end_cyc, b->end_cyc);
	assert_int_equal(a->n_unknown_code, b->n_unknown_code);
	assert_memory_equal(a->coord_file, b->coord_file, sizeof(a->coord_file));
	assert_memory_equal(a->start_cyc, b->start_cyc, a->n * sizeof(*a->start_cyc));
	assert_memory_equal(a->dur_cyc, b->dur_cyc, a->n * sizeof(*a->dur_cyc));
	assert_memory_equal(a->stall_cyc, b->stall_cyc, a->n * sizeof(*a->stall_cyc));
	assert_memory_equal(a->code, b->code, a->n * sizeof(*a->code));
	assert_memory_equal(a->inst_class, b->inst_class, a->n);
	assert_memory_equal(a->tag, b->tag, a->n);
}

struct lent {
	struct mem_wave waves[N];
	struct trace *of, *t; /* t: of the same capture, read again; takes what is lent */
	struct columns columns;
	struct lent_columns lend;
};

static void set_up(struct lent *x)
{
	struct columns_options o = {0};

	for (unsigned i = 0; i < N; i++)
		x->waves[i] = cases[i].wave;
	x->of = make(x->waves);
	x->t = make(x->waves);
	o.origin_cyc = 100;
	assert_true(columns_load(x->of, &o, &x->columns, NULL));
	x->lend = lend_columns(x->of, &x->columns, 100);
	own = x->t->loader;
	x->t->loader.load = counted;
	lend_to(&x->lend, x->t);
}

static void tear_down(struct lent *x)
{
	trace_free(x->t);
	trace_free(x->of);
	columns_deinit(&x->columns);
}

static void lends_what_is_exact(void **state)
{
	struct lent x = {0};
	struct track_data a = {0}, b = {0};

	(void)state;
	set_up(&x);
	for (track_idx i = 0; i < N; i++) {
		n_loads = 0;
		assert_true(trace_load_track(x.t, i, 0, &a, NULL));
		assert_int_equal(n_loads, !cases[i].is_lent);
		assert_true(trace_load_track(x.of, i, 0, &b, NULL));
		same(&a, &b);
		assert_int_equal(b.n, cases[i].wave.n_records);
	}
	n_loads = 0;
	assert_true(trace_load_track(x.t, 1, TRACK_STATES, &a, NULL));
	assert_int_equal(n_loads, 1);
	assert_int_equal(a.n_states, 1);
	track_data_deinit(&a);
	track_data_deinit(&b);
	tear_down(&x);
}

/* Columns may come from a file that somebody damaged. */
static void damaged_columns_are_not_lent(void **state)
{
	struct lent x = {0};
	struct track_data a = {0};
	struct lane *l;

	(void)state;
	set_up(&x);
	l = &x.columns.lanes[x.columns.first_lane[1]];
	n_loads = 0;
	for (unsigned i = 0; i < 3; i++) {
		uint32_t *at[] = {(uint32_t *)&l->code[1], (uint32_t *)&l->start[1],
			(uint32_t *)&l->stall[1]};
		uint32_t before = *at[i];

		*at[i] = i ? UINT32_MAX - 1 : MEM_COUNT(code);
		assert_true(trace_load_track(x.t, 1, 0, &a, NULL));
		assert_int_equal(n_loads, i + 1);
		assert_int_equal(a.code[1], 2);
		assert_int_equal(a.start_cyc[1], 204);
		assert_int_equal(a.stall_cyc[1], 8);
		*at[i] = before;
	}
	((uint8_t *)l->inst_class)[0] = 200;
	assert_true(trace_load_track(x.t, 1, 0, &a, NULL));
	assert_int_equal(n_loads, 4);
	track_data_deinit(&a);
	tear_down(&x);
}

static void other_captures_take_nothing(void **state)
{
	struct mem_wave waves[N];
	struct lent x = {0};
	struct trace *t;

	(void)state;
	set_up(&x);
	memcpy(waves, x.waves, sizeof(waves));
	waves[N - 1].wave = 5;
	t = make(waves);
	lend_to(&x.lend, t);
	assert_null(t->lender);
	trace_free(t);
	tear_down(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lends_what_is_exact),
		cmocka_unit_test(damaged_columns_are_not_lent),
		cmocka_unit_test(other_captures_take_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
