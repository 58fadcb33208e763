/* SPDX-License-Identifier: Apache-2.0 */
/* test_waits.c: which instances a wait consumes, in order, out of order, mixed, windowed. */
#include "analysis/waves/waits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "mem_trace.h"

/* Rows by number; records name them. */
enum {
	LABEL,
	S_LOAD,
	DS_READ,
	LOAD,
	STORE,
	W_LGKM0,
	W_LGKM1,
	W_VM0,
	W_VM1,
	W_BOTH,
	W_RAW,
	FLAT,
	MSG,
	W_UNKNOWN,
	ENDPGM
};

static const struct mem_code code9[] = {
	[LABEL] = {"; k", NULL, 0},
	[S_LOAD] = {"s_load_dwordx2 s[0:1], s[2:3], 0x0", NULL, 0},
	[DS_READ] = {"ds_read_b128 v[0:3], v4", NULL, 0},
	[LOAD] = {"buffer_load_dword v0, v1, s[0:3], 0 offen", NULL, 0},
	[STORE] = {"buffer_store_dword v0, v1, s[0:3], 0 offen", NULL, 0},
	[W_LGKM0] = {"s_waitcnt lgkmcnt(0)", NULL, 0},
	[W_LGKM1] = {"s_waitcnt lgkmcnt(1)", NULL, 0},
	[W_VM0] = {"s_waitcnt vmcnt(0)", NULL, 0},
	[W_VM1] = {"s_waitcnt vmcnt(1)", NULL, 0},
	[W_BOTH] = {"s_waitcnt vmcnt(0) lgkmcnt(0)", NULL, 0},
	[W_RAW] = {"s_waitcnt 0xc07f", NULL, 0},
	[FLAT] = {"flat_load_dword v0, v[2:3]", NULL, 0},
	[MSG] = {"s_sendmsg sendmsg(MSG_INTERRUPT)", NULL, 0},
	[W_UNKNOWN] = {"s_wait_mystery 0x0", NULL, 0},
	[ENDPGM] = {"s_endpgm", NULL, 0},
};

static const char *const resolution_names[] = {"drained", "exact", "group", "unresolved"};

/* Appends what the model says: "@slice resolution key [counter: producers...]". */
static void describe(const struct waits *w, struct strbuf *out)
{
	char key[WAIT_KEY_LEN];

	for (size_t i = 0; i < w->events.n; i++) {
		const struct wait_event *ev = &w->events.v[i];

		sb_printf(out, "%s@%u%s %s %s", i ? "; " : "", ev->slice, ev->is_blocked ? "!" : "",
			resolution_names[ev->resolution], wait_key_name(ev->key, key));
		for (unsigned s = 0; s < ev->n_sides; s++) {
			const struct wait_side *side = &w->sides.v[ev->first_side + s];

			sb_printf(out, " %s:", amd_counter_name((enum amd_counter)side->counter));
			for (uint32_t k = 0; k < side->n; k++)
				sb_printf(out, "%s%u", k ? "," : "",
					w->producers.v[side->first + k].slice);
		}
	}
}

struct wait_case {
	const char *name;
	uint8_t rows[8]; /* 0 ends; each record takes 10 cycles, the stall is its row's below */
	const char *want;
};

static const struct wait_case cases[] = {
	{"one load", {LOAD, W_VM0}, "@1! exact VMEM-load vmcnt:0"},
	{"in order, one stays", {LOAD, LOAD, W_VM1, W_VM0},
		"@2! exact VMEM-load vmcnt:0; @3! exact VMEM-load vmcnt:1"},
	{"the youngest is the store", {LOAD, STORE, W_VM0}, "@2! exact VMEM-store vmcnt:0,1"},
	{"the youngest is the load", {STORE, LOAD, W_VM0}, "@2! exact VMEM-load vmcnt:0,1"},
	{"already drained", {LOAD, W_VM0, W_VM0},
		"@1! exact VMEM-load vmcnt:0; @2! drained (drained)"},
	{"enough in flight", {LOAD, W_VM1}, "@1! drained (drained)"},
	{"one scalar load is exact", {S_LOAD, W_LGKM0}, "@1! exact SMEM lgkmcnt:0"},
	{"two are a group", {S_LOAD, S_LOAD, W_LGKM0}, "@2! group SMEM lgkmcnt:0,1"},
	{"mixed kinds are a group", {S_LOAD, DS_READ, W_LGKM0}, "@2! group LDS+SMEM lgkmcnt:0,1"},
	{"mixed and not drained: candidates, the oldest LDS leaves",
		{S_LOAD, DS_READ, DS_READ, W_LGKM1, W_LGKM0},
		"@3! unresolved LDS+SMEM lgkmcnt:0,1,2; @4! group LDS+SMEM lgkmcnt:0,2"},
	{"two counters", {DS_READ, LOAD, W_BOTH}, "@2! exact LDS & VMEM-load lgkmcnt:0 vmcnt:1"},
	{"two counters, one drained", {LOAD, W_BOTH}, "@1! exact VMEM-load vmcnt:0"},
	{"raw immediate", {LOAD, DS_READ, W_RAW}, "@2! exact LDS lgkmcnt:1"},
	{"flat raises two counters", {FLAT, W_BOTH},
		"@1! exact VMEM-load & VMEM-load lgkmcnt:0 vmcnt:0"},
	{"flat overtakes", {FLAT, LOAD, W_VM1}, "@2! unresolved VMEM-load vmcnt:0,1"},
	{"message and LDS", {MSG, DS_READ, W_LGKM0}, "@2! group LDS+MSG lgkmcnt:0,1"},
	{"unknown wait", {LOAD, W_UNKNOWN}, "@1! drained (drained)"},
};

static void make_records(const uint8_t *rows, struct mem_record *rec, uint32_t *n)
{
	for (*n = 0; *n < 8 && rows[*n]; (*n)++)
		rec[*n] = (struct mem_record){100 + 10 * *n, 9, 8, 10, rows[*n]};
}

static void resolve_track(struct waits *w, struct trace *t, uint64_t from, uint64_t to)
{
	struct incore_error e = {0};
	struct wait_tables *tables = wait_tables_new(t, &e);
	struct track_data d = {0};
	struct walk_track track = {t, 0, &t->tracks[0], &d, from, to};

	assert_non_null(tables);
	assert_true(trace_load_track(t, 0, 0, &d, &e));
	assert_true(waits_resolve(w, tables, &track, WAITS_VIEWER, &e));
	track_data_deinit(&d);
	wait_tables_free(tables);
}

static void test_waits_cases(void **state)
{
	struct waits w = {0};
	struct strbuf got = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct mem_record rec[8];
		struct mem_wave wave = {.begin = 100, .end = 180, .records = rec};
		struct trace *t;

		make_records(cases[i].rows, rec, &wave.n_records);
		t = mem_trace_new(
			&(struct mem_capture){MEM_CODE(code9), .waves = &wave, .n_waves = 1});
		resolve_track(&w, t, 0, UINT64_MAX);
		sb_reset(&got);
		describe(&w, &got);
		if (!str_is((struct str){got.p, got.n}, cases[i].want))
			fail_msg("%s: got '%s', want '%s'", cases[i].name, got.p, cases[i].want);
		trace_free(t);
	}
	sb_free(&got);
	waits_deinit(&w);
}

static void test_waits_window(void **state)
{
	const struct mem_record rec[] = {{100, 3, 0, 4, LOAD}, {104, 3, 0, 4, LOAD},
		{110, 9, 8, 8, W_VM1}, {120, 9, 8, 8, W_VM0}};
	const struct mem_wave wave = {.begin = 100, .end = 140, MEM_RECORDS(rec)};
	struct trace *t =
		mem_trace_new(&(struct mem_capture){MEM_CODE(code9), .waves = &wave, .n_waves = 1});
	struct waits w = {0};

	(void)state;
	/* begins before the window and reaches in: reported; producers lie before it */
	resolve_track(&w, t, 115, 120);
	assert_int_equal(w.events.n, 1);
	assert_int_equal(w.events.v[0].slice, 2);
	assert_int_equal(w.producers.n, 1);
	/* the first wait is outside, yet it consumed its load */
	resolve_track(&w, t, 120, UINT64_MAX);
	assert_int_equal(w.events.n, 1);
	assert_int_equal(w.events.v[0].slice, 3);
	assert_int_equal(w.producers.n, 1);
	assert_int_equal(w.producers.v[0].slice, 1);
	waits_deinit(&w);
	trace_free(t);
}

static void test_waits_viewer_model(void **state)
{
	/* SMEM sets the out-of-order flag: lgkmcnt(1) gives nothing; two counters, two entries */
	const struct mem_record rec[] = {{100, 1, 0, 4, S_LOAD}, {104, 5, 0, 4, DS_READ},
		{108, 9, 4, 4, W_LGKM1}, {112, 3, 0, 4, LOAD}, {116, 9, 8, 8, W_BOTH},
		{124, 9, 4, 4, W_BOTH}};
	const struct mem_wave wave = {.begin = 100, .end = 140, MEM_RECORDS(rec)};
	struct trace *t =
		mem_trace_new(&(struct mem_capture){MEM_CODE(code9), .waves = &wave, .n_waves = 1});
	code_idx want_lgkm[] = {S_LOAD, DS_READ}, want_vm[] = {LOAD};
	struct stated_wait stated[] = {{W_BOTH, 0, 2}, {W_BOTH, 2, 1}};
	code_idx producers[] = {S_LOAD, DS_READ, LOAD};
	code_idx codes[] = {S_LOAD, DS_READ, W_LGKM1, LOAD, W_BOTH, W_BOTH};
	struct track_data d = {.code = codes,
		.n = 6,
		.n_stated_waits = 2,
		.stated_waits = stated,
		.n_stated_producers = 3,
		.stated_producers = producers};
	struct waits w = {0};
	char key[WAIT_KEY_LEN];

	(void)state;
	resolve_track(&w, t, 0, UINT64_MAX);
	assert_int_equal(w.stated.n, 2);
	assert_int_equal(w.stated.v[0].slice, 4);
	assert_memory_equal(w.viewer_producers.v, want_lgkm, sizeof(want_lgkm));
	assert_memory_equal(w.viewer_producers.v + 2, want_vm, sizeof(want_vm));
	assert_true(waits_equal_stated(&w, &d));
	producers[2] = STORE;
	assert_false(waits_equal_stated(&w, &d));
	assert_int_equal(w.events.v[0].viewer_mask, 0);
	assert_string_equal(wait_key_name(w.events.v[1].viewer_mask, key), "LDS+SMEM+VMEM-load");
	assert_int_equal(w.events.v[2].viewer_mask, 0);
	waits_deinit(&w);
	trace_free(t);
}

static void test_waits_unknown_rows(void **state)
{
	const struct mem_record rec[] = {
		{100, 3, 0, 4, 99}, {104, 9, 8, 8, W_VM0}, {112, 9, 8, 8, LABEL}};
	const struct mem_wave wave = {.begin = 100, .end = 140, MEM_RECORDS(rec)};
	struct trace *t =
		mem_trace_new(&(struct mem_capture){MEM_CODE(code9), .waves = &wave, .n_waves = 1});
	struct waits w = {0};

	(void)state;
	resolve_track(&w, t, 0, UINT64_MAX);
	assert_int_equal(w.events.n, 1);
	assert_int_equal(w.events.v[0].n_sides, 0);
	waits_deinit(&w);
	trace_free(t);
}

/* Scalar loads that are never drained: what a wait looks at stays bounded. */
static void test_waits_never_drained(void **state)
{
	enum { ROUNDS = 4000 };
	static struct mem_record rec[2 * ROUNDS];
	const struct mem_wave wave = {.begin = 100, .end = 100 + 16 * ROUNDS, MEM_RECORDS(rec)};
	struct waits w = {0};
	struct trace *t;

	(void)state;
	for (uint32_t i = 0; i < ROUNDS; i++) {
		rec[2 * i] = (struct mem_record){100 + 16 * i, 1, 0, 4, S_LOAD};
		rec[2 * i + 1] = (struct mem_record){104 + 16 * i, 9, 8, 8, W_LGKM1};
	}
	t = mem_trace_new(&(struct mem_capture){MEM_CODE(code9), .waves = &wave, .n_waves = 1});
	resolve_track(&w, t, 0, UINT64_MAX);
	assert_int_equal(w.events.n, ROUNDS);
	assert_int_equal(w.events.v[ROUNDS - 1].resolution, WAIT_UNRESOLVED);
	assert_true(w.producers.n <= 64 * ROUNDS);
	waits_deinit(&w);
	trace_free(t);
}

static void test_waits_key_names(void **state)
{
	char a[WAIT_KEY_LEN];

	(void)state;
	assert_string_equal(wait_key_name(0, a), "(drained)");
	assert_string_equal(wait_key_name(1u << AMD_PRODUCER_LDS, a), "LDS");
	assert_string_equal(wait_key_name(UINT32_MAX, a),
		"LDS+LDS-xlane+MSG+SMEM+VMEM-atomic+VMEM-load+VMEM-store+VMEM-to-LDS & "
		"LDS+LDS-xlane+MSG+SMEM+VMEM-atomic+VMEM-load+VMEM-store+VMEM-to-LDS & "
		"LDS+LDS-xlane+MSG+SMEM+VMEM-atomic+VMEM-load+VMEM-store+VMEM-to-LDS & "
		"LDS+LDS-xlane+MSG+SMEM+VMEM-atomic+VMEM-load+VMEM-store+VMEM-to-LDS");
	assert_true(wait_key_cmp(0, 1) < 0);
	assert_int_equal(wait_key_cmp(8, 8), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits_cases),
		cmocka_unit_test(test_waits_window),
		cmocka_unit_test(test_waits_viewer_model),
		cmocka_unit_test(test_waits_unknown_rows),
		cmocka_unit_test(test_waits_never_drained),
		cmocka_unit_test(test_waits_key_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
