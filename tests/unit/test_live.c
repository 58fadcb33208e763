/* SPDX-License-Identifier: Apache-2.0 */
/* Live vector registers: what rows read and write, and how that flows through branches and loops.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/code/live.h"
#include "isa/amd_operands.h"
#include "mem_trace.h"

static void check_row(const char *text, uint64_t reads, uint64_t writes)
{
	uint64_t r = 0, w = 0;
	struct amd_live_sets s = {.reads = &r, .writes = &w, .accum_at = 32, .bits = 64};

	amd_live_row(str_of(text), &s);
	if (r != reads || w != writes)
		fail_msg("%s: reads %llx writes %llx, expected %llx and %llx", text,
			(unsigned long long)r, (unsigned long long)w, (unsigned long long)reads,
			(unsigned long long)writes);
}

#define V(n) (UINT64_C(1) << (n))
#define A(n) (UINT64_C(1) << (32 + (n)))

static void test_live_rows(void **state)
{
	(void)state;
	check_row("v_add_f32_e32 v1, v2, v3", V(2) | V(3), V(1));
	check_row("v_fmac_f32_e32 v1, v2, v3", V(1) | V(2) | V(3), V(1));
	check_row("v_add_f32_e64 v1, -v2, |v3|", V(2) | V(3), V(1));
	check_row("v_cmp_lt_f32_e32 vcc, v0, v1", V(0) | V(1), 0);
	check_row("v_readfirstlane_b32 s4, v9", V(9), 0);
	check_row("buffer_load_dwordx4 v[4:7], v0, s[4:7], 0 offen offset:16", V(0),
		V(4) | V(5) | V(6) | V(7));
	check_row("buffer_load_dword v0, s[4:7], 0 offen lds", V(0), 0);
	check_row("global_load_short_d16_hi v1, v2, s[0:1]", V(1) | V(2), V(1));
	check_row("global_store_dwordx2 v0, v[2:3], s[0:1]", V(0) | V(2) | V(3), 0);
	check_row("ds_write_b128 v1, v[8:11] offset:4096", V(1) | V(8) | V(9) | V(10) | V(11), 0);
	check_row("ds_read_b64 v[2:3], v1", V(1), V(2) | V(3));
	check_row("ds_bpermute_b32 v3, v1, v2", V(1) | V(2), V(3));
	check_row("global_atomic_add v0, v1, s[0:1]", V(0) | V(1), 0);
	check_row("global_atomic_add v2, v0, v1, s[0:1] sc0", V(0) | V(1), V(2));
	check_row("v_swap_b32 v0, v1", V(0) | V(1), V(0) | V(1));
	check_row("v_mfma_f32_16x16x32_f16 a[0:3], v[4:7], v[8:11], a[0:3]",
		V(4) | V(5) | V(6) | V(7) | V(8) | V(9) | V(10) | V(11) | A(0) | A(1) | A(2) | A(3),
		A(0) | A(1) | A(2) | A(3));
	check_row("v_accvgpr_read_b32 v1, a0", A(0), V(1));
	check_row("s_waitcnt vmcnt(0)", 0, 0);
	check_row("v_add_u32 v900, v[2:1], v[", 0, 0);
	check_row("", 0, 0);
}

static void live_of(const struct mem_code *code, uint32_t n, const uint32_t *arch)
{
	struct trace *t = mem_trace_new(&(struct mem_capture){.code = code, .n_code = n});
	struct incore_error e = {0};
	struct cfg g;
	struct live *l;

	t->meta.vendor = VENDOR_AMD;
	assert_true(cfg_build(&g, t, &e));
	l = live_new(&g, &e);
	assert_non_null(l);
	for (uint32_t i = 0; i < n; i++)
		if (l->rows[i].arch != arch[i])
			fail_msg("row %u (%s): %u live, expected %u", i, code[i].text,
				l->rows[i].arch, arch[i]);
	live_free(l);
	cfg_deinit(&g);
	trace_free(t);
}

static void test_live_straight(void **state)
{
	static const struct mem_code code[] = {{.text = "; k"}, {.text = "v_mov_b32_e32 v1, 0"},
		{.text = "v_add_f32_e32 v2, v0, v1"}, {.text = "v_mul_f32_e32 v2, v2, v2"},
		{.text = "global_store_dword v0, v2, s[0:1]"}, {.text = "s_endpgm"}};
	static const uint32_t arch[] = {0, 1, 2, 2, 2, 0};

	(void)state;
	live_of(code, MEM_COUNT(code), arch);
}

static void test_live_loop(void **state)
{
	/* v5 is read in the loop and never written: it stays live around the back edge */
	static const struct mem_code code[] = {{.text = "; k"}, {.text = "v_mov_b32_e32 v1, 0"},
		{.text = "v_add_f32_e32 v1, v1, v5"}, {.text = "s_cbranch_scc1 65534"},
		{.text = "global_store_dword v0, v1, s[0:1]"}, {.text = "s_endpgm"}};
	static const uint32_t arch[] = {0, 2, 3, 3, 2, 0};

	(void)state;
	live_of(code, MEM_COUNT(code), arch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_live_rows),
		cmocka_unit_test(test_live_straight),
		cmocka_unit_test(test_live_loop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
