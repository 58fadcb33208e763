/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amd_matrix.c: how many cycles does the matrix pipe need for one instruction? Cycles = multiply-
 * accumulates / rate, where the rate per SIMD and cycle follows from the published peak of the
 * target (peak = 2 * rate * SIMDs * clock); at least MIN_CYCLES. gfx9 keeps the older, shorter
 * shapes at the rate they had before (see is_legacy_shape).
 */
#include "isa/amd_matrix.h"

#include <string.h>

#define MIN_CYCLES 8u	  /* two passes of four cycles */
#define MAX_CYCLES 65536u /* no pipe is that slow: such a shape exists on no machine */

enum matrix_family { FAMILY_F64, FAMILY_F32, FAMILY_XF32, FAMILY_16, FAMILY_8, FAMILY_4, FAMILY_N };

struct matrix_rate {
	const char *arch;	 /* a prefix: "gfx11" is all of them */
	uint16_t macs[FAMILY_N]; /* per SIMD and cycle; 0: unsupported or unknown */
};

/* clang-format off */
static const struct matrix_rate rates[] = {
	/*          f64  f32  xf32 f16,bf16 8 bits 4,6 bits */
	{"gfx908", {  0,  32,   0,  128,   128,    0}},
	{"gfx90a", { 32,  32,   0,  128,   128,    0}},
	{"gfx940", { 32,  32, 128,  256,   512,    0}},
	{"gfx942", { 32,  32, 128,  256,   512,    0}},
	{"gfx950", { 16,  32,   0,  512,  1024, 2048}},
	{"gfx11",  {  0,   0,   0,  128,   128,  256}},
	{"gfx12",  {  0,   0,   0,  256,   512, 1024}},
	{NULL, {0}},
};
/* clang-format on */

static bool read_u32(const char **p, const char *end, uint32_t *out)
{
	uint32_t v = 0;
	const char *s = *p;

	while (s < end && *s >= '0' && *s <= '9' && v < 4096)
		v = v * 10 + (uint32_t)(*s++ - '0');
	if (s == *p || v == 0 || v >= 4096)
		return false;
	*p = s;
	*out = v;
	return true;
}

static bool amd_matrix_read_shape(struct str word, struct amd_matrix_shape *out, const char **rest)
{
	const char *end = word.p + word.n;

	/* the shape is the part that starts with a digit: "_32x32x16_bf16" */
	for (const char *p = word.p; p + 1 < end; p++) {
		const char *s = p + 1;

		if (*p != '_' || *s < '0' || *s > '9')
			continue;
		if (!read_u32(&s, end, &out->m) || s >= end || *s++ != 'x')
			continue;
		if (!read_u32(&s, end, &out->n) || s >= end || *s++ != 'x')
			continue;
		if (!read_u32(&s, end, &out->k))
			continue;
		*rest = s;
		return true;
	}
	return false;
}

/* "_bf16_1k", "f16", "_4b_f32", "_f8f6f4", "_fp8_bf8": blocks, then the type of the first input. */
static void amd_matrix_read_type(const char *p, const char *end, struct amd_matrix_shape *out)
{
	const char *s;
	size_t n = 0;

	out->blocks = 0;
	if (p < end && *p == '_')
		p++;
	s = p;
	if (read_u32(&s, end, &out->blocks) && s < end && *s == 'b' &&
		(s + 1 == end || s[1] == '_'))
		p = s + 1 < end ? s + 2 : s + 1;
	else
		out->blocks = 0;
	while (p + n < end && p[n] != '_' && n < sizeof(out->type) - 1)
		n++;
	memcpy(out->type, p, n);
	out->type[n] = '\0';
}

static unsigned read_modifier(struct str text, const char *name)
{
	ptrdiff_t at = str_find(text, name);
	size_t i;

	if (at < 0)
		return 0;
	i = (size_t)at + strlen(name);
	return i < text.n && text.p[i] >= '0' && text.p[i] <= '7' ? (unsigned)(text.p[i] - '0') : 0;
}

bool amd_matrix_shape(struct str text, struct amd_matrix_shape *out)
{
	struct str word = text;
	const char *rest;

	*out = (struct amd_matrix_shape){0};
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == ' ' || text.p[i] == '\t') {
			word.n = i;
			break;
		}
	}
	if (!str_starts(word, "v_mfma") && !str_starts(word, "v_smfma") &&
		!str_starts(word, "v_wmma") && !str_starts(word, "v_swmma"))
		return false;
	if (!amd_matrix_read_shape(word, out, &rest))
		return false;
	out->is_sparse = str_starts(word, "v_smfma") || str_starts(word, "v_swmma");
	amd_matrix_read_type(rest, word.p + word.n, out);
	if (out->blocks == 0) {
		/* the older spelling omits the blocks: small shapes have several of them */
		bool is_small_k = out->k <= 2 && strcmp(out->type, "f64") != 0;

		out->blocks = out->m == 4 ? 16 : 1;
		if (strcmp(out->type, "f64") == 0 && out->m == 4)
			out->blocks = 4;
		else if (is_small_k && out->k == 1)
			out->blocks = out->m == 16 ? 4 : out->m == 32 ? 2 : out->blocks;
	}
	out->a_format = read_modifier(text, "cbsz:");
	out->b_format = read_modifier(text, "blgp:");
	return true;
}

uint64_t amd_matrix_macs(const struct amd_matrix_shape *s)
{
	uint64_t macs = (uint64_t)s->m * s->n * s->k * s->blocks;

	return s->is_sparse ? macs / 2 : macs;
}

static enum matrix_family amd_matrix_family_of(const struct amd_matrix_shape *s)
{
	static const struct {
		const char *type;
		enum matrix_family family;
	} types[] = {
		{"f64", FAMILY_F64},
		{"f32", FAMILY_F32},
		{"xf32", FAMILY_XF32},
		{"f16", FAMILY_16},
		{"bf16", FAMILY_16},
		{"bf16", FAMILY_16},
		{"i8", FAMILY_8},
		{"iu8", FAMILY_8},
		{"fp8", FAMILY_8},
		{"bf8", FAMILY_8},
		{"iu4", FAMILY_4},
	};

	if (strcmp(s->type, "f8f6f4") == 0) /* an 8-bit input slows down the other one */
		return s->a_format >= 2 && s->b_format >= 2 ? FAMILY_4 : FAMILY_8;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(s->type, types[i].type) == 0)
			return types[i].family;
	return FAMILY_N;
}

/* On gfx950 only the doubled shapes run at the doubled rate. */
static bool is_legacy_shape(
	const char *arch, const struct amd_matrix_shape *s, enum matrix_family f)
{
	uint64_t k2 = (uint64_t)s->m * s->n * s->k;

	if (strcmp(arch, "gfx950") != 0 || s->is_sparse)
		return false;
	return (f == FAMILY_16 && k2 < 8192) || (f == FAMILY_16 && s->m == 32 && s->k < 16) ||
	       (f == FAMILY_8 && k2 < 16384) || (f == FAMILY_8 && s->m == 32 && s->k < 32);
}

uint32_t amd_matrix_cycles(const char *arch, const struct amd_matrix_shape *s)
{
	enum matrix_family f = amd_matrix_family_of(s);
	uint64_t rate = 0, cycles;

	if (!arch || f == FAMILY_N)
		return 0;
	for (const struct matrix_rate *r = rates; r->arch && rate == 0; r++)
		if (strncmp(arch, r->arch, strlen(r->arch)) == 0)
			rate = r->macs[f];
	if (rate == 0)
		return 0;
	if (is_legacy_shape(arch, s, f))
		rate /= 2;
	cycles = amd_matrix_macs(s) / rate;
	if (cycles > MAX_CYCLES)
		return 0;
	return cycles < MIN_CYCLES ? MIN_CYCLES : (uint32_t)cycles;
}
