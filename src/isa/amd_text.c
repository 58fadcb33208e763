/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amd_text.c: the rules of amd_code.c by mnemonic. A table of prefixes, first match wins; the
 * generations that a row holds for are a range.
 */
#include "isa/amd_text.h"

#include "isa/amd.h"

#define LONGEST_INST 20u

struct text_rule {
	const char *prefix;
	uint8_t inst_class, flags;
	uint8_t from, to; /* enum amd_arch; 0: any */
};

#define GFX(from, to) AMD_ARCH_GFX##from, AMD_ARCH_GFX##to

static const struct text_rule rules[] = {
	{"s_waitcnt_depctr", AMD_CODE_IMMED, AMD_CODE_WAIT, 0, 0},
	{"s_waitcnt", AMD_CODE_IMMED, AMD_CODE_WAIT, 0, 0},
	{"s_wait_alu", AMD_CODE_SKIP, 0, 0, 0},
	{"s_delay_alu", AMD_CODE_SKIP, 0, 0, 0},
	{"s_wait", AMD_CODE_IMMED, 0, 0, 0},
	{"s_endpgm", AMD_CODE_IMMED, AMD_CODE_END, 0, 0},
	{"s_barrier_wait", AMD_CODE_IMMED, AMD_CODE_BARWAIT, 0, 0},
	{"s_barrier_", AMD_CODE_IMMED, 0, 0, 0},
	{"s_barrier", AMD_CODE_BARRIER, 0, GFX(9, 9)},
	{"s_barrier", AMD_CODE_IMMED, 0, 0, 0},
	{"s_nop", AMD_CODE_IMMED, 0, 0, 0},
	{"s_sleep", AMD_CODE_IMMED, 0, 0, 0},
	{"s_sethalt", AMD_CODE_IMMED, 0, 0, 0},
	{"s_setkill", AMD_CODE_IMMED, 0, 0, 0},
	{"s_setprio", AMD_CODE_IMMED, 0, 0, 0},
	{"s_sendmsg", AMD_CODE_IMMED, 0, 0, 0},
	{"s_trap", AMD_CODE_IMMED, 0, 0, 0},
	{"s_icache_inv", AMD_CODE_IMMED, 0, 0, 0},
	{"s_incperflevel", AMD_CODE_IMMED, 0, 0, 0},
	{"s_decperflevel", AMD_CODE_IMMED, 0, 0, 0},
	{"s_ttracedata", AMD_CODE_IMMED, 0, 0, 0},
	{"s_clause", AMD_CODE_IMMED, 0, 0, 0},
	{"s_inst_prefetch", AMD_CODE_IMMED, 0, 0, 0},
	{"s_set_inst_prefetch", AMD_CODE_IMMED, 0, 0, 0},
	{"s_wakeup", AMD_CODE_IMMED, 0, 0, 0},
	{"s_version", AMD_CODE_IMMED, 0, 0, 0},
	{"s_setpc", AMD_CODE_SALU, AMD_CODE_SETPC, 0, 0},
	{"s_swappc", AMD_CODE_SALU, AMD_CODE_SETPC, 0, 0},
	{"s_rfe", AMD_CODE_SALU, AMD_CODE_SETPC, 0, 0},
	{"s_call", AMD_CODE_SALU, AMD_CODE_SETPC, 0, 0},
	{"s_cbranch_join", AMD_CODE_SALU, AMD_CODE_SETPC, 0, 0},
	{"s_cbranch_g_fork", AMD_CODE_SALU, 0, 0, 0},
	{"s_load", AMD_CODE_SMEM, 0, 0, 0},
	{"s_store", AMD_CODE_SMEM, 0, 0, 0},
	{"s_buffer_", AMD_CODE_SMEM, 0, 0, 0},
	{"s_scratch_", AMD_CODE_SMEM, 0, 0, 0},
	{"s_atomic", AMD_CODE_SMEM, 0, 0, 0},
	{"s_memtime", AMD_CODE_SMEM, 0, 0, 0},
	{"s_memrealtime", AMD_CODE_SMEM, 0, 0, 0},
	{"s_dcache", AMD_CODE_SMEM, 0, 0, 0},
	{"s_gl1_inv", AMD_CODE_SMEM, 0, 0, 0},
	{"s_atc_probe", AMD_CODE_SMEM, 0, 0, 0},
	{"s_prefetch", AMD_CODE_SMEM, 0, 0, 0},
	{"s_get_waveid", AMD_CODE_SMEM, 0, 0, 0},
	{"s_", AMD_CODE_SALU, 0, 0, 0},
	{"v_mov_b64", AMD_CODE_VALU, AMD_CODE_MOV_B64, GFX(12, 1250)},
	{"v_", AMD_CODE_VALU, 0, 0, 0},
	{"ds_bvh", AMD_CODE_BVH, AMD_CODE_DS_BVH, GFX(12, 1250)},
	{"ds_", AMD_CODE_LDS, 0, 0, 0},
	{"lds_", AMD_CODE_LDS, 0, 0, 0},
	{"flat_", AMD_CODE_FLAT, 0, 0, 0},
	{"global_", AMD_CODE_VMEM, 0, 0, 0},
	{"scratch_", AMD_CODE_VMEM, AMD_CODE_SCRATCH, 0, 0},
	{"buffer_", AMD_CODE_VMEM, 0, 0, 0},
	{"tbuffer_", AMD_CODE_VMEM, 0, 0, 0},
	{"image_bvh", AMD_CODE_BVH, 0, 0, 0},
	{"image_", AMD_CODE_VMEM, 0, 0, 0},
};

static bool is_in(const struct text_rule *r, enum amd_arch arch)
{
	return !r->from || (arch >= r->from && arch <= r->to);
}

/* gfx9 and gfx10 call reads of LDS ds_read; only later ones have _load_ there. */
static bool is_load(enum amd_arch arch, const struct amd_code_inst *in, struct str mnemonic)
{
	if (in->inst_class != AMD_CODE_SMEM && in->inst_class != AMD_CODE_VMEM &&
		in->inst_class != AMD_CODE_FLAT && in->inst_class != AMD_CODE_LDS)
		return false;
	return str_has(mnemonic, "_load_") &&
	       !(arch == AMD_ARCH_GFX10 && str_starts(mnemonic, "image_")) &&
	       !str_starts(mnemonic, "lds_");
}

struct amd_code_inst amd_code_of_text(
	enum amd_arch arch, struct str text, uint64_t address, uint64_t len_bytes)
{
	struct amd_code_inst in = {4, AMD_CODE_UNKNOWN, 0, 0};
	struct str mnemonic = amd_mnemonic(text);
	uint64_t target;

	if (len_bytes >= 4 && len_bytes <= LONGEST_INST)
		in.len_bytes = (uint8_t)(len_bytes & ~(uint64_t)3);
	if (amd_branch_target(text, address, &target) && !str_starts(mnemonic, "s_call")) {
		in.inst_class = AMD_CODE_BRANCH;
		in.branch = (int32_t)(target - address);
		return in;
	}
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		if (!is_in(&rules[i], arch) || !str_starts(mnemonic, rules[i].prefix))
			continue;
		in.inst_class = rules[i].inst_class;
		in.flags = rules[i].flags;
		break;
	}
	if (in.len_bytes == 16 && str_starts(mnemonic, "v_mfma_scale"))
		in.inst_class = AMD_CODE_MFMA_SCALE;
	if (is_load(arch, &in, mnemonic))
		in.flags |= AMD_CODE_LOAD;
	return in;
}
