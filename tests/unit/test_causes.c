/* SPDX-License-Identifier: Apache-2.0 */
/* Causes: every rule of the taxonomy once, and the sums. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>
#include <string.h>

#include "analysis/waves/causes.h"
#include "mem_trace.h"

static const struct mem_code code[] = {
	{"; k", NULL, 0},
	{"s_load_dwordx2 s[0:1], s[2:3], 0x0", NULL, 0},
	{"s_waitcnt lgkmcnt(0)", NULL, 0},
	{"buffer_load_dword v0, v1, s[0:3], 0 offen", NULL, 0},
	{"s_nop 1", NULL, 0},
	{"v_add_f32 v0, v0, v0", NULL, 0},
	{"ds_read_b32 v2, v3", NULL, 0},
	{"s_waitcnt vmcnt(0)", NULL, 0},
	{"s_barrier", NULL, 0},
	{"s_cbranch_scc1 65530", NULL, 0},
	{"s_sleep 1", NULL, 0},
	{"ds_bpermute_b32 v0, v1, v2", NULL, 0},
	{"s_endpgm", NULL, 0},
};

static const struct mem_record records[] = {
	{108, 1, 0, 4, 1},    /* launch 8, issue SMEM 4 */
	{112, 9, 40, 40, 2},  /* wait SMEM 40 */
	{152, 3, 8, 12, 3},   /* pipe-stall VMEM-load 8, issue 4 */
	{164, 9, 24, 24, 4},  /* nop: padding 8, excess 16 */
	{188, 6, 0, 4, 5},    /* issue VALU 4 */
	{200, 5, 0, 4, 6},    /* gap:cross-pipe 8, issue LDS 4 */
	{204, 9, 4, 4, 2},    /* wait LDS 4: free */
	{208, 9, 4, 4, 2},    /* wait (drained) 4 */
	{212, 9, 88, 88, 7},  /* wait VMEM-load 88 */
	{300, 9, 20, 20, 8},  /* barrier 20 */
	{320, 7, 0, 4, 9},    /* issue BRANCH 4 */
	{336, 9, 12, 12, 10}, /* gap:branch 12, sleep 12 */
	{352, 5, 0, 4, 11},   /* gap:other 4, issue LDS-xlane 4 */
	{352, 9, 12, 12, 2},  /* starts 4 early: wait LDS-xlane 8 */
	{364, 11, 4, 24, 12}, /* drain 24 */
};

static const struct mem_wave waves[] = {
	{.begin = 100, .end = 400, MEM_RECORDS(records)}, /* tail 12 */
	{.slot = 1, .begin = 100, .end = 108},		  /* no record: tail 8 */
};

static const struct {
	const char *name;
	uint64_t cyc, hits;
	enum bucket bucket;
	const char *family;
} want[] = {
	{"wait:VMEM-load", 88, 1, BUCKET_WAIT, "memory"},
	{"wait:SMEM", 40, 1, BUCKET_WAIT, "scalar"},
	{"drain", 24, 1, BUCKET_DRAIN, "memory"},
	{"barrier", 20, 1, BUCKET_WAIT, "sync"},
	{"tail", 20, 2, BUCKET_IDLE, "launch"},
	{"nop-excess", 16, 1, BUCKET_STALL, "scheduling"},
	{"gap:branch", 12, 1, BUCKET_IDLE, "fetch"},
	{"sleep", 12, 1, BUCKET_WAIT, "sync"},
	{"gap:cross-pipe", 8, 1, BUCKET_IDLE, "dependency"},
	{"launch", 8, 1, BUCKET_IDLE, "launch"},
	{"nop-padding", 8, 1, BUCKET_STALL, "scheduling"},
	{"pipe-stall:VMEM-load", 8, 1, BUCKET_STALL, "memory"},
	{"wait:LDS-xlane", 8, 1, BUCKET_WAIT, "cross-lane"},
	{"gap:other", 4, 1, BUCKET_IDLE, "arbiter"},
	{"issue:BRANCH", 4, 1, BUCKET_ISSUE, "useful"},
	{"issue:LDS", 4, 1, BUCKET_ISSUE, "useful"},
	{"issue:LDS-xlane", 4, 1, BUCKET_ISSUE, "useful"},
	{"issue:SMEM", 4, 1, BUCKET_ISSUE, "useful"},
	{"issue:VALU", 4, 1, BUCKET_ISSUE, "useful"},
	{"issue:VMEM-load", 4, 1, BUCKET_ISSUE, "useful"},
	{"wait:(drained)", 4, 1, BUCKET_WAIT, "scheduling"},
	{"wait:LDS", 4, 1, BUCKET_WAIT, "memory"},
	{"issue:BARRIER", 0, 1, BUCKET_ISSUE, "useful"},
	{"issue:NOP", 0, 1, BUCKET_ISSUE, "useful"},
	{"issue:SLEEP", 0, 1, BUCKET_ISSUE, "useful"},
	{"issue:WAIT", 0, 5, BUCKET_ISSUE, "useful"},
};

static struct causes *ask(const struct trace *t, const struct busy *b, unsigned flags)
{
	struct incore_error e = {0};
	struct causes *c = causes_new(t, b, flags, &e);
	struct collector col;
	const struct collector *list[] = {&col};
	struct walk_result r;

	assert_non_null(c);
	col = causes_collector(c);
	assert_true(walk_tracks(t, &(struct walk_options){0}, list, 1, &r, &e));
	walk_result_deinit(&r);
	assert_true(causes_finish(c, &e));
	return c;
}

static void check_table(const struct causes *c)
{
	for (uint32_t i = 0; i < c->n && i < MEM_COUNT(want); i++) {
		assert_string_equal(c->v[i].name, want[i].name);
		assert_int_equal(c->v[i].cyc, want[i].cyc);
		assert_int_equal(c->v[i].hits, want[i].hits);
		assert_int_equal(c->v[i].bucket, want[i].bucket);
		assert_string_equal(family_name(c->v[i].family), want[i].family);
	}
	assert_int_equal(c->n, MEM_COUNT(want));
	assert_int_equal(c->duration_cyc, 308);
	assert_int_equal(c->residue_cyc, 0);
}

static void test_causes_each(void **state)
{
	struct trace *t = mem_trace_new(&(struct mem_capture){MEM_CODE(code), MEM_WAVES(waves)});
	struct causes *c = ask(t, NULL, 0);

	(void)state;
	check_table(c);
	for (uint32_t i = 0; i < c->n; i++)
		if (!strcmp(c->v[i].name, "wait:LDS")) {
			assert_int_equal(c->v[i].free_hits, 1);
			assert_int_equal(c->v[i].free_cyc, 4);
		}
	causes_free(c);
	trace_free(t);
}

/* Rows split the same cycles; every row's cells are found and sorted. */
static void test_causes_rows(void **state)
{
	struct trace *t = mem_trace_new(&(struct mem_capture){MEM_CODE(code), MEM_WAVES(waves)});
	struct causes *c = ask(t, NULL, CAUSES_ROWS);
	uint64_t by_cause[MEM_COUNT(want)] = {0};
	const struct cause_cell *x;
	uint32_t n;

	(void)state;
	check_table(c);
	for (uint32_t i = 0; i < c->n_cells; i++)
		by_cause[c->cells[i].cause] += c->cells[i].cyc;
	for (uint32_t i = 0; i < c->n; i++)
		assert_int_equal(by_cause[i], want[i].cyc);
	x = causes_of_row(c, 2, &n);
	assert_int_equal(n, 5); /* SMEM, LDS-xlane, LDS, drained, issue */
	assert_int_equal(x[0].cyc, 40);
	assert_string_equal(c->v[causes_main_of_row(c, 2)->cause].name, "wait:SMEM");
	assert_string_equal(c->v[causes_main_of_row(c, 12)->cause].name, "drain");
	assert_null(causes_main_of_row(c, 5));
	causes_of_row(c, 0, &n);
	assert_int_equal(n, 0);
	causes_free(c);
	trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_causes_each),
		cmocka_unit_test(test_causes_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
