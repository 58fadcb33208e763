/* SPDX-License-Identifier: Apache-2.0 */
/* test_wait_pairs.c: who was consumed by which wait: last, slack at most, in flight, iterations. */
#include "analysis/waves/wait_pairs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "analysis/waves/latency.h"
#include "mem_trace.h"

enum {
	LABEL,
	BEFORE,
	LOAD, /* header of the loop */
	W_IN,
	BRANCH,
	X,
	Y,
	W_VM,
	DS_A,
	DS_B,
	W_FREE,
	S_A,
	S_B,
	W_GROUP,
	S_C,
	DS_C,
	W_MIXED,
	ENDPGM
};

static const struct mem_code code[] = {
	[LABEL] = {.text = "; k"},
	[BEFORE] = {.text = "buffer_load_dword v0, v1, s[0:3], 0 offen"},
	[LOAD] = {.text = "buffer_load_dword v2, v1, s[0:3], 0 offen"},
	[W_IN] = {.text = "s_waitcnt vmcnt(1)"},
	[BRANCH] = {.text = "s_cbranch_scc1 65533"}, /* to LOAD */
	[X] = {.text = "buffer_load_dword v3, v1, s[0:3], 0 offen"},
	[Y] = {.text = "buffer_load_dword v4, v1, s[0:3], 0 offen"},
	[W_VM] = {.text = "s_waitcnt vmcnt(0)"},
	[DS_A] = {.text = "ds_read_b32 v0, v1"},
	[DS_B] = {.text = "ds_read_b32 v2, v1"},
	[W_FREE] = {.text = "s_waitcnt lgkmcnt(0)"},
	[S_A] = {.text = "s_load_dwordx2 s[0:1], s[2:3], 0x0"},
	[S_B] = {.text = "s_load_dwordx2 s[4:5], s[2:3], 0x8"},
	[W_GROUP] = {.text = "s_waitcnt lgkmcnt(0)"},
	[S_C] = {.text = "s_load_dwordx2 s[0:1], s[2:3], 0x0"},
	[DS_C] = {.text = "ds_read_b32 v0, v1"},
	[W_MIXED] = {.text = "s_waitcnt lgkmcnt(1)"},
	[ENDPGM] = {.text = "s_endpgm"},
};

static const struct mem_record records[] = {
	{100, 3, 0, 4, BEFORE},
	{104, 3, 0, 4, LOAD},
	{108, 9, 92, 92, W_IN}, /* BEFORE came back at 200 */
	{200, 7, 0, 4, BRANCH},
	{204, 3, 0, 4, LOAD},
	{208, 9, 40, 40, W_IN}, /* LOAD of the pass before came back at 248 */
	{248, 8, 0, 4, BRANCH},
	{252, 3, 0, 4, X},
	{256, 3, 0, 4, Y},
	{260, 9, 140, 140, W_VM}, /* LOAD of 204, X, Y: Y came back at 400 */
	{400, 5, 0, 4, DS_A},
	{404, 5, 0, 4, DS_B},
	{600, 9, 4, 4, W_FREE}, /* both were back before 600 */
	{604, 1, 0, 4, S_A},
	{608, 1, 0, 4, S_B},
	{612, 9, 88, 88, W_GROUP}, /* either came back at 700 */
	{700, 1, 0, 4, S_C},
	{704, 5, 0, 4, DS_C},
	{708, 9, 12, 12, W_MIXED}, /* one of two */
	{720, 11, 0, 4, ENDPGM},
};

static const struct mem_wave waves[] = {
	{.slot = 0, .begin = 96, .end = 724, MEM_RECORDS(records)},
	{.slot = 1, .begin = 96, .end = 724, MEM_RECORDS(records)},
};

struct fixture {
	struct trace *t;
	struct cfg g;
	struct latency *l;
};

static void run(struct fixture *f, const struct selection *s)
{
	struct collector made;
	const struct collector *list = &made;
	struct walk_options o = {.selection = s};
	struct walk_result r;

	f->t = mem_trace_new(&(struct mem_capture){MEM_CODE(code), MEM_WAVES(waves)});
	assert_true(cfg_build(&f->g, f->t, NULL));
	f->l = latency_new(f->t, NULL);
	assert_non_null(f->l);
	assert_true(latency_with_pairs(f->l, &f->g, NULL));
	made = latency_collector(f->l);
	assert_true(walk_tracks(f->t, &o, &list, 1, &r, NULL));
	walk_result_deinit(&r);
	assert_true(latency_finish(f->l, NULL));
}

static void end(struct fixture *f)
{
	latency_free(f->l);
	cfg_deinit(&f->g);
	trace_free(f->t);
}

static const struct wait_pair *pair(const struct fixture *f, code_idx producer, code_idx wait)
{
	const struct wait_pair *p = wait_pairs_find(f->l->pairs, producer, wait);

	assert_non_null(p);
	return p;
}

static void test_in_order(void **state)
{
	struct fixture f;
	const struct wait_pair *p;

	(void)state;
	run(&f, NULL);
	p = pair(&f, BEFORE, W_IN); /* issued before the loop: no common one */
	assert_int_equal(p->n, 2);  /* two waves */
	assert_int_equal(p->n_last, 2);
	assert_int_equal(p->loop, NO_LOOP);
	assert_int_equal(p->iterations.n, 0);
	assert_int_equal(p->in_flight.max, 2);
	assert_int_equal(p->together.max, 1);
	p = pair(&f, LOAD, W_VM); /* issued at 204, but the one before it came back at 248 */
	assert_int_equal(p->n_last, 0);
	assert_int_equal(p->together.n, 0);
	assert_int_equal(p->slack_cyc.n, 2);
	assert_int_equal(p->slack_cyc.median, 400 - 248);
	p = pair(&f, X, W_VM);
	assert_int_equal(p->slack_cyc.median, 400 - 252);
	p = pair(&f, Y, W_VM);
	assert_int_equal(p->n_last, 2);
	assert_int_equal(p->together.median, 3);
	assert_int_equal(p->in_flight.median, 3);
	assert_int_equal(p->slack_cyc.n, 0);
	assert_null(wait_pairs_find(f.l->pairs, X, W_IN));
	end(&f);
}

static void test_iterations(void **state)
{
	struct fixture f;
	const struct wait_pair *p;

	(void)state;
	run(&f, NULL);
	p = pair(&f, LOAD, W_IN);
	assert_int_equal(p->n, 2);
	assert_int_not_equal(p->loop, NO_LOOP);
	assert_int_equal(p->iterations.n, 2);
	assert_int_equal(p->iterations.min, 1);
	assert_int_equal(p->iterations.max, 1);
	end(&f);
}

static void test_without_order(void **state)
{
	struct fixture f;
	const struct wait_pair *p;

	(void)state;
	run(&f, NULL);
	p = pair(&f, DS_A, W_FREE); /* did not block: before the start of the wait */
	assert_int_equal(p->slack_cyc.max, 600 - 400);
	assert_int_equal(pair(&f, DS_B, W_FREE)->n_last, 2);
	p = pair(&f, S_A, W_GROUP);
	assert_int_equal(p->n_group, 2);
	assert_int_equal(p->n_last, 0);
	assert_int_equal(p->slack_cyc.median, 700 - 604);
	assert_int_equal(p->together.n, 0);
	p = pair(&f, S_B, W_GROUP);
	assert_int_equal(p->slack_cyc.median, 700 - 608);
	assert_int_equal(p->together.median, 2);
	p = pair(&f, S_C, W_MIXED);
	assert_int_equal(p->n, 0);
	assert_int_equal(p->n_candidates, 2);
	assert_int_equal(p->slack_cyc.n, 0);
	assert_int_equal(pair(&f, DS_C, W_MIXED)->n_candidates, 2);
	end(&f);
}

/* A wait belongs to the window it starts in; a release before it is not known then. */
static void test_window(void **state)
{
	struct selection s = {.has_from = true, .from_cyc = 160, .has_to = true, .to_cyc = 300};
	struct fixture f;

	(void)state;
	run(&f, &s);
	assert_int_equal(f.l->pairs->v.n, 3);
	assert_int_equal(pair(&f, LOAD, W_VM)->slack_cyc.median, 400 - 204);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_order),
		cmocka_unit_test(test_iterations),
		cmocka_unit_test(test_without_order),
		cmocka_unit_test(test_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
