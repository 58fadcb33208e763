/* SPDX-License-Identifier: Apache-2.0 */
/* test_amd_regs.c: registers that a text names, the machine table, matrix shapes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "isa/amd.h"
#include "isa/amd_matrix.h"
#include "isa/amd_operands.h"

static const struct {
	const char *text;
	uint32_t arch, accum;
} cases[] = {
	{"v_add_f32_e32 v3, v1, v2", 4, 0},
	{"v_mfma_f32_32x32x16_bf16 v[0:15], v[16:19], v[20:23], v[0:15]", 24, 0},
	{"v_mfma_f32_16x16x32_bf16 a[4:7], v[2:5], v[6:9], a[4:7]", 10, 8},
	{"v_accvgpr_read_b32 v255, a12", 256, 13},
	{"s_waitcnt vmcnt(0) lgkmcnt(15)", 0, 0},
	{"v_mov_b32_e32 v7, 0xa5", 8, 0},
	{"v_mul_f32 v1, |v9|, -v4", 10, 0},
	{"v_add_f16 v5.l, v6.h, v7.l", 8, 0},
	{"v_cmp_gt_f32_e32 vcc, v1, v0", 2, 0},
	{"image_load v[1:4], [v9, v11], s[0:7]", 12, 0},
	{"s_add_u32 s12, s13, abs0", 0, 0},
	{"v_mov_b32 v[7:3], v[2", 8, 0},
	{"v_mov_b32 v99999999999999999999, v1", 2, 0},
	{"v_mov_b32 v1024, v1023", 1024, 0},
	{"", 0, 0},
	{"v5", 0, 0},
};

static void test_amd_regs_text(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct amd_regs r = {0, 0};

		amd_regs_add(&r, str_of(cases[i].text));
		if (r.arch != cases[i].arch || r.accum != cases[i].accum)
			fail_msg("\"%s\": got %u+%u, want %u+%u", cases[i].text, r.arch, r.accum,
				cases[i].arch, cases[i].accum);
	}
}

static void test_amd_regs_round(void **state)
{
	struct amd_regs r = {169, 3};

	(void)state;
	assert_int_equal(amd_regs_allocated(&r, 8), 176 + 8);
	assert_int_equal(amd_regs_round(0, 8), 0);
	assert_int_equal(amd_regs_round(8, 8), 8);
}

static void test_amd_regs_machine(void **state)
{
	(void)state;
	assert_int_equal(amd_machine_find("gfx950", 9)->simds, 1024);
	assert_int_equal(amd_machine_find("gfx950", 9)->lds_bytes_per_cu, 160 * 1024);
	assert_true(amd_machine_find("gfx9", 9)->is_family);
	assert_string_equal(amd_machine_find("gfx1103", 11)->arch, "gfx11");
	assert_null(amd_machine_find("sm_90", 0));
	assert_null(amd_machine_find(NULL, 0));
}

static const struct {
	const char *arch, *text;
	uint32_t cycles; /* 0: unknown */
} matrices[] = {
	{"gfx90a", "v_mfma_f32_32x32x8f16 a[0:15], v[0:1], v[2:3], a[0:15]", 64},
	{"gfx942", "v_mfma_f32_32x32x8_f16 v[0:15], v[0:1], v[2:3], v[0:15]", 32},
	{"gfx942", "v_mfma_f32_16x16x16_bf16 v[0:3], v[0:1], v[2:3], v[0:3]", 16},
	{"gfx942", "v_smfmac_f32_16x16x32_f16 v[0:3], v[0:1], v[2:5], v6", 16},
	{"gfx950", "v_mfma_f32_32x32x16_bf16 v[0:15], v[0:3], v[4:7], v[0:15]", 32},
	{"gfx950", "v_mfma_f32_16x16x32_fp8_fp8 v[0:3], v[0:1], v[2:3], v[0:3]", 16},
	{"gfx950", "v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[0:7], v[8:15], v[0:3], v1, v2", 32},
	{"gfx950",
		"v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[0:3], v[8:11], v[0:3] cbsz:4 blgp:4",
		16},
	{"gfx1100", "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]", 32},
	{"gfx9", "v_mfma_f32_32x32x16_bf16 v[0:15], v[0:3], v[4:7], v[0:15]", 0},
	{"gfx950", "v_mfma_f32_16x16x32_newtype v[0:3], v[0:3], v[4:7], v[0:3]", 0},
};

static void test_amd_regs_matrix(void **state)
{
	struct amd_matrix_shape s;

	(void)state;
	for (size_t i = 0; i < sizeof(matrices) / sizeof(matrices[0]); i++) {
		uint32_t got;

		assert_true(amd_matrix_shape(str_of(matrices[i].text), &s));
		got = amd_matrix_cycles(matrices[i].arch, &s);
		if (got != matrices[i].cycles)
			fail_msg("%s on %s: got %u cycles, want %u", matrices[i].text,
				matrices[i].arch, got, matrices[i].cycles);
	}
	assert_false(amd_matrix_shape(str_of("v_fma_f32 v0, v1, v2, v3"), &s));
	assert_false(amd_matrix_shape(str_of("v_mfma_f32_99999999999x1x1_f16 v0"), &s));
	assert_false(amd_matrix_shape(str_of("v_mfma"), &s));
	assert_true(
		amd_matrix_shape(str_of("v_mfma_f32_4x4x4_16b_f16 v[0:3], v0, v1, v[0:3]"), &s));
	assert_int_equal(amd_matrix_macs(&s), 1024);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_amd_regs_text),
		cmocka_unit_test(test_amd_regs_round),
		cmocka_unit_test(test_amd_regs_machine),
		cmocka_unit_test(test_amd_regs_matrix),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
