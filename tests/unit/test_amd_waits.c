/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_amd_waits.c: what a row means for waiting, three words a case: target, text, meaning.
 * Meaning of a producer: "KEY order counter+n ..."; of a wait: "wait counter=n ...".
 */
#include "isa/amd_waits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

struct wait_case {
	unsigned gfx;
	const char *text;
	const char *want;
};

static const struct wait_case product_cases[] = {
	/* gfx9: loads and stores share vmcnt */
	{9, "s_load_dwordx2 s[0:1], s[2:3], 0x0", "SMEM free lgkmcnt+1"},
	{9, "s_buffer_load_dword s0, s[4:7], 0x0", "SMEM free lgkmcnt+1"},
	{9, "s_store_dword s0, s[2:3], 0x0", "SMEM free lgkmcnt+1"},
	{9, "s_memtime s[0:1]", "SMEM free lgkmcnt+1"},
	{9, "s_memrealtime s[0:1]", "SMEM free lgkmcnt+1"},
	{9, "s_dcache_wb", "SMEM free lgkmcnt+1"},
	{9, "s_atc_probe 0, s[0:1], 0x0", "SMEM free lgkmcnt+1"},
	{9, "ds_read_b128 v[0:3], v4", "LDS lds lgkmcnt+1"},
	{9, "ds_bpermute_b32 v0, v1, v2", "LDS-xlane lds lgkmcnt+1"},
	{9, "s_sendmsg sendmsg(MSG_INTERRUPT)", "MSG msg lgkmcnt+1"},
	{9, "buffer_load_dwordx4 v[0:3], v4, s[8:11], 0 offen", "VMEM-load vmem vmcnt+1"},
	{9, "buffer_load_dwordx4 v4, s[8:11], 0 offen lds", "VMEM-to-LDS vmem vmcnt+1"},
	{9, "buffer_store_dword v0, v1, s[0:3], 0 offen", "VMEM-store vmem vmcnt+1"},
	{9, "tbuffer_load_format_x v0, v1, s[0:3], 0", "VMEM-load vmem vmcnt+1"},
	{9, "global_atomic_pk_add_bf16 v[0:1], v2, off", "VMEM-atomic vmem vmcnt+1"},
	{9, "global_atomic_add v1, v1, v3, s[10:11] sc0", "VMEM-atomic vmem vmcnt+1"},
	{9, "scratch_load_dword v0, off, s0", "VMEM-load vmem vmcnt+1"},
	{9, "image_load v0, v1, s[0:7] dmask:0x1", "VMEM-load vmem vmcnt+1"},
	{9, "image_sample v0, v1, s[0:7], s[8:11]", "VMEM-load vmem vmcnt+1"},
	{9, "flat_load_dword v0, v[2:3]", "VMEM-load free lgkmcnt+1 vmcnt+1"},
	{9, "flat_store_dword v[2:3], v0", "VMEM-store free lgkmcnt+1 vmcnt+1"},
	{9, "exp mrt0 v0, v1, v2, v3 done", "MSG export expcnt+1"},
	{9, "v_mfma_f32_16x16x16_f16 a[0:3], v0, v1, 0", "-"},
	{9, "s_add_u32 s0, s1, s2", "-"},
	{9, "; kernel", "-"},
	{9, "", "-"},
	{9, "s_waitcnt vmcnt(0)", "wait vmcnt=0"},
	{9, "s_waitcnt vmcnt(21) lgkmcnt(0)", "wait lgkmcnt=0 vmcnt=21"},
	{9, "s_waitcnt vmcnt(3) & lgkmcnt(1)", "wait lgkmcnt=1 vmcnt=3"},
	{9, "s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)", "wait lgkmcnt=0 expcnt=0 vmcnt=0"},
	{9, "s_waitcnt lgkmcnt(15)", "wait"},
	{9, "s_waitcnt 0xc07f", "wait lgkmcnt=0"},
	{9, "s_waitcnt 49279", "wait lgkmcnt=0"},
	{9, "s_waitcnt 0xf70", "wait vmcnt=0"},
	{9, "s_waitcnt 0x4f71", "wait vmcnt=17"},
	{9, "s_waitcnt 0x0", "wait lgkmcnt=0 expcnt=0 vmcnt=0"},
	{9, "s_waitcnt 0xcf7f", "wait"},
	{9, "s_waitcnt", "wait"},
	{9, "s_wait_mystery 0x3", "wait"},
	/* gfx10 and gfx11: stores have vscnt */
	{10, "global_store_dword v0, v1, s[0:1]", "VMEM-store vmem vscnt+1"},
	{10, "global_load_dword v0, v1, s[0:1]", "VMEM-load vmem vmcnt+1"},
	{10, "global_atomic_add v0, v1, s[0:1]", "VMEM-atomic vmem vscnt+1"},
	{10, "global_atomic_add v2, v0, v1, s[0:1] glc", "VMEM-atomic vmem vmcnt+1"},
	{10, "image_sample v0, v[1:2], s[0:7], s[8:11]", "VMEM-load sample vmcnt+1"},
	{10, "image_store v0, v[1:2], s[0:7]", "VMEM-store vmem vscnt+1"},
	{10, "flat_load_dword v0, v[2:3]", "VMEM-load free lgkmcnt+1 vmcnt+1"},
	{10, "flat_store_dword v[2:3], v0", "VMEM-store free lgkmcnt+1 vscnt+1"},
	{10, "flat_atomic_add v[2:3], v0", "VMEM-atomic free lgkmcnt+1 vscnt+1"},
	{10, "flat_atomic_add v1, v[2:3], v0 glc", "VMEM-atomic free lgkmcnt+1 vmcnt+1"},
	{10, "s_waitcnt_vscnt null, 0x3", "wait vscnt=3"},
	{10, "s_waitcnt_vmcnt null, 0x1", "wait vmcnt=1"},
	{10, "s_waitcnt_lgkmcnt null, 0x2", "wait lgkmcnt=2"},
	{10, "s_waitcnt_expcnt null, 0x0", "wait expcnt=0"},
	{10, "s_waitcnt_vscnt s4, 0x3", "wait"},
	{10, "s_waitcnt_depctr 0xfffe", "wait"},
	{10, "s_waitcnt 0xc07f", "wait lgkmcnt=0"},
	{10, "s_waitcnt 0xff70", "wait vmcnt=48"},
	{10, "s_waitcnt 0xff7f", "wait"},
	{10, "s_waitcnt 0x3f70", "wait vmcnt=0"},
	{10, "s_waitcnt lgkmcnt(15)", "wait lgkmcnt=15"},
	{11, "s_sendmsg_rtn_b32 s0, sendmsg(MSG_RTN_GET_TMA)", "MSG msg lgkmcnt+2"},
	{11, "lds_param_load v0, attr0.x", "MSG lds expcnt+1"},
	{11, "lds_direct_load v0", "MSG lds expcnt+1"},
	{11, "s_waitcnt 0xfc07", "wait lgkmcnt=0"},
	{11, "s_waitcnt 0x3f7", "wait vmcnt=0"},
	{11, "s_waitcnt 0xfff0", "wait expcnt=0"},
	{11, "s_wait_idle", "wait lgkmcnt=0 expcnt=0 vmcnt=0 vscnt=0"},
	{11, "s_wait_event 0x1", "wait"},
	/* gfx12: a counter for each kind */
	{12, "s_load_b64 s[0:1], s[2:3], 0x0", "SMEM free kmcnt+1"},
	{12, "s_buffer_load_b32 s0, s[4:7], 0x0", "SMEM free kmcnt+1"},
	{12, "s_sendmsg_rtn_b32 s0, sendmsg(MSG_RTN_GET_TMA)", "MSG msg kmcnt+2"},
	{12, "s_prefetch_data s[0:1], 0x0, null, 0", "-"},
	{12, "global_prefetch_b8 v0, s[0:1]", "-"},
	{12, "ds_load_b128 v[0:3], v4", "LDS lds dscnt+1"},
	{12, "ds_param_load v0, attr0.x", "MSG lds expcnt+1"},
	{12, "export mrt0 v0, v1, v2, v3 done", "MSG export expcnt+1"},
	{12, "global_load_b128 v[0:3], v4, s[0:1]", "VMEM-load vmem loadcnt+1"},
	{12, "global_store_b32 v0, v1, s[0:1]", "VMEM-store vmem storecnt+1"},
	{12, "global_wb scope:SCOPE_SYS", "VMEM-load vmem storecnt+1"},
	{12, "global_inv scope:SCOPE_DEV", "VMEM-load vmem loadcnt+1"},
	{12, "global_atomic_add_u32 v0, v1, s[0:1]", "VMEM-atomic vmem storecnt+1"},
	{12, "global_atomic_add_u32 v2, v0, v1, s[0:1] th:TH_ATOMIC_RETURN",
		"VMEM-atomic vmem loadcnt+1"},
	{12, "image_sample v0, [v1, v2], s[0:7], s[8:11]", "VMEM-load sample samplecnt+1"},
	{12, "image_gather4 v[0:3], [v1, v2], s[0:7], s[8:11]", "VMEM-load sample samplecnt+1"},
	{12, "image_load v0, [v1, v2], s[0:7]", "VMEM-load vmem loadcnt+1"},
	{12, "image_bvh_intersect_ray v[0:3], [v4], s[0:3]", "VMEM-load bvh bvhcnt+1"},
	{12, "flat_load_b32 v0, v[2:3]", "VMEM-load free dscnt+1 loadcnt+1"},
	{12, "flat_store_b32 v[2:3], v0", "VMEM-store free dscnt+1 storecnt+1"},
	{12, "global_load_async_to_lds_b128 v0, v1, s[0:1]", "VMEM-to-LDS vmem asynccnt+1"},
	{12, "global_store_async_from_lds_b128 v0, v1, s[0:1]", "VMEM-store vmem asynccnt+1"},
	{12, "tensor_load_to_lds s[0:3], s[4:11]", "VMEM-to-LDS vmem tensorcnt+1"},
	{12, "s_wait_loadcnt 0x0", "wait loadcnt=0"},
	{12, "s_wait_storecnt 0x2", "wait storecnt=2"},
	{12, "s_wait_samplecnt 0x1", "wait samplecnt=1"},
	{12, "s_wait_bvhcnt 0x0", "wait bvhcnt=0"},
	{12, "s_wait_expcnt 0x0", "wait expcnt=0"},
	{12, "s_wait_dscnt 0x4", "wait dscnt=4"},
	{12, "s_wait_kmcnt 0x0", "wait kmcnt=0"},
	{12, "s_wait_kmcnt 0x1f", "wait"},
	{12, "s_wait_loadcnt 0x3f", "wait"},
	{12, "s_wait_asynccnt 0x1", "wait asynccnt=1"},
	{12, "s_wait_tensorcnt 0x0", "wait tensorcnt=0"},
	{12, "s_wait_loadcnt_dscnt 0x103", "wait dscnt=3 loadcnt=1"},
	{12, "s_wait_storecnt_dscnt 0x0", "wait dscnt=0 storecnt=0"},
	{12, "s_wait_loadcnt_dscnt 0x3f02", "wait dscnt=2"},
	{12, "s_wait_xcnt 0x0", "wait"},
	{12, "s_wait_alu 0xfffe", "wait"},
	{12, "s_wait_mystery 0x0", "wait"},
	{12, "s_wait_idle",
		"wait dscnt=0 kmcnt=0 expcnt=0 loadcnt=0 samplecnt=0 bvhcnt=0 storecnt=0 "
		"asynccnt=0 tensorcnt=0"},
	{12, "s_barrier_wait 0xffff", "-"},
};

static const char *order_word(uint8_t order)
{
	static const char *const words[] = {
		"vmem", "sample", "bvh", "lds", "msg", "export", "free", "free"};

	return words[order];
}

static void describe(const struct amd_wait_row *r, struct strbuf *out)
{
	if (r->role == AMD_ROLE_NONE) {
		sb_puts(out, "-");
		return;
	}
	if (r->role == AMD_ROLE_WAIT)
		sb_puts(out, "wait");
	else
		sb_printf(out, "%s %s", amd_producer_name((enum amd_producer)r->producer),
			order_word(r->order));
	for (unsigned c = 0; c < AMD_COUNTERS; c++)
		if (r->counters & 1u << c)
			sb_printf(out, " %s%c%u", amd_counter_name((enum amd_counter)c),
				r->role == AMD_ROLE_WAIT ? '=' : '+', r->value[c]);
}

static void test_amd_waits_product(void **state)
{
	struct strbuf got = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(product_cases) / sizeof(product_cases[0]); i++) {
		const struct wait_case *c = &product_cases[i];
		struct amd_wait_row r = amd_wait_row(c->gfx, str_of(c->text));

		sb_reset(&got);
		describe(&r, &got);
		if (!str_is((struct str){got.p, got.n}, c->want))
			fail_msg(
				"gfx%u '%s': got '%s', want '%s'", c->gfx, c->text, got.p, c->want);
	}
	sb_free(&got);
}

static const struct wait_case viewer_cases[] = {
	{9, "s_load_dwordx2 s[0:1], s[2:3], 0x0", "list lgkmcnt parallel"},
	{9, "s_buffer_load_dword s0, s[4:7], 0x0", "-"},
	{9, "ds_read_b128 v[0:3], v4", "list lgkmcnt"},
	{9, "s_sendmsg sendmsg(MSG_INTERRUPT)", "list lgkmcnt"},
	{9, "buffer_store_dword v0, v1, s[0:3], 0 offen", "list vmcnt"},
	{9, "tbuffer_load_format_x v0, v1, s[0:3], 0", "list vmcnt"},
	{9, "flat_store_dword v[2:3], v0", "flat-load parallel"},
	{9, "image_load v0, v1, s[0:7]", "-"},
	{9, "s_waitcnt vmcnt(3) lgkmcnt(0)", "wait lgkmcnt=0 vmcnt=3"},
	{9, "s_waitcnt 0xc07f", "wait"},
	{10, "global_store_dword v0, v1, s[0:1]", "list vscnt"},
	{10, "flat_store_dword v[2:3], v0", "flat-store parallel"},
	{10, "s_sendmsg_rtn_b32 s0, 1", "twice lgkmcnt"},
	{10, "s_waitcnt_vscnt null, 0x3", "wait vscnt=0"},
	{12, "s_wait_loadcnt_dscnt 0x103", "wait dscnt=259 loadcnt=0"},
	{12, "s_wait_alu 0xfffe", "-"},
	{12, "s_wait_idle", "wait idle"},
	{12, "global_prefetch_b8 v0, s[0:1]", "-"},
	{12, "global_wb scope:SCOPE_SYS", "list storecnt"},
	{12, "ds_load_b32 v0, v1", "list dscnt"},
	{12, "s_load_b64 s[0:1], s[2:3], 0x0", "list kmcnt parallel"},
	{12, "tensor_load_to_lds s[0:3], s[4:11]", "list tensorcnt"},
};

static void describe_viewer(const struct amd_viewer_row *r, struct strbuf *out)
{
	static const char *const pushes[] = {"-", "list", "twice", "flat-load", "flat-store"};

	if (!r->is_wait) {
		sb_puts(out, pushes[r->push]);
		if (r->push == AMD_PUSH_LIST || r->push == AMD_PUSH_LIST_TWICE)
			sb_printf(out, " %s", amd_counter_name((enum amd_counter)r->counter));
		sb_puts(out, r->parallel ? " parallel" : "");
		return;
	}
	sb_puts(out, r->is_wait_idle ? "wait idle" : "wait");
	for (unsigned c = 0; c < AMD_COUNTERS; c++)
		if (r->counters & 1u << c)
			sb_printf(
				out, " %s=%u", amd_counter_name((enum amd_counter)c), r->value[c]);
}

static void test_amd_waits_viewer(void **state)
{
	struct strbuf got = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(viewer_cases) / sizeof(viewer_cases[0]); i++) {
		const struct wait_case *c = &viewer_cases[i];
		struct amd_viewer_row r = amd_viewer_row(c->gfx, str_of(c->text));

		sb_reset(&got);
		describe_viewer(&r, &got);
		if (!str_is((struct str){got.p, got.n}, c->want))
			fail_msg(
				"gfx%u '%s': got '%s', want '%s'", c->gfx, c->text, got.p, c->want);
	}
	sb_free(&got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_amd_waits_product),
		cmocka_unit_test(test_amd_waits_viewer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
