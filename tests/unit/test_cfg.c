/* SPDX-License-Identifier: Apache-2.0 */
/* test_cfg.c: blocks, dominators and loops, by hand and against a slow definition on random code.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/flow/cfg.h"
#include "mem_trace.h"

#define MANY 60u

static struct trace *make(const struct mem_code *code, uint32_t n)
{
	return mem_trace_new(&(struct mem_capture){.code = code, .n_code = n});
}

/* Branches count words from the next row; rows are 4 bytes here. */
static void put_branch(char *out, size_t size, const char *op, uint32_t from, uint32_t to)
{
	snprintf(out, size, "%s %u", op, (unsigned)(uint16_t)((int)to - (int)from - 1));
}

static void test_cfg_rotated_loop(void **state)
{
	/* 1: jump to the test at 3; 2: body; 3: test, jumps back to 2; as compilers rotate it */
	static const struct mem_code code[] = {{.text = "; k"}, {.text = "s_branch 1"},
		{.text = "v_mov_b32 v0, v1"}, {.text = "s_cbranch_scc1 65534"},
		{.text = "s_endpgm"}};
	struct trace *t = make(code, MEM_COUNT(code));
	struct cfg g;

	(void)state;
	assert_true(cfg_build(&g, t, NULL));
	assert_int_equal(g.n_blocks, 4);
	assert_int_equal(g.n_loops, 1);
	assert_false(g.is_irreducible);
	assert_int_equal(cfg_block_first(&g, g.loops[0].header), 3);
	assert_int_equal(cfg_block_last(&g, g.loops[0].latch), 2);
	assert_int_equal(g.loops[0].n_rows, 2);
	assert_int_equal(g.target[3], 2);
	assert_int_equal(g.target[2], NO_CODE);
	assert_true(cfg_loop_has(&g, 0, g.block_of[2]));
	assert_false(cfg_loop_has(&g, 0, g.block_of[4]));
	cfg_deinit(&g);
	trace_free(t);
}

static void test_cfg_backward_jump_is_no_loop(void **state)
{
	/* 1 jumps over 2..3 to 4, 4 jumps back to 2, 3 ends: nothing repeats */
	static const struct mem_code code[] = {{.text = "; k"}, {.text = "s_branch 2"},
		{.text = "s_nop 0"}, {.text = "s_endpgm"}, {.text = "s_branch 65533"}};
	struct trace *t = make(code, MEM_COUNT(code));
	struct cfg g;

	(void)state;
	assert_true(cfg_build(&g, t, NULL));
	assert_int_equal(g.n_loops, 0);
	assert_false(g.is_irreducible);
	cfg_deinit(&g);
	trace_free(t);
}

static void test_cfg_nested(void **state)
{
	/* 1 outer header, 2 inner header, 3 inner latch, 4 outer latch, 5 end */
	static const struct mem_code code[] = {{.text = "; k"}, {.text = "s_nop 1"},
		{.text = "s_nop 2"}, {.text = "s_cbranch_vccnz 65534"},
		{.text = "s_cbranch_scc0 65532"}, {.text = "s_endpgm"}};
	struct trace *t = make(code, MEM_COUNT(code));
	struct cfg g;

	(void)state;
	assert_true(cfg_build(&g, t, NULL));
	assert_int_equal(g.n_loops, 2);
	assert_int_equal(g.loops[0].depth, 1);
	assert_int_equal(g.loops[1].depth, 2);
	assert_int_equal(g.loops[1].parent, 0);
	assert_int_equal(g.loops[0].n_rows, 4);
	assert_int_equal(g.loops[1].n_rows, 2);
	assert_true(g.loops[1].is_innermost);
	assert_false(g.loops[0].is_innermost);
	assert_true(cfg_loop_has(&g, 0, g.block_of[3]));
	cfg_deinit(&g);
	trace_free(t);
}

static void test_cfg_irreducible(void **state)
{
	/* 1 enters the cycle 2-3 in its middle */
	static const struct mem_code code[] = {{.text = "; k"}, {.text = "s_cbranch_scc0 1"},
		{.text = "s_nop 0"}, {.text = "s_cbranch_scc1 65534"}, {.text = "s_endpgm"}};
	struct trace *t = make(code, MEM_COUNT(code));
	struct cfg g;

	(void)state;
	assert_true(cfg_build(&g, t, NULL));
	assert_true(g.is_irreducible);
	assert_int_equal(g.n_loops, 0);
	cfg_deinit(&g);
	trace_free(t);
}

static void test_cfg_strange_code(void **state)
{
	/* doubled and descending addresses, wild and indirect jumps, no label */
	static const struct mem_code code[] = {{.text = "s_branch 65535", .address = 0x100},
		{.text = "s_nop 0", .address = 0x100},
		{.text = "s_setpc_b64 s[0:1]", .address = 0x80},
		{.text = "s_branch 30000", .address = UINT64_MAX - 3},
		{.text = "s_cbranch_scc0", .address = 8}, {.text = "s_nop 0", .address = 12},
		{.text = "s_branch 65534", .address = 16}};
	struct trace *t = make(code, MEM_COUNT(code));
	struct cfg g;

	(void)state;
	assert_true(cfg_build(&g, t, NULL));
	assert_int_equal(g.n_duplicates, 1);
	assert_int_equal(g.n_indirect, 1);
	assert_int_equal(g.n_wild, 1);
	assert_int_equal(g.block_of[1], g.block_of[0]);
	assert_int_equal(g.n_loops, 2); /* 0x100 to itself, 12 to 12 */
	cfg_deinit(&g);
	trace_free(t);
}

static void test_cfg_empty(void **state)
{
	static const struct mem_code code[] = {{.text = "; nothing but a name"}};
	struct trace *t = make(code, 1);
	struct cfg g;

	(void)state;
	assert_true(cfg_build(&g, t, NULL));
	assert_int_equal(g.n_blocks, 0);
	assert_int_equal(g.n_loops, 0);
	cfg_deinit(&g);
	trace_free(t);
}

/* Is b reachable from an entry without passing through block `without`? */
static void reach(const struct cfg *g, uint32_t without, bool *seen)
{
	uint32_t stack[MANY * 2], n = 0;

	memset(seen, 0, sizeof(bool) * g->n_blocks);
	for (uint32_t i = 0; i < g->n_blocks; i++)
		if (g->blocks[i].is_entry && i != without) {
			seen[i] = true;
			stack[n++] = i;
		}
	while (n > 0) {
		const struct cfg_block *b = &g->blocks[stack[--n]];

		for (unsigned s = 0; s < CFG_EDGES; s++) {
			uint32_t to = b->succ[s];

			if (to == NO_BLOCK || to == without || seen[to])
				continue;
			seen[to] = true;
			stack[n++] = to;
		}
	}
}

/* Blocks that reach a latch of h without passing h, h included. */
static uint32_t natural_body(const struct cfg *g, uint32_t h, const bool *live, bool *body)
{
	uint32_t stack[MANY * 2], n = 0, count = 1;

	memset(body, 0, sizeof(bool) * g->n_blocks);
	body[h] = true;
	for (uint32_t i = 0; i < g->blocks[h].n_preds; i++) {
		uint32_t p = g->preds[g->blocks[h].first_pred + i];

		if (live[p] && cfg_dominates(g, h, p) && !body[p]) {
			body[p] = true;
			stack[n++] = p;
			count++;
		}
	}
	while (n > 0) {
		uint32_t x = stack[--n];

		for (uint32_t i = 0; i < g->blocks[x].n_preds; i++) {
			uint32_t p = g->preds[g->blocks[x].first_pred + i];

			if (!live[p] || body[p])
				continue;
			body[p] = true;
			stack[n++] = p;
			count++;
		}
	}
	return count;
}

static void check_graph(const struct cfg *g)
{
	static bool live[MANY + 1], without[MANY + 1], body[MANY + 1];

	reach(g, NO_BLOCK, live);
	for (uint32_t a = 0; a < g->n_blocks; a++) {
		reach(g, a, without);
		for (uint32_t b = 0; live[a] && b < g->n_blocks; b++)
			if (live[b])
				assert_int_equal(cfg_dominates(g, a, b), a == b || !without[b]);
	}
	for (uint32_t l = 0; l < g->n_loops; l++) {
		uint32_t n = natural_body(g, g->loops[l].header, live, body);

		assert_int_equal(n, g->loops[l].n_blocks);
		for (uint32_t b = 0; b < g->n_blocks; b++)
			assert_int_equal(body[b], cfg_loop_has(g, l, b));
	}
}

static void test_cfg_random(void **state)
{
	static char text[MANY][40];
	struct mem_code code[MANY];
	uint32_t seed = 12345;

	(void)state;
	for (unsigned round = 0; round < 400; round++) {
		uint32_t n = 3 + round % (MANY - 3);
		struct trace *t;
		struct cfg g;

		memset(code, 0, sizeof(code));
		for (uint32_t i = 0; i < n; i++) {
			uint32_t kind;

			seed = seed * 1664525u + 1013904223u;
			kind = seed >> 16 & 15;
			if (kind < 6)
				put_branch(text[i], sizeof(text[i]), "s_cbranch_scc0", i,
					(seed >> 20) % n);
			else if (kind == 6)
				put_branch(
					text[i], sizeof(text[i]), "s_branch", i, (seed >> 20) % n);
			else
				strcpy(text[i], kind == 7 ? "s_endpgm" : "s_nop 0");
			code[i].text = text[i];
		}
		code[0].text = "; k";
		t = make(code, n);
		assert_true(cfg_build(&g, t, NULL));
		check_graph(&g);
		cfg_deinit(&g);
		trace_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cfg_rotated_loop),
		cmocka_unit_test(test_cfg_backward_jump_is_no_loop),
		cmocka_unit_test(test_cfg_nested),
		cmocka_unit_test(test_cfg_irreducible),
		cmocka_unit_test(test_cfg_strange_code),
		cmocka_unit_test(test_cfg_empty),
		cmocka_unit_test(test_cfg_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
