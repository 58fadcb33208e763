/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amd_code.h: decodes AMD machine code from its words alone: length, class, branch target, flags.
 * Used to follow the code along a thread trace; text for display is made elsewhere. Covers gfx9
 * (gfx908 to gfx950), gfx10, gfx11 and gfx12; gfx1250 is read by the gfx12 table.
 * Threads: pure functions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum amd_arch {
	AMD_ARCH_UNKNOWN,
	AMD_ARCH_GFX9,
	AMD_ARCH_GFX10,
	AMD_ARCH_GFX11,
	AMD_ARCH_GFX12,
	AMD_ARCH_GFX1250,
};

/* How a thread trace classifies the instruction; values below 16 are enum amd_category. */
enum amd_code_class {
	AMD_CODE_SMEM = 1,
	AMD_CODE_SALU = 2,
	AMD_CODE_VMEM = 3,
	AMD_CODE_FLAT = 4,
	AMD_CODE_LDS = 5,
	AMD_CODE_VALU = 6,
	AMD_CODE_IMMED = 9, /* executed by the sequencer: waits, nops, messages */
	AMD_CODE_BVH = 12,
	AMD_CODE_SKIP = 16,    /* never traced */
	AMD_CODE_UNKNOWN = 17, /* no class known; the length is a guess */
	AMD_CODE_BRANCH = 18,
	AMD_CODE_BARRIER = 19,	  /* gfx9 s_barrier: a message and an immediate */
	AMD_CODE_MFMA_SCALE = 20, /* gfx950: two 8-byte words pairs, one traced VALU */
};

enum amd_code_flags {
	AMD_CODE_WAIT = 1,     /* s_waitcnt and its kin */
	AMD_CODE_LOAD = 2,     /* the mnemonic holds _load_ */
	AMD_CODE_SCRATCH = 4,  /* scratch_* */
	AMD_CODE_BARWAIT = 8,  /* s_barrier_wait */
	AMD_CODE_DS_BVH = 16,  /* gfx12 ds_bvh_*: older decoders call it LDS */
	AMD_CODE_MOV_B64 = 32, /* v_mov_b64 of gfx1250 */
	AMD_CODE_END = 64,     /* s_endpgm */
	AMD_CODE_SETPC = 128,  /* target is in a register: s_setpc, s_swappc, s_rfe; also s_call */
};

struct amd_code_inst {
	uint8_t len_bytes;  /* 4 to 20 */
	uint8_t inst_class; /* enum amd_code_class */
	uint8_t flags;	    /* enum amd_code_flags */
	int32_t branch;	    /* AMD_CODE_BRANCH: target minus own address, in bytes; else 0 */
};

/* Decodes the instruction at p, with n bytes left in its section. False: fewer bytes than it needs
 * (*out still says how many) or no such architecture. An unknown word is AMD_CODE_UNKNOWN and true.
 */
bool amd_code_decode(enum amd_arch arch, const uint8_t *p, size_t n, struct amd_code_inst *out);

/* GPU name for an ELF header's e_flags: "gfx950", or NULL. */
const char *amd_arch_gpu_of_elf_flags(uint32_t e_flags);
/* Architecture of a GPU name such as "gfx942"; AMD_ARCH_UNKNOWN for others. */
enum amd_arch amd_arch_of_gpu(const char *gpu);
unsigned amd_arch_major(enum amd_arch arch); /* 9, 10, 11, 12; 0 */
