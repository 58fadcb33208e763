/* SPDX-License-Identifier: Apache-2.0 */
/* Meaning of the codes of an INST token from gfx10 on: category and cycles of each. */
#include "import/sqtt/gfx10.h"

struct run { /* codes first..last take cycles, cycles + 1, ... */
	uint8_t first, last, category, cycles;
};

static const struct run all_runs[] = {
	{0, 0, SQTT_SALU, 1},
	{1, 1, SQTT_SMEM, 1},
	{2, 2, SQTT_SMEM, 1},
	{3, 3, SQTT_JUMP, 1},
	{4, 4, SQTT_NEXT, 1},
	{5, 5, SQTT_SALU, 1},
	{7, 7, SQTT_SALU, 1},
	{8, 8, SQTT_CONTEXT, 1},
	{9, 9, SQTT_MSG, 1},
	{10, 10, SQTT_VALU, 1},
	{11, 11, SQTT_VALU, 4},
	{12, 12, SQTT_VALU, 1},
	{13, 13, SQTT_VALU, 2},
	{14, 14, SQTT_VALU, 4},
	{15, 15, SQTT_VALU, 16},
	{18, 18, SQTT_VALU, 1},
	{19, 19, SQTT_IMMED, 1},
	{41, 41, SQTT_LDS, 1},
	{42, 46, SQTT_LDS, 1},
	{47, 48, SQTT_VMEM, 1},
	{49, 54, SQTT_VMEM, 1},
	{55, 66, SQTT_VMEM, 1},
	{68, 71, SQTT_VMEM, 1},
	{72, 78, SQTT_VMEM, 2},
	{103, 104, SQTT_BVH, 8},
	{105, 106, SQTT_BVH, 11},
	{110, 110, SQTT_LDS, 1},
	{111, 111, SQTT_LDS, 1},
};

static const struct run gfx10_runs[] = {
	{16, 16, SQTT_VALU, 1},
	{17, 17, SQTT_VALU, 1},
	{30, 30, SQTT_FLAT, 1},
	{31, 34, SQTT_FLAT, 2},
	{35, 35, SQTT_VMEM, 1},
	{36, 40, SQTT_VMEM, 1},
	{112, 112, SQTT_SALU, 1},
	{113, 113, SQTT_SALU, 1},
};

static const struct run gfx11_up_runs[] = {
	{28, 28, SQTT_FLAT, 2},
	{29, 32, SQTT_FLAT, 3},
	{33, 34, SQTT_VMEM, 1},
	{35, 40, SQTT_VMEM, 1},
	{114, 114, SQTT_SALU, 1},
	{115, 115, SQTT_VALU, 1},
	{116, 116, SQTT_VALU, 2},
};

static const struct run gfx11_runs[] = {
	{16, 16, SQTT_VALU, 1},
	{17, 17, SQTT_VALU, 1},
	{112, 112, SQTT_SALU, 1},
	{113, 113, SQTT_SALU, 1},
	{118, 118, SQTT_LDS, 6},
};

static const struct run gfx12_runs[] = {
	{118, 118, SQTT_BVH, 6},
	{121, 121, SQTT_BVH, 10},
	{122, 122, SQTT_MSG, 1},
	{135, 135, SQTT_SALU, 1},
	{136, 136, SQTT_SALU, 1},
	{137, 137, SQTT_SALU, 1},
	{138, 138, SQTT_MSG, 1},
	{140, 140, SQTT_VALU, 8},
	{141, 141, SQTT_VALU, 16},
	{142, 142, SQTT_VALU, 32},
	{143, 143, SQTT_VALU, 64},
	{150, 150, SQTT_SMEM, 1},
	{151, 151, SQTT_SMEM, 1},
	{152, 152, SQTT_SALU, 3},
	{153, 153, SQTT_VALU, 1},
	{155, 155, SQTT_SALU, 2},
	{156, 156, SQTT_SALU, 5},
	{222, 255, SQTT_VMEM, 1},
};

/* Issued by another SIMD of the same WGP. */
static const struct run gfx11_up_others[] = {{80, 84, SQTT_LDS, 1}, {119, 119, SQTT_LDS, 6}};
static const struct run gfx11_others[] = {{85, 89, SQTT_FLAT, 2}, {90, 102, SQTT_VMEM, 1}};
static const struct run gfx12_others[] = {
	{85, 89, SQTT_FLAT, 2}, {120, 120, SQTT_LDS, 10}, {188, 221, SQTT_VMEM, 1}};

static void fill(struct gfx10_code *codes, const struct run *r, size_t n, unsigned kind)
{
	for (size_t i = 0; i < n; i++)
		for (unsigned c = r[i].first; c <= r[i].last; c++)
			codes[c] = (struct gfx10_code){(uint8_t)kind, r[i].category,
				(uint16_t)(r[i].cycles + c - r[i].first), false, false, 0};
}

#define FILL(codes, runs, kind) fill(codes, runs, sizeof(runs) / sizeof((runs)[0]), kind)

static void scale(struct gfx10_code *codes, unsigned first, unsigned last, unsigned by)
{
	for (unsigned c = first; c <= last; c++)
		codes[c].cycles = (uint16_t)(codes[c].cycles * by);
}

static void only_gfx10(struct gfx10_code *codes, unsigned dp)
{
	FILL(codes, gfx10_runs, CODE_PLAIN);
	scale(codes, 12, 17, dp);
}

static void only_gfx11(struct gfx10_code *codes, unsigned dp, bool is_c16)
{
	FILL(codes, gfx11_runs, CODE_PLAIN);
	FILL(codes, gfx11_others, CODE_OTHER_SIMD);
	if (is_c16)
		return;
	codes[102] = (struct gfx10_code){0};
	codes[10].cycles = codes[15].cycles = (uint16_t)dp;
}

static void only_gfx12(struct gfx10_code *codes, unsigned dp, unsigned derate, bool is_c16)
{
	FILL(codes, gfx12_runs, CODE_PLAIN);
	FILL(codes, gfx12_others, CODE_OTHER_SIMD);
	codes[146] = (struct gfx10_code){CODE_PLAIN, SQTT_VALU, (uint16_t)dp, false, false, 0};
	codes[147] = (struct gfx10_code){
		CODE_PLAIN, SQTT_VALU, (uint16_t)(dp * derate), false, false, 0};
	for (unsigned c = 85; c <= 89 && is_c16; c++)
		codes[c].category = SQTT_LDS;
}

static void fill_codes(struct gfx10_code codes[GFX10_CODES], const struct sqtt_stream *s,
	uint64_t header, bool is_c16)
{
	unsigned field = header >> 28 & (s->gfx_major == 10 ? 15 : 7);
	unsigned dp = (1u << field) >> 1, derate = 1u << (header >> 33 & 7);

	if (!is_c16 && field == 0)
		dp = 1;
	memset(codes, 0, GFX10_CODES * sizeof(codes[0]));
	codes[GFX10_VALU_CODE] = (struct gfx10_code){CODE_PLAIN, SQTT_VALU, 1, false, false, 0};
	FILL(codes, all_runs, CODE_PLAIN);
	if (s->gfx_major >= 11) {
		FILL(codes, gfx11_up_runs, CODE_PLAIN);
		FILL(codes, gfx11_up_others, CODE_OTHER_SIMD);
	}
	if (s->gfx_major == 10)
		only_gfx10(codes, dp);
	else if (s->gfx_major == 11)
		only_gfx11(codes, dp, is_c16);
	else
		only_gfx12(codes, dp, derate, is_c16);
	if (s->is_mi400 && header >> 60 & 1)
		codes[11].cycles = 2;
	codes[5].kind = CODE_SETPC;
	codes[6].kind = CODE_TRAP;
	codes[19].kind = CODE_BARRIER;
	codes[117].kind = CODE_RETURN;
}

void gfx10_codes(struct gfx10_code codes[GFX10_CODES], const struct sqtt_stream *s, uint64_t header,
	bool is_c16)
{
	struct gfx10_code old[GFX10_CODES];

	fill_codes(codes, s, header, is_c16);
	fill_codes(old, s, header, true);
	for (unsigned i = 0; i < GFX10_CODES; i++) {
		codes[i].is_newer = codes[i].kind != old[i].kind ||
				    codes[i].category != old[i].category ||
				    codes[i].cycles != old[i].cycles;
		codes[i].is_plain = codes[i].kind == CODE_PLAIN && (is_c16 || !codes[i].is_newer);
	}
}
