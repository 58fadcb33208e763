/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long is this AMD instruction, what kind is it, where does it branch? Answered from the
 * encoding alone, one small function per encoding family, so that decoding needs no disassembler.
 */
#include "isa/amd_code.h"

#include <string.h>

/* The words of one instruction; those past the end of the section read as 0. */
struct code_words {
	enum amd_arch arch;
	uint32_t w, hi, w2;
};

static uint32_t amd_code_bits(uint32_t w, unsigned lo, unsigned hi)
{
	return (w >> lo) & ((2u << (hi - lo)) - 1);
}

static bool amd_code_within(uint32_t v, uint32_t lo, uint32_t hi)
{
	return v - lo <= hi - lo;
}

static bool is_gfx12(const struct code_words *x)
{
	return x->arch >= AMD_ARCH_GFX12;
}

static bool is_gfx11_up(const struct code_words *x)
{
	return x->arch >= AMD_ARCH_GFX11;
}

static struct amd_code_inst amd_code_of_length(unsigned len, enum amd_code_class c, unsigned flags)
{
	return (struct amd_code_inst){(uint8_t)len, (uint8_t)c, (uint8_t)flags, 0};
}

static struct amd_code_inst branch(uint32_t w)
{
	struct amd_code_inst i = amd_code_of_length(4, AMD_CODE_BRANCH, 0);

	i.branch = 4 + 4 * (int32_t)(int16_t)(w & 0xffff);
	return i;
}

static struct amd_code_inst sopp_old(const struct code_words *x, unsigned op)
{
	bool is_gfx9 = x->arch == AMD_ARCH_GFX9;

	if (op == 2 || amd_code_within(op, 4, 9) || amd_code_within(op, 23, 26))
		return branch(x->w);
	if (op == 10)
		return amd_code_of_length(4, is_gfx9 ? AMD_CODE_BARRIER : AMD_CODE_IMMED, 0);
	if (op == 12 || (!is_gfx9 && op == 35))
		return amd_code_of_length(4, AMD_CODE_IMMED, AMD_CODE_WAIT);
	if (is_gfx9 ? op == 28 || op == 29 : op == 31 || op == 36 || op == 37)
		return amd_code_of_length(4, AMD_CODE_SALU, 0);
	if (op == 1 || op == 27 || op == 30)
		return amd_code_of_length(4, AMD_CODE_IMMED, AMD_CODE_END);
	return amd_code_of_length(4, AMD_CODE_IMMED, 0);
}

static struct amd_code_inst sopp(const struct code_words *x)
{
	unsigned op = amd_code_bits(x->w, 16, 22);

	if (!is_gfx11_up(x))
		return sopp_old(x, op);
	if (amd_code_within(op, 32, 42))
		return branch(x->w);
	switch (op) {
	case 7:
		return amd_code_of_length(4, AMD_CODE_SKIP, 0);
	case 8:
		return is_gfx12(x) ? amd_code_of_length(4, AMD_CODE_SKIP, 0)
				   : amd_code_of_length(4, AMD_CODE_IMMED, AMD_CODE_WAIT);
	case 9:
		return amd_code_of_length(4, AMD_CODE_IMMED, AMD_CODE_WAIT);
	case 17:
	case 18:
	case 31:
		return amd_code_of_length(4, AMD_CODE_SALU, 0);
	case 20:
		return amd_code_of_length(4, AMD_CODE_IMMED, is_gfx12(x) ? AMD_CODE_BARWAIT : 0);
	case 48:
	case 49:
	case 50:
		return amd_code_of_length(4, AMD_CODE_IMMED, AMD_CODE_END);
	default:
		return amd_code_of_length(4, AMD_CODE_IMMED, 0);
	}
}

/* s_setpc, s_swappc, s_rfe and, on gfx9, s_cbranch_join: the next address is in a register. */
static bool sop1_is_setpc(const struct code_words *x, unsigned op)
{
	if (x->arch == AMD_ARCH_GFX9)
		return amd_code_within(op, 29, 31) || op == 46;
	if (x->arch == AMD_ARCH_GFX10)
		return amd_code_within(op, 32, 34);
	return amd_code_within(op, 72, 74);
}

static struct amd_code_inst sop1(const struct code_words *x)
{
	unsigned op = amd_code_bits(x->w, 8, 15);
	unsigned len = (x->w & 0xff) == 0xff ? 8 : 4;

	if (is_gfx11_up(x) && (op == 76 || op == 77))
		return amd_code_of_length(len, AMD_CODE_IMMED, 0);
	if (is_gfx12(x) && (op == 78 || op == 79 || op == 81 || op == 82 || op == 88))
		return amd_code_of_length(len, AMD_CODE_IMMED, 0);
	return amd_code_of_length(len, AMD_CODE_SALU, sop1_is_setpc(x, op) ? AMD_CODE_SETPC : 0);
}

static struct amd_code_inst sopk(const struct code_words *x)
{
	unsigned op = amd_code_bits(x->w, 23, 27);

	switch (x->arch) {
	case AMD_ARCH_GFX9:
		if (op == 16)
			return branch(x->w);
		return amd_code_of_length(
			op == 20 ? 8 : 4, AMD_CODE_SALU, op == 21 ? AMD_CODE_SETPC : 0);
	case AMD_ARCH_GFX10:
		if (amd_code_within(op, 23, 26))
			return amd_code_of_length(4, AMD_CODE_IMMED, AMD_CODE_WAIT);
		if (op == 1)
			return amd_code_of_length(4, AMD_CODE_IMMED, 0);
		return amd_code_of_length(
			op == 21 ? 8 : 4, AMD_CODE_SALU, op == 22 ? AMD_CODE_SETPC : 0);
	default:
		if (x->arch == AMD_ARCH_GFX11 && amd_code_within(op, 24, 27))
			return amd_code_of_length(4, AMD_CODE_IMMED, AMD_CODE_WAIT);
		if (op == 1)
			return amd_code_of_length(4, AMD_CODE_IMMED, 0);
		return amd_code_of_length(
			op == 19 ? 8 : 4, AMD_CODE_SALU, op == 20 ? AMD_CODE_SETPC : 0);
	}
}

static struct amd_code_inst scalar(const struct code_words *x)
{
	uint32_t w = x->w;
	bool has_literal = (w & 0xff) == 0xff || amd_code_bits(w, 8, 15) == 0xff;
	unsigned op;

	switch (w >> 23) {
	case 0x17f:
		return sopp(x);
	case 0x17e:
		return amd_code_of_length(has_literal ? 8 : 4, AMD_CODE_SALU, 0);
	case 0x17d:
		return sop1(x);
	default:
		break;
	}
	if (w >> 28 == 0xb)
		return sopk(x);
	op = amd_code_bits(w, 23, 29);
	if (is_gfx11_up(x) && (op == 69 || op == 70))
		has_literal = true;
	return amd_code_of_length(has_literal ? 8 : 4, AMD_CODE_SALU, 0);
}

/* VOP1, VOP2, VOPC. The listed opcodes carry a constant of their own (v_madmk and the like). */
static struct amd_code_inst vector_short(const struct code_words *x)
{
	bool is_gfx9 = x->arch == AMD_ARCH_GFX9, is_gfx10 = x->arch == AMD_ARCH_GFX10;
	uint32_t src0 = amd_code_bits(x->w, 0, 8), op = x->w >> 25;
	bool is_long = src0 == 0xff || src0 == 0xfa;

	if (is_gfx9 || is_gfx10)
		is_long |= src0 == 0xf9;
	if (!is_gfx9)
		is_long |= src0 == 0xe9 || src0 == 0xea;
	if (is_gfx9)
		is_long |= op == 0x17 || op == 0x18 || op == 0x24 || op == 0x25;
	else
		is_long |= op == 0x2c || op == 0x2d || op == 0x37 || op == 0x38;
	if (is_gfx10)
		is_long |= op == 0x20 || op == 0x21;
	return amd_code_of_length(is_long ? 8 : 4, AMD_CODE_VALU,
		is_gfx12(x) && op == 0x3f && amd_code_bits(x->w, 9, 16) == 0x1d ? AMD_CODE_MOV_B64
										: 0);
}

static bool amd_code_has_source(uint32_t hi, uint32_t value)
{
	return amd_code_bits(hi, 0, 8) == value || amd_code_bits(hi, 9, 17) == value ||
	       amd_code_bits(hi, 18, 26) == value;
}

/* seg 0: flat address, 1: scratch, 2: global */
static struct amd_code_inst flat(unsigned len, unsigned seg, bool is_load)
{
	unsigned flags = (is_load ? AMD_CODE_LOAD : 0) | (seg == 1 ? AMD_CODE_SCRATCH : 0);

	return amd_code_of_length(len, seg == 0 ? AMD_CODE_FLAT : AMD_CODE_VMEM, flags);
}

static struct amd_code_inst load_if(unsigned len, enum amd_code_class c, bool is_load)
{
	return amd_code_of_length(len, c, is_load ? AMD_CODE_LOAD : 0);
}

static struct amd_code_inst gfx9(const struct code_words *x)
{
	uint32_t w = x->w, op = amd_code_bits(w, 18, 24);

	switch (w >> 26) {
	case 0x30:
		return load_if(8, AMD_CODE_SMEM, amd_code_bits(w, 18, 25) <= 12);
	case 0x34:
		if (w >> 16 == 0xd3ac && (x->w2 >> 16 == 0xd3ad || x->w2 >> 16 == 0xd3ae))
			return amd_code_of_length(16, AMD_CODE_MFMA_SCALE, 0);
		return amd_code_of_length(8, AMD_CODE_VALU, 0);
	case 0x35:
		return amd_code_of_length(4, AMD_CODE_VALU, 0);
	case 0x36:
		return amd_code_of_length(8, AMD_CODE_LDS, 0);
	case 0x37:
		return flat(8, amd_code_bits(w, 14, 15),
			amd_code_within(op, 16, 23) || amd_code_within(op, 32, 42) || op == 125 ||
				op == 126);
	case 0x38:
		return load_if(8, AMD_CODE_VMEM,
			op <= 3 || amd_code_within(op, 8, 11) || amd_code_within(op, 16, 23) ||
				amd_code_within(op, 32, 38));
	case 0x3a:
		op = amd_code_bits(w, 15, 18);
		return load_if(8, AMD_CODE_VMEM, op <= 3 || amd_code_within(op, 8, 11));
	case 0x3c:
		return load_if(8, AMD_CODE_VMEM, amd_code_within(op, 1, 5));
	default:
		return amd_code_of_length(8, AMD_CODE_UNKNOWN, 0);
	}
}

static struct amd_code_inst gfx10_image(uint32_t w)
{
	unsigned op = amd_code_bits(w, 18, 24) | (w & 1) << 7;

	return amd_code_of_length(8 + 4 * amd_code_bits(w, 1, 2),
		op == 0xe6 || op == 0xe7 ? AMD_CODE_BVH : AMD_CODE_VMEM, 0);
}

static struct amd_code_inst gfx10(const struct code_words *x)
{
	uint32_t w = x->w, op = amd_code_bits(w, 18, 25);

	switch (w >> 26) {
	case 0x32:
		return amd_code_of_length(4, AMD_CODE_VALU, 0);
	case 0x33:
	case 0x35:
		return amd_code_of_length(
			amd_code_has_source(x->hi, 0xff) ? 12 : 8, AMD_CODE_VALU, 0);
	case 0x36:
		return amd_code_of_length(8, AMD_CODE_LDS, 0);
	case 0x37:
		op = amd_code_bits(w, 18, 24);
		return flat(8, amd_code_bits(w, 14, 15),
			amd_code_within(op, 8, 15) || op == 22 || amd_code_within(op, 32, 37));
	case 0x38:
		return load_if(8, AMD_CODE_VMEM,
			op <= 3 || amd_code_within(op, 8, 15) || amd_code_within(op, 32, 38) ||
				amd_code_within(op, 128, 131));
	case 0x3a:
		op = amd_code_bits(w, 16, 18) | amd_code_bits(x->hi, 21, 21) << 3;
		return load_if(8, AMD_CODE_VMEM, op <= 3 || amd_code_within(op, 8, 11));
	case 0x3c:
		return gfx10_image(w);
	case 0x3d:
		return load_if(8, AMD_CODE_SMEM, op <= 4 || amd_code_within(op, 8, 12));
	default:
		return amd_code_of_length(8, AMD_CODE_UNKNOWN, 0);
	}
}

static struct amd_code_inst vop3(const struct code_words *x)
{
	uint32_t src0 = amd_code_bits(x->hi, 0, 8);
	bool is_long =
		amd_code_has_source(x->hi, 0xff) || src0 == 0xfa || src0 == 0xe9 || src0 == 0xea;

	return amd_code_of_length(is_long ? 12 : 8, AMD_CODE_VALU, 0);
}

static struct amd_code_inst vopd(const struct code_words *x)
{
	unsigned opx = amd_code_bits(x->w, 22, 25), opy = amd_code_bits(x->w, 17, 21);
	bool is_long = amd_code_bits(x->w, 0, 8) == 0xff || amd_code_bits(x->hi, 0, 8) == 0xff ||
		       opx == 1 || opx == 2 || opy == 1 || opy == 2;

	return amd_code_of_length(is_long ? 12 : 8, AMD_CODE_VALU, 0);
}

static struct amd_code_inst lds_new(const struct code_words *x)
{
	unsigned op = amd_code_bits(x->w, 18, 25);
	bool is_load = amd_code_within(op, 54, 60) || amd_code_within(op, 118, 120) ||
		       amd_code_within(op, 162, 167) || op == 177 || op == 254 || op == 255;

	if (is_gfx12(x) && amd_code_within(op, 224, 226))
		return amd_code_of_length(8, AMD_CODE_BVH, AMD_CODE_DS_BVH);
	return load_if(8, AMD_CODE_LDS, is_load);
}

static struct amd_code_inst gfx11(const struct code_words *x)
{
	uint32_t w = x->w, op = amd_code_bits(w, 18, 25);

	switch (w >> 26) {
	case 0x37:
		op = amd_code_bits(w, 18, 24);
		return flat(8, amd_code_bits(w, 16, 17),
			amd_code_within(op, 16, 23) || amd_code_within(op, 30, 35) || op == 40);
	case 0x38:
		return load_if(8, AMD_CODE_VMEM,
			op <= 3 || amd_code_within(op, 8, 11) || amd_code_within(op, 16, 23) ||
				amd_code_within(op, 30, 35) || op == 38);
	case 0x3a:
		op = amd_code_bits(w, 15, 18);
		return load_if(8, AMD_CODE_VMEM, op <= 3 || amd_code_within(op, 8, 11));
	case 0x3c:
		if (op == 25 || op == 26)
			return amd_code_of_length(w & 1 ? 12 : 8, AMD_CODE_BVH, 0);
		return load_if(w & 1 ? 12 : 8, AMD_CODE_VMEM, amd_code_within(op, 1, 5));
	case 0x3d:
		return load_if(8, AMD_CODE_SMEM, op <= 12);
	default:
		return amd_code_of_length(8, AMD_CODE_UNKNOWN, 0);
	}
}

static struct amd_code_inst gfx12(const struct code_words *x)
{
	uint32_t w = x->w, op = amd_code_bits(w, 14, 21);

	switch (w >> 26) {
	case 0x31:
		return load_if(12, AMD_CODE_VMEM,
			op <= 3 || amd_code_within(op, 8, 11) || amd_code_within(op, 16, 23) ||
				amd_code_within(op, 30, 35) || op == 38 ||
				amd_code_within(op, 128, 131) || amd_code_within(op, 136, 139));
	case 0x34:
		if (op == 25 || op == 26 || op == 128 || op == 129)
			return amd_code_of_length(12, AMD_CODE_BVH, 0);
		return load_if(12, AMD_CODE_VMEM, amd_code_within(op, 1, 5));
	case 0x39:
		return amd_code_of_length(12, AMD_CODE_VMEM, 0);
	case 0x3b:
		return flat(12, amd_code_bits(w, 24, 25),
			amd_code_within(op, 16, 23) || amd_code_within(op, 30, 35) || op == 40 ||
				op == 83 || op == 87 || op == 88);
	case 0x3d:
		return load_if(8, AMD_CODE_SMEM, amd_code_bits(w, 13, 18) <= 27);
	default:
		return amd_code_of_length(8, AMD_CODE_UNKNOWN, 0);
	}
}

static struct amd_code_inst gfx11_up(const struct code_words *x)
{
	uint32_t w = x->w;

	switch (w >> 26) {
	case 0x32:
		return vopd(x);
	case 0x33:
		if (w >> 24 == 0xce)
			return amd_code_of_length(4, AMD_CODE_LDS, 0);
		if (w >> 24 == 0xcd)
			return amd_code_of_length(8, AMD_CODE_VALU, 0);
		return vop3(x);
	case 0x35:
		return vop3(x);
	case 0x36:
		return lds_new(x);
	default:
		return is_gfx12(x) ? gfx12(x) : gfx11(x);
	}
}

static struct amd_code_inst amd_code_decode_words(const struct code_words *x)
{
	if (x->w >> 31 == 0)
		return vector_short(x);
	if (x->w >> 30 == 2)
		return scalar(x);
	if (x->arch == AMD_ARCH_GFX9)
		return gfx9(x);
	if (x->arch == AMD_ARCH_GFX10)
		return gfx10(x);
	return gfx11_up(x);
}

bool amd_code_decode(enum amd_arch arch, const uint8_t *p, size_t n, struct amd_code_inst *out)
{
	uint32_t w[3] = {0, 0, 0};
	struct code_words x;

	if (arch == AMD_ARCH_UNKNOWN || n < 4) {
		*out = amd_code_of_length(4, AMD_CODE_UNKNOWN, 0);
		return false;
	}
	memcpy(w, p, n < sizeof(w) ? n & ~(size_t)3 : sizeof(w));
	x = (struct code_words){arch, w[0], w[1], w[2]};
	*out = amd_code_decode_words(&x);
	return out->len_bytes <= n;
}

static const struct {
	uint8_t mach;
	uint8_t arch;
	const char *gpu;
} gpus[] = {
	{0x2c, AMD_ARCH_GFX9, "gfx900"},
	{0x2d, AMD_ARCH_GFX9, "gfx902"},
	{0x2e, AMD_ARCH_GFX9, "gfx904"},
	{0x2f, AMD_ARCH_GFX9, "gfx906"},
	{0x30, AMD_ARCH_GFX9, "gfx908"},
	{0x31, AMD_ARCH_GFX9, "gfx909"},
	{0x32, AMD_ARCH_GFX9, "gfx90c"},
	{0x3f, AMD_ARCH_GFX9, "gfx90a"},
	{0x4c, AMD_ARCH_GFX9, "gfx942"},
	{0x4f, AMD_ARCH_GFX9, "gfx950"},
	{0x36, AMD_ARCH_GFX10, "gfx1030"},
	{0x41, AMD_ARCH_GFX11, "gfx1100"},
	{0x46, AMD_ARCH_GFX11, "gfx1101"},
	{0x47, AMD_ARCH_GFX11, "gfx1102"},
	{0x44, AMD_ARCH_GFX11, "gfx1103"},
	{0x43, AMD_ARCH_GFX11, "gfx1150"},
	{0x4a, AMD_ARCH_GFX11, "gfx1151"},
	{0x55, AMD_ARCH_GFX11, "gfx1152"},
	{0x58, AMD_ARCH_GFX11, "gfx1153"},
	{0x48, AMD_ARCH_GFX12, "gfx1200"},
	{0x4e, AMD_ARCH_GFX12, "gfx1201"},
	{0x49, AMD_ARCH_GFX1250, "gfx1250"},
};

#define N_GPUS (sizeof(gpus) / sizeof(gpus[0]))

const char *amd_arch_gpu_of_elf_flags(uint32_t e_flags)
{
	for (size_t i = 0; i < N_GPUS; i++)
		if (gpus[i].mach == (e_flags & 0xff))
			return gpus[i].gpu;
	return NULL;
}

enum amd_arch amd_arch_of_gpu(const char *gpu)
{
	for (size_t i = 0; i < N_GPUS; i++)
		if (strcmp(gpus[i].gpu, gpu) == 0)
			return gpus[i].arch;
	return AMD_ARCH_UNKNOWN;
}

unsigned amd_arch_major(enum amd_arch arch)
{
	static const uint8_t major[] = {0, 9, 10, 11, 12, 12};

	return major[arch];
}
