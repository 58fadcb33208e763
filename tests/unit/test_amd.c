/* SPDX-License-Identifier: Apache-2.0 */
/* test_amd.c: instruction classes and branch targets, as tables of text and expectation. */
#include "isa/amd.h"
#include "isa/amd_kind.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct class_case {
	unsigned category;
	const char *text;
	enum inst_class want;
};

#define BY_TEXT AMD_NO_CATEGORY

static const struct class_case class_cases[] = {
	{1, "s_load_dwordx2 s[4:5], s[0:1], 0x0", CLASS_SMEM},
	{2, "s_add_u32 s0, s1, s2", CLASS_SALU},
	{2, "s_sleep 1", CLASS_SLEEP},
	{3, "buffer_load_dwordx4 v[0:3], v4, s[8:11], 0 offen", CLASS_VMEM_LOAD},
	{3, "buffer_load_dwordx4 v4, s[8:11], 0 offen lds", CLASS_VMEM_TO_LDS},
	{3, "buffer_store_dword v0, v1, s[0:3], 0 offen", CLASS_VMEM_STORE},
	{4, "global_load_lds_dwordx4 v[0:1], off", CLASS_VMEM_TO_LDS},
	{4, "global_atomic_add v1, v1, v3, s[10:11] sc0", CLASS_VMEM_ATOMIC},
	{4, "global_store_dwordx2 v0, v[2:3], s[4:5]", CLASS_VMEM_STORE},
	{4, "flat_load_dword v0, v[2:3]", CLASS_VMEM_LOAD},
	{5, "ds_read_b128 v[0:3], v4", CLASS_LDS},
	{5, "ds_bpermute_b32 v0, v1, v2", CLASS_LDS_XLANE},
	{5, "ds_permute_b32 v0, v1, v2", CLASS_LDS_XLANE},
	{5, "ds_swizzle_b32 v0, v1 offset:swizzle(SWAP,1)", CLASS_LDS_XLANE},
	{6, "v_mfma_f32_32x32x16_bf16 a[0:15], v[0:3], v[4:7], a[0:15]", CLASS_MATRIX},
	{6, "v_smfmac_f32_16x16x32_f16 v[0:3], v[4:5], v[6:9], v10", CLASS_MATRIX},
	{6, "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]", CLASS_MATRIX},
	{6, "v_swmmac_f32_16x16x32_f16 v[0:7], v[8:15], v[16:23], v24", CLASS_MATRIX},
	{6, "v_exp_f32_e32 v0, v1", CLASS_TRANS},
	{6, "v_rsq_f32_e32 v0, v1", CLASS_TRANS},
	{6, "v_fma_f32 v0, v1, v2, v3", CLASS_VALU},
	{7, "s_cbranch_scc1 65000", CLASS_BRANCH},
	{8, "s_cbranch_execz 12", CLASS_BRANCH},
	{9, "s_waitcnt vmcnt(0)", CLASS_WAIT},
	{9, "s_wait_loadcnt 0x0", CLASS_WAIT},
	{9, "s_nop 3", CLASS_NOP},
	{9, "s_barrier", CLASS_BARRIER},
	{9, "s_barrier_wait 0xffff", CLASS_BARRIER},
	{9, "s_sleep 2", CLASS_SLEEP},
	{9, "s_delay_alu instid0(VALU_DEP_1)", CLASS_OTHER},
	{10, "s_trap 2", CLASS_TRAP},
	{11, "s_endpgm", CLASS_DRAIN},
	{11, "s_sendmsg sendmsg(MSG_INTERRUPT)", CLASS_MSG},
	{12, "image_bvh_intersect_ray v[0:3], v[4:7], s[0:3]", CLASS_BVH},
	{0, "v_add_f32 v0, v1, v2", CLASS_OTHER},
	{13, "s_endpgm", CLASS_OTHER},
	{15, "", CLASS_OTHER},
	{BY_TEXT, "s_endpgm", CLASS_DRAIN},
	{BY_TEXT, "s_waitcnt lgkmcnt(0)", CLASS_WAIT},
	{BY_TEXT, "s_buffer_load_dword s0, s[4:7], 0x0", CLASS_SMEM},
	{BY_TEXT, "s_memtime s[0:1]", CLASS_SMEM},
	{BY_TEXT, "s_branch 3", CLASS_BRANCH},
	{BY_TEXT, "s_setpc_b64 s[30:31]", CLASS_BRANCH},
	{BY_TEXT, "s_sendmsg_rtn_b32 s0, sendmsg(MSG_RTN_GET_TMA)", CLASS_MSG},
	{BY_TEXT, "s_mov_b32 s0, 1", CLASS_SALU},
	{BY_TEXT, "tensor_load_to_lds s[0:3], s[4:11]", CLASS_VMEM_TO_LDS},
	{BY_TEXT, "image_load v0, v1, s[0:7] dmask:0x1", CLASS_VMEM_LOAD},
	{BY_TEXT, "image_bvh64_intersect_ray v[0:3], v[4:15], s[0:3]", CLASS_BVH},
	{BY_TEXT, "exp mrt0 v0, v1, v2, v3 done", CLASS_MSG},
	{BY_TEXT, "; kernel_0", CLASS_OTHER},
	{BY_TEXT, "", CLASS_OTHER},
	{BY_TEXT, "  ds_read_b32 v0, v1", CLASS_LDS},
};

static void test_amd_class(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(class_cases) / sizeof(class_cases[0]); i++) {
		const struct class_case *c = &class_cases[i];
		enum inst_class got = amd_class(c->category, str_of(c->text));

		if (got != c->want)
			fail_msg("category %u, '%s': got %s, want %s", c->category, c->text,
				class_name(got), class_name(c->want));
	}
}

static void test_amd_class_of_category(void **state)
{
	(void)state;
	assert_int_equal(amd_class_of_category(5), CLASS_LDS);
	assert_int_equal(amd_class_of_category(9), CLASS_OTHER);
	assert_int_equal(amd_class_of_category(11), CLASS_MSG);
	assert_int_equal(amd_class_of_category(200), CLASS_OTHER);
}

struct branch_case {
	const char *text;
	uint64_t address;
	bool is_branch;
	uint64_t target;
};

static const struct branch_case branch_cases[] = {
	{"s_branch 3", 0x1000, true, 0x1010},
	{"s_cbranch_scc1 65535", 0x1000, true, 0x1000},
	{"s_cbranch_vccnz 65000", 0x4000, true, 0x4004 - 4 * 536},
	{"s_cbranch_execz -2", 0x1000, true, 0xffc},
	{"s_cbranch_execz 0x10", 0x1000, true, 0x1044},
	{"s_call_b64 s[30:31], 4", 0x1000, true, 0x1014},
	{"s_branch 65536", 0x1000, false, 0},
	{"s_branch label", 0x1000, false, 0},
	{"s_branch", 0x1000, false, 0},
	{"s_setpc_b64 s[30:31]", 0x1000, false, 0},
	{"v_add_u32 v0, 4, v1", 0x1000, false, 0},
};

static void test_amd_branch_target(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(branch_cases) / sizeof(branch_cases[0]); i++) {
		const struct branch_case *c = &branch_cases[i];
		uint64_t target = 0;
		bool got = amd_branch_target(str_of(c->text), c->address, &target);

		if (got != c->is_branch || (got && target != c->target))
			fail_msg("'%s' at 0x%llx: got %d 0x%llx, want %d 0x%llx", c->text,
				(unsigned long long)c->address, got, (unsigned long long)target,
				c->is_branch, (unsigned long long)c->target);
	}
}

static void test_amd_ends_block(void **state)
{
	(void)state;
	assert_true(amd_ends_block(STR("s_branch 2")));
	assert_true(amd_ends_block(STR("s_endpgm")));
	assert_false(amd_ends_block(STR("s_cbranch_scc0 2")));
	assert_true(amd_is_branch(STR("s_cbranch_scc0 2")));
}

static void test_amd_kind(void **state)
{
	static const struct {
		enum inst_class inst_class;
		const char *text, *want;
	} cases[] = {
		{CLASS_VMEM_LOAD, "global_load_dwordx4 v[0:3], v4, s[0:1]", "VMEM-load 16 B"},
		{CLASS_VMEM_LOAD, "buffer_load_ubyte v0, v1, s[0:3], 0", "VMEM-load 1 B"},
		{CLASS_VMEM_LOAD, "global_load_b64 v[0:1], v2, off", "VMEM-load 8 B"},
		{CLASS_VMEM_TO_LDS, "buffer_load_dwordx4 v0, s[0:3], 0 offen lds",
			"VMEM-to-LDS 16 B"},
		{CLASS_VMEM_STORE, "global_store_d16_hi_b8 v0, v1, off", "VMEM-store 1 B"},
		{CLASS_LDS, "ds_read_b128 v[0:3], v4", "LDS read 16 B"},
		{CLASS_LDS, "ds_read2_b32 v[0:1], v2", "LDS read 8 B"},
		{CLASS_LDS, "ds_store_2addr_b64 v0, v[1:2], v[3:4]", "LDS write 16 B"},
		{CLASS_LDS, "ds_add_u32 v0, v1", "LDS atomic 4 B"},
		{CLASS_SMEM, "s_load_dwordx8 s[0:7], s[8:9], 0x0", "SMEM load 32 B"},
		{CLASS_SMEM, "s_dcache_inv", "SMEM other"},
		{CLASS_MATRIX, "v_mfma_f32_32x32x8_f16 a[0:15], v0, v1, 0", "MFMA"},
		{CLASS_MATRIX, "v_wmma_f32_16x16x16_f16 v[0:7], v8, v9, 0", "WMMA"},
		{CLASS_VALU, "v_add_u32_e32 v0, v1, v2", "VALU"},
		{CLASS_VMEM_LOAD, "global_load <0xdc508000 0x01000000>", "VMEM-load"},
	};
	struct strbuf b = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		sb_reset(&b);
		assert_true(amd_kind_put(&b, cases[i].inst_class, str_of(cases[i].text)));
		assert_string_equal(b.p, cases[i].want);
	}
	sb_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_amd_class),
		cmocka_unit_test(test_amd_kind),
		cmocka_unit_test(test_amd_class_of_category),
		cmocka_unit_test(test_amd_branch_target),
		cmocka_unit_test(test_amd_ends_block),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
