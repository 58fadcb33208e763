/* SPDX-License-Identifier: Apache-2.0 */
/* AMD machine code: words in, length, class, flags and branch out; one case a row of the table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "isa/amd_code.h"
#include "isa/amd_text.h"

#define G9 AMD_ARCH_GFX9
#define G10 AMD_ARCH_GFX10
#define G11 AMD_ARCH_GFX11
#define G12 AMD_ARCH_GFX12

static const struct {
	enum amd_arch arch;
	uint32_t w[4];
	unsigned len;
	enum amd_code_class inst_class;
	unsigned flags;
	int branch;
	const char *text;
} cases[] = {
	{G9, {0xbf810000}, 4, AMD_CODE_IMMED, AMD_CODE_END, 0, "s_endpgm"},
	{G9, {0xbf800003}, 4, AMD_CODE_IMMED, 0, 0, "s_nop 3"},
	{G9, {0xbf8c0f70}, 4, AMD_CODE_IMMED, AMD_CODE_WAIT, 0, "s_waitcnt vmcnt(0)"},
	{G9, {0xbf8a0000}, 4, AMD_CODE_BARRIER, 0, 0, "s_barrier"},
	{G10, {0xbf8a0000}, 4, AMD_CODE_IMMED, 0, 0, "s_barrier"},
	{G9, {0xbf82ffff}, 4, AMD_CODE_BRANCH, 0, 0, "s_branch to itself"},
	{G9, {0xbf85fffa}, 4, AMD_CODE_BRANCH, 0, -20, "s_cbranch_scc1 -6"},
	{G9, {0xbf880010}, 4, AMD_CODE_BRANCH, 0, 68, "s_cbranch_execz 16"},
	{G9, {0xbf9c0000}, 4, AMD_CODE_SALU, 0, 0, "s_set_gpr_idx_off"},
	{G9, {0xbe800080}, 4, AMD_CODE_SALU, 0, 0, "s_mov_b32 s0, 0"},
	{G9, {0xbe8000ff, 0x12345678}, 8, AMD_CODE_SALU, 0, 0, "s_mov_b32 s0, literal"},
	{G9, {0xbe801d04}, 4, AMD_CODE_SALU, AMD_CODE_SETPC, 0, "s_setpc_b64 s[4:5]"},
	{G9, {0xba000000, 1}, 8, AMD_CODE_SALU, 0, 0, "s_setreg_imm32_b32"},
	{G9, {0x80000100}, 4, AMD_CODE_SALU, 0, 0, "s_add_u32 s0, s0, s1"},
	{G9, {0x8000ff00, 1}, 8, AMD_CODE_SALU, 0, 0, "s_add_u32 s0, s0, literal"},
	{G9, {0xbf068001}, 4, AMD_CODE_SALU, 0, 0, "s_cmp_eq_u32"},
	{G9, {0xc0020000, 0}, 8, AMD_CODE_SMEM, AMD_CODE_LOAD, 0, "s_load_dword"},
	{G9, {0xc0800000, 0}, 8, AMD_CODE_SMEM, 0, 0, "s_dcache_inv"},
	{G9, {0x7e000280}, 4, AMD_CODE_VALU, 0, 0, "v_mov_b32 v0, 0"},
	{G9, {0x7e0002ff, 5}, 8, AMD_CODE_VALU, 0, 0, "v_mov_b32 v0, literal"},
	{G9, {0x7e0002f9, 5}, 8, AMD_CODE_VALU, 0, 0, "v_mov_b32_sdwa"},
	{G9, {0x7e0002fa, 5}, 8, AMD_CODE_VALU, 0, 0, "v_mov_b32_dpp"},
	{G9, {0x2e000000, 5}, 8, AMD_CODE_VALU, 0, 0, "v_madmk_f32"},
	{G9, {0xd3cd0000, 0, 0, 0}, 8, AMD_CODE_VALU, 0, 0, "v_mfma_f32_16x16x16_f16"},
	{G9, {0xd3ac0000, 0, 0xd3ad0000, 0}, 16, AMD_CODE_MFMA_SCALE, 0, 0, "v_mfma_scale"},
	{G9, {0xd3ac0000, 0, 0xd3ab0000, 0}, 8, AMD_CODE_VALU, 0, 0, "scale of nothing"},
	{G9, {0xd86c0000, 0}, 8, AMD_CODE_LDS, 0, 0, "ds_read_b32"},
	{G9, {0xdc500000, 0}, 8, AMD_CODE_FLAT, AMD_CODE_LOAD, 0, "flat_load_dword"},
	{G9, {0xdc508000, 0}, 8, AMD_CODE_VMEM, AMD_CODE_LOAD, 0, "global_load_dword"},
	{G9, {0xdc504000, 0}, 8, AMD_CODE_VMEM, AMD_CODE_LOAD | AMD_CODE_SCRATCH, 0,
		"scratch_load_dword"},
	{G9, {0xdc708000, 0}, 8, AMD_CODE_VMEM, 0, 0, "global_store_dword"},
	{G9, {0xe0500000, 0}, 8, AMD_CODE_VMEM, AMD_CODE_LOAD, 0, "buffer_load_dword"},
	{G9, {0xe0700000, 0}, 8, AMD_CODE_VMEM, 0, 0, "buffer_store_dword"},
	{G9, {0xc4000000, 0}, 8, AMD_CODE_UNKNOWN, 0, 0, "exp"},
	{G10, {0xbfa30001}, 4, AMD_CODE_IMMED, AMD_CODE_WAIT, 0, "s_waitcnt_depctr"},
	{G10, {0xbb800000}, 4, AMD_CODE_IMMED, AMD_CODE_WAIT, 0, "s_waitcnt_vscnt"},
	{G10, {0xf4000000, 0}, 8, AMD_CODE_SMEM, AMD_CODE_LOAD, 0, "s_load_dword"},
	{G10, {0xd5010000, 0x000000ff, 1}, 12, AMD_CODE_VALU, 0, 0, "VOP3 with a literal"},
	{G10, {0xf0000006, 0, 0, 0}, 20, AMD_CODE_VMEM, 0, 0, "image with 3 more words"},
	{G11, {0xbfb00000}, 4, AMD_CODE_IMMED, AMD_CODE_END, 0, "s_endpgm"},
	{G11, {0xbf870001}, 4, AMD_CODE_SKIP, 0, 0, "s_delay_alu"},
	{G11, {0xbf880001}, 4, AMD_CODE_IMMED, AMD_CODE_WAIT, 0, "s_waitcnt_depctr"},
	{G12, {0xbf880001}, 4, AMD_CODE_SKIP, 0, 0, "s_wait_alu"},
	{G11, {0xbf890000}, 4, AMD_CODE_IMMED, AMD_CODE_WAIT, 0, "s_waitcnt"},
	{G12, {0xbfc00000}, 4, AMD_CODE_IMMED, 0, 0, "s_wait_loadcnt"},
	{G12, {0xbf94ffff}, 4, AMD_CODE_IMMED, AMD_CODE_BARWAIT, 0, "s_barrier_wait"},
	{G12, {0xbe804ec1}, 4, AMD_CODE_IMMED, 0, 0, "s_barrier_signal"},
	{G11, {0xbfa10002}, 4, AMD_CODE_BRANCH, 0, 12, "s_cbranch_scc0 2"},
	{G11, {0xbe804800}, 4, AMD_CODE_SALU, AMD_CODE_SETPC, 0, "s_setpc_b64"},
	{G11, {0xb9800000, 7}, 8, AMD_CODE_SALU, 0, 0, "s_setreg_imm32_b32"},
	{G11, {0xc8080000, 0}, 8, AMD_CODE_VALU, 0, 0, "VOPD"},
	{G11, {0xc8400000, 0, 1}, 12, AMD_CODE_VALU, 0, 0, "VOPD v_dual_fmaak"},
	{G11, {0xce000000}, 4, AMD_CODE_LDS, 0, 0, "lds_direct_load"},
	{G11, {0xcd000000, 0}, 8, AMD_CODE_VALU, 0, 0, "v_interp"},
	{G11, {0xd8d80000, 0}, 8, AMD_CODE_LDS, AMD_CODE_LOAD, 0, "ds_load_b32"},
	{G12, {0xdb800000, 0}, 8, AMD_CODE_BVH, AMD_CODE_DS_BVH, 0, "ds_bvh_stack"},
	{G11, {0xdc520000, 0}, 8, AMD_CODE_VMEM, AMD_CODE_LOAD, 0, "global_load_b32"},
	{G11, {0xdc500000, 0}, 8, AMD_CODE_FLAT, AMD_CODE_LOAD, 0, "flat_load_b32"},
	{G11, {0xf0640001, 0, 0}, 12, AMD_CODE_BVH, 0, 0, "image_bvh"},
	{G12, {0xee050000, 0, 0}, 12, AMD_CODE_VMEM, AMD_CODE_LOAD, 0, "global_load_b32"},
	{G12, {0xed050000, 0, 0}, 12, AMD_CODE_VMEM, AMD_CODE_LOAD | AMD_CODE_SCRATCH, 0,
		"scratch"},
	{G12, {0xc4050000, 0, 0}, 12, AMD_CODE_VMEM, AMD_CODE_LOAD, 0, "buffer_load_b32"},
	{G12, {0xd0064000, 0, 0}, 12, AMD_CODE_BVH, 0, 0, "image_bvh"},
	{G12, {0xe4000000, 0, 0}, 12, AMD_CODE_VMEM, 0, 0, "image_sample"},
	{G12, {0xf4000000, 0}, 8, AMD_CODE_SMEM, AMD_CODE_LOAD, 0, "s_load_b32"},
	{G12, {0xf8000000, 0}, 8, AMD_CODE_UNKNOWN, 0, 0, "export"},
};

static void test_amd_code_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t words[6] = {0};
		struct amd_code_inst in;

		memcpy(words, cases[i].w, sizeof(cases[i].w));
		if (!amd_code_decode(cases[i].arch, (const uint8_t *)words, sizeof(words), &in) ||
			in.len_bytes != cases[i].len || in.inst_class != cases[i].inst_class ||
			in.flags != cases[i].flags || in.branch != cases[i].branch)
			fail_msg(
				"gfx%u %08x %s: got %u class %d flags %x branch %d, want %u %d %x %d",
				amd_arch_major(cases[i].arch), cases[i].w[0], cases[i].text,
				in.len_bytes, (int)in.inst_class, in.flags, in.branch, cases[i].len,
				(int)cases[i].inst_class, cases[i].flags, cases[i].branch);
	}
}

/* The text of an instruction says what its words do; cases without assembler text are left out. */
static void test_amd_code_text(void **state)
{
	unsigned n = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct str text = str_of(cases[i].text);
		struct amd_code_inst in =
			amd_code_of_text(cases[i].arch, text, 0x1000, cases[i].len);

		if (!str_has(text, "_") || str_has(text, "itself") || str_starts(text, "VOP"))
			continue;
		n++;
		if (in.len_bytes != cases[i].len || in.inst_class != cases[i].inst_class ||
			in.flags != cases[i].flags || in.branch != cases[i].branch)
			fail_msg("gfx%u %s: got %u class %d flags %x branch %d, want %u %d %x %d",
				amd_arch_major(cases[i].arch), cases[i].text, in.len_bytes,
				(int)in.inst_class, in.flags, in.branch, cases[i].len,
				(int)cases[i].inst_class, cases[i].flags, cases[i].branch);
	}
	assert_true(n > 40);
	assert_int_equal(amd_code_of_text(G9, str_of("; k"), 0, 4).inst_class, AMD_CODE_UNKNOWN);
	assert_int_equal(amd_code_of_text(G9, str_of("s_nop 0"), 0, 4096).len_bytes, 4);
}

/* Never longer than said, never past the end; every word of every generation. */
static void test_amd_code_short(void **state)
{
	struct amd_code_inst in;
	uint32_t words[4] = {0, 0, 0, 0};

	(void)state;
	assert_false(amd_code_decode(G9, (const uint8_t *)words, 3, &in));
	assert_false(amd_code_decode(AMD_ARCH_UNKNOWN, (const uint8_t *)words, 16, &in));
	for (int arch = G9; arch <= (int)AMD_ARCH_GFX1250; arch++)
		for (uint32_t top = 0; top < 0x10000; top++) {
			words[0] = top << 16 | 0xff;
			for (size_t n = 4; n <= 16; n += 4) {
				bool fits = amd_code_decode(
					(enum amd_arch)arch, (const uint8_t *)words, n, &in);

				assert_true(in.len_bytes >= 4 && in.len_bytes <= 20 &&
					    in.len_bytes % 4 == 0);
				assert_int_equal(fits, in.len_bytes <= n);
			}
		}
}

static void test_amd_code_names(void **state)
{
	(void)state;
	assert_string_equal(amd_arch_gpu_of_elf_flags(0x54f), "gfx950");
	assert_null(amd_arch_gpu_of_elf_flags(0));
	assert_int_equal(amd_arch_of_gpu("gfx1100"), AMD_ARCH_GFX11);
	assert_int_equal(amd_arch_of_gpu("sm_90"), AMD_ARCH_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_amd_code_table),
		cmocka_unit_test(test_amd_code_text),
		cmocka_unit_test(test_amd_code_short),
		cmocka_unit_test(test_amd_code_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
