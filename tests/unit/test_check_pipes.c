/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of check for traces of pipes: each degenerate trace gives its finding, sound ones none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>
#include <string.h>

#include "analysis/check/check.h"
#include "mem_pipes.h"

static struct check *ask(const struct trace *t)
{
	struct walk_result r = {0};
	struct incore_error e = {0};
	struct check *c = check_run(t, NULL, NULL, &r, &e);

	assert_non_null(c);
	walk_result_deinit(&r);
	return c;
}

/* Findings of one trace: exactly these ids, in any order, and that verdict. */
static void expect(const struct mem_pipes *m, enum verdict verdict, const char *const *ids)
{
	struct trace *t = mem_pipes_new(m);
	struct check *c = ask(t);
	uint32_t n = 0;

	for (; ids[n]; n++)
		if (!check_find(c, ids[n]))
			fail_msg("no finding %s", ids[n]);
	for (uint32_t i = 0; i < c->n_findings; i++) {
		bool is_known = false;

		for (uint32_t k = 0; k < n; k++)
			is_known |= !strcmp(ids[k], c->findings[i].note.code);
		if (!is_known)
			fail_msg("unexpected finding %s: %s", c->findings[i].note.code,
				c->findings[i].note.message);
	}
	assert_int_equal(c->verdict, verdict);
	check_free(c);
	trace_free(t);
}

#define IDS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NONE ((const char *const[]){NULL})

static const struct mem_slice mte2[] = {
	{0, 500, 0, "MOV_OUT_TO_L1", NULL}, {500, 1, 0, "SET_FLAG PIPE:MTE2", NULL}};
static const struct mem_slice cube[] = {{10, 492, 0, "WAIT_FLAG PIPE:MTE2", NULL},
	{502, 700, 0, "MMAD", NULL}, {1202, 700, 0, "MMAD", NULL},
	{1902, 1, 0, "SET_FLAG PIPE:M", NULL}};
static const struct mem_slice fixp[] = {
	{12, 1892, 0, "WAIT_FLAG PIPE:M", NULL}, {1904, 90, 0, "FIX_L0C_TO_OUT", NULL}};
static const struct mem_slice end[] = {{5, 1, 0, "JUMPC", NULL}, {1995, 1, 0, "END", NULL}};
static const struct mem_slice no_end[] = {{5, 1, 0, "JUMPC", NULL}};
static const struct link links[] = {{3, 1, 1, 0, LINK_FLAG}, {1, 2, 3, 0, LINK_FLAG}};

#define CUBE_CORE(flow)                                                                            \
	{"core0.cubecore0/FLOWCTRL", MEM_SLICES(flow)},                                            \
		{"core0.cubecore0/CUBE", MEM_SLICES(cube)},                                        \
		{"core0.cubecore0/FIXP", MEM_SLICES(fixp)},                                        \
	{                                                                                          \
		"core0.cubecore0/MTE2", MEM_SLICES(mte2)                                           \
	}

static void test_check_pipes_sound(void **state)
{
	static const struct mem_pipe p[] = {CUBE_CORE(end)};

	(void)state;
	expect(&(struct mem_pipes){MEM_PIPES(p), MEM_LINKS(links), .bytes = 1}, VERDICT_OK, NONE);
}

static void test_check_pipes_tail(void **state)
{
	static const struct mem_pipe p[] = {CUBE_CORE(no_end)};
	static const struct mem_pipe q[] = {{"core0.cubecore0/CUBE", MEM_SLICES(cube)},
		{"core0.cubecore0/MTE2", MEM_SLICES(mte2)}};
	static const struct link one[] = {{1, 0, 1, 0, LINK_FLAG}};

	(void)state;
	expect(&(struct mem_pipes){MEM_PIPES(p), MEM_LINKS(links)}, VERDICT_SUSPECT,
		IDS("truncated"));
	/* no FIXP at all: the results never left */
	expect(&(struct mem_pipes){MEM_PIPES(q), MEM_LINKS(one)}, VERDICT_SUSPECT,
		IDS("truncated", "unmatched-flags"));
}

static void test_check_pipes_engines(void **state)
{
	static const struct mem_slice scalar[] = {{0, 900, 0, "ADD", NULL}};
	static const struct mem_slice wait[] = {{0, 900, 0, "WAIT_FLAG PIPE:MTE2", NULL}};
	static const struct mem_slice move[] = {{0, 600, 0, "MOV_OUT_TO_UB", NULL}};
	static const struct mem_slice add[] = {
		{99000, 10, 0, "VADD", NULL}, {99500, 10, 0, "VADD", NULL}};
	static const struct mem_slice push[] = {{0, 500, 0, "VF", NULL}, {600, 600, 0, "VF", NULL}};
	/* a wait booked on the vector pipe is no work */
	static const struct mem_pipe dead[] = {{"core0.veccore0/SCALAR", MEM_SLICES(scalar)},
		{"core0.veccore0/VECTOR", MEM_SLICES(wait)}};
	static const struct mem_pipe copy[] = {{"core0.veccore0/SCALAR", MEM_SLICES(scalar)},
		{"core0.veccore0/MTE2", MEM_SLICES(move)}};
	static const struct mem_pipe tiny[] = {{"core0.veccore0/MTE2", MEM_SLICES(move)},
		{"core0.veccore0/VECTOR", MEM_SLICES(add)}};
	/* A5: work of a vector core is not on VECTOR */
	static const struct mem_pipe a5[] = {{"core0.veccore0/PUSHQ", MEM_SLICES(push)}};

	(void)state;
	expect(&(struct mem_pipes){MEM_PIPES(dead)}, VERDICT_SUSPECT,
		IDS("no-compute", "sync-bound", "truncated", "unmatched-flags"));
	expect(&(struct mem_pipes){MEM_PIPES(copy)}, VERDICT_OK, IDS("data-movement-only"));
	expect(&(struct mem_pipes){MEM_PIPES(tiny)}, VERDICT_SUSPECT,
		IDS("near-empty", "no-flag-events"));
	expect(&(struct mem_pipes){MEM_PIPES(a5)}, VERDICT_OK, NONE);
}

static void test_check_pipes_sides(void **state)
{
	static const struct mem_slice scalar[] = {{0, 900, 0, "ADD", NULL}};
	static const struct mem_slice once[] = {{0, 1500, 0, "VADD", NULL}};
	static const struct mem_pipe half[] = {CUBE_CORE(end),
		{"core0.veccore0/SCALAR", MEM_SLICES(scalar)},
		{"core0.veccore1/SCALAR", MEM_SLICES(scalar)}};
	static const struct mem_pipe lone[] = {
		CUBE_CORE(end), {"core0.veccore0/VECTOR", MEM_SLICES(once)}};
	static const struct mem_pipe single[] = {{"core0.veccore0/VECTOR", MEM_SLICES(once)}};

	(void)state;
	expect(&(struct mem_pipes){MEM_PIPES(half), MEM_LINKS(links)}, VERDICT_SUSPECT,
		IDS("no-compute", "one-side-empty"));
	expect(&(struct mem_pipes){MEM_PIPES(lone), MEM_LINKS(links)}, VERDICT_SUSPECT,
		IDS("sub-block-collision"));
	expect(&(struct mem_pipes){MEM_PIPES(single)}, VERDICT_OK, IDS("no-loop"));
}

static void test_check_pipes_flags(void **state)
{
	static const struct mem_pipe p[] = {CUBE_CORE(end)};
	static const struct link twice[] = {
		{3, 1, 1, 0, LINK_FLAG}, {1, 2, 3, 0, LINK_FLAG}, {3, 2, 1, 0, LINK_FLAG}};
	static const struct link one[] = {{3, 1, 1, 0, LINK_FLAG}};

	(void)state;
	expect(&(struct mem_pipes){MEM_PIPES(p), MEM_LINKS(twice)}, VERDICT_OK,
		IDS("reused-flags"));
	expect(&(struct mem_pipes){MEM_PIPES(p), MEM_LINKS(one)}, VERDICT_OK,
		IDS("unmatched-flags"));
}

/* A2/A3 states bytes; zero of them in all transfers is suspect. */
static void test_check_pipes_bytes(void **state)
{
	static const struct mem_pipe p[] = {CUBE_CORE(end)};
	struct mem_pipes m = {MEM_PIPES(p), MEM_LINKS(links)};
	struct trace *t = mem_pipes_new(&m);
	struct check *c;

	(void)state;
	t->meta.arch = "Ascend910B3";
	c = ask(t);
	assert_null(check_find(c, "zero-byte-moves")); /* ticks: nothing states bytes */
	check_free(c);
	t->meta.is_from_us = true;
	c = ask(t);
	assert_non_null(check_find(c, "zero-byte-moves"));
	check_free(c);
	t->meta.arch = "Ascend950PR_9599";
	c = ask(t);
	assert_null(check_find(c, "zero-byte-moves"));
	check_free(c);
	trace_free(t);
}

static void test_check_pipes_shell(void **state)
{
	static const struct mem_pipe none[] = {{NULL, NULL, 0}};
	struct mem_pipes m = {.pipes = none, .n_pipes = 0};
	struct trace *t = mem_pipes_new(&m);
	struct check *c;

	(void)state;
	c = ask(t);
	assert_int_equal(c->verdict, VERDICT_UNUSABLE);
	assert_non_null(check_find(c, "empty-shell"));
	check_free(c);
	t->has_stated_totals = true;
	c = ask(t);
	assert_int_equal(c->verdict, VERDICT_OK);
	assert_non_null(check_find(c, "no-timeline"));
	check_free(c);
	trace_free(t);
}

/* What the model found wrong with the kernel it timed is a finding, whatever it is. */
static void test_check_pipes_model(void **state)
{
	static const char *const codes[] = {"model-race", "model-deadlock", "model-unmatched-wait",
		"model-double-set", "model-flag-left-set", "model-bad-flag", "model-counter-full",
		"model-missing-barrier", "model-more-findings", "model-incomplete", "model-later"};
	static const struct mem_pipe p[] = {CUBE_CORE(end)};
	struct trace *t =
		mem_pipes_new(&(struct mem_pipes){MEM_PIPES(p), MEM_LINKS(links), .bytes = 1});
	struct check *c;

	(void)state;
	t->meta.evidence = EVIDENCE_ESTIMATE;
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		assert_true(trace_note_as(t, NOTE_CONTRADICTORY, codes[i], NULL, INCORE_NO_OFFSET,
			1, "found %zu", i));
	c = ask(t);
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		assert_non_null(check_find(c, codes[i]));
		assert_int_equal(check_find(c, codes[i])->note.weight, WEIGHT_WARNING);
		assert_true(check_find(c, codes[i])->advice[0]);
	}
	assert_int_equal(c->verdict, VERDICT_SUSPECT);
	check_free(c);
	trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_check_pipes_sound),
		cmocka_unit_test(test_check_pipes_tail),
		cmocka_unit_test(test_check_pipes_engines),
		cmocka_unit_test(test_check_pipes_sides),
		cmocka_unit_test(test_check_pipes_flags),
		cmocka_unit_test(test_check_pipes_bytes),
		cmocka_unit_test(test_check_pipes_shell),
		cmocka_unit_test(test_check_pipes_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
