/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amd.c: which class an AMD instruction belongs to, and where its branches go. Rules are prefix
 * tables, first match wins.
 *
 * Parts: figures of machines; classes and branches.
 */
#include "isa/amd.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* --- figures of machines ---------------------------------------------------------------------- */

/*
 * Assumed machine figures by target, from the public ISA manuals and the register rules of LLVM's
 * AMDGPU back end. They are used only if a capture has no agent info. gfx10 and later: figures of
 * wave64 pools are half of these; `vgprs_per_simd` is for wave32.
 */

/* clang-format off */
static const struct amd_machine amd_machine_table[] = {
	/* arch     product   waves vgprs granule unified LDS         simds/CU simds wave family */
	{"gfx906",  "MI50",      10,  256,  4, false,  64 * 1024, 4,  240, 64, false},
	{"gfx908",  "MI100",     10,  256,  4, false,  64 * 1024, 4,  480, 64, false},
	{"gfx90a",  "MI250X",     8,  512,  8, true,   64 * 1024, 4,  440, 64, false},
	{"gfx940",  "MI300A",     8,  512,  8, true,   64 * 1024, 4,  912, 64, false},
	{"gfx942",  "MI300X",     8,  512,  8, true,   64 * 1024, 4, 1216, 64, false},
	{"gfx950",  "MI350X",     8,  512,  8, true,  160 * 1024, 4, 1024, 64, false},
	/* thread traces with instruction detail exist on gfx90a and later; this is the newest of
	 * them */
	{"gfx9",    "MI350X",     8,  512,  8, true,  160 * 1024, 4, 1024, 64, true},
	{"gfx1010", "gfx1010",   20, 1024,  8, false,  64 * 1024, 2,    0, 32, false},
	{"gfx1030", "gfx1030",   16, 1024, 16, false,  64 * 1024, 2,    0, 32, false},
	{"gfx10",   "gfx10",     16, 1024, 16, false,  64 * 1024, 2,    0, 32, true},
	{"gfx1100", "gfx1100",   16, 1536, 24, false,  64 * 1024, 2,    0, 32, false},
	{"gfx1101", "gfx1101",   16, 1536, 24, false,  64 * 1024, 2,    0, 32, false},
	{"gfx1151", "gfx1151",   16, 1536, 24, false,  64 * 1024, 2,    0, 32, false},
	{"gfx11",   "gfx11",     16, 1024, 16, false,  64 * 1024, 2,    0, 32, true},
	{"gfx1200", "gfx1200",   16, 1536, 24, false,  64 * 1024, 2,    0, 32, false},
	{"gfx1201", "gfx1201",   16, 1536, 24, false,  64 * 1024, 2,    0, 32, false},
	{"gfx12",   "gfx12",     16, 1536, 24, false,  64 * 1024, 2,    0, 32, true},
	{NULL, NULL, 0, 0, 0, false, 0, 0, 0, 0, false},
};
/* clang-format on */

static const struct amd_machine *amd_find(const char *arch)
{
	for (const struct amd_machine *m = amd_machine_table; m->arch; m++)
		if (strcmp(m->arch, arch) == 0)
			return m;
	return NULL;
}

const struct amd_machine *amd_machine_find(const char *arch, unsigned gfx_major)
{
	const struct amd_machine *m = arch ? amd_find(arch) : NULL;
	char family[24];

	if (m || gfx_major == 0)
		return m;
	snprintf(family, sizeof(family), "gfx%u", gfx_major);
	return amd_find(family);
}

/* --- classes and branches --------------------------------------------------------------------- */

struct prefix_class {
	const char *prefix;
	uint8_t inst_class;
};

/* The order matters: longer or more specific prefixes come first. */
static const struct prefix_class scalar_prefixes[] = {
	{"s_endpgm", CLASS_DRAIN},
	{"s_wait", CLASS_WAIT},
	{"s_nop", CLASS_NOP},
	{"s_barrier", CLASS_BARRIER},
	{"s_sleep", CLASS_SLEEP},
	{"s_branch", CLASS_BRANCH},
	{"s_cbranch", CLASS_BRANCH},
	{"s_setpc", CLASS_BRANCH},
	{"s_swappc", CLASS_BRANCH},
	{"s_call", CLASS_BRANCH},
	{"s_sendmsg", CLASS_MSG},
	{"s_ttracedata", CLASS_MSG},
	{"s_trap", CLASS_TRAP},
	{"s_rfe", CLASS_TRAP},
	{"s_load", CLASS_SMEM},
	{"s_store", CLASS_SMEM},
	{"s_buffer_", CLASS_SMEM},
	{"s_scratch_", CLASS_SMEM},
	{"s_atomic", CLASS_SMEM},
	{"s_memtime", CLASS_SMEM},
	{"s_memrealtime", CLASS_SMEM},
	{"s_dcache", CLASS_SMEM},
	{"s_icache", CLASS_SMEM},
	{"s_gl1_inv", CLASS_SMEM},
	{"s_atc_probe", CLASS_SMEM},
	{"s_prefetch", CLASS_SMEM},
	{"s_get_waveid", CLASS_SMEM},
	{"s_", CLASS_SALU},
};

static const struct prefix_class vector_prefixes[] = {
	{"v_mfma", CLASS_MATRIX},
	{"v_smfma", CLASS_MATRIX},
	{"v_wmma", CLASS_MATRIX},
	{"v_swmma", CLASS_MATRIX},
	{"v_exp", CLASS_TRANS},
	{"v_log", CLASS_TRANS},
	{"v_rcp", CLASS_TRANS},
	{"v_rsq", CLASS_TRANS},
	{"v_sqrt", CLASS_TRANS},
	{"v_sin", CLASS_TRANS},
	{"v_cos", CLASS_TRANS},
};

static const struct prefix_class lds_prefixes[] = {
	{"ds_bpermute", CLASS_LDS_XLANE},
	{"ds_permute", CLASS_LDS_XLANE},
	{"ds_swizzle", CLASS_LDS_XLANE},
};

static const struct prefix_class immediate_prefixes[] = {
	{"s_wait", CLASS_WAIT},
	{"s_nop", CLASS_NOP},
	{"s_barrier", CLASS_BARRIER},
	{"s_sleep", CLASS_SLEEP},
};

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

static enum inst_class find_prefix(
	const struct prefix_class *table, size_t n, struct str text, enum inst_class fallback)
{
	for (size_t i = 0; i < n; i++)
		if (str_starts(text, table[i].prefix))
			return (enum inst_class)table[i].inst_class;
	return fallback;
}

static struct str amd_skip_blanks(struct str s)
{
	while (s.n > 0 && (s.p[0] == ' ' || s.p[0] == '\t')) {
		s.p++;
		s.n--;
	}
	return s;
}

static enum inst_class memory_class(struct str text)
{
	struct str op = amd_mnemonic(text);

	if (str_has(op, "_atomic"))
		return CLASS_VMEM_ATOMIC;
	if (str_has(op, "_store"))
		return CLASS_VMEM_STORE;
	if (str_has(op, "_lds") || str_has(text, " lds"))
		return CLASS_VMEM_TO_LDS;
	return CLASS_VMEM_LOAD;
}

static enum inst_class vector_class(struct str text)
{
	return find_prefix(vector_prefixes, COUNT_OF(vector_prefixes), text, CLASS_VALU);
}

static enum inst_class lds_class(struct str text)
{
	return find_prefix(lds_prefixes, COUNT_OF(lds_prefixes), text, CLASS_LDS);
}

static enum inst_class class_by_text(struct str text)
{
	static const char *const memory[] = {
		"buffer_", "tbuffer_", "global_", "flat_", "scratch_", "image_", "tensor_"};

	if (str_starts(text, "s_"))
		return find_prefix(scalar_prefixes, COUNT_OF(scalar_prefixes), text, CLASS_SALU);
	if (str_starts(text, "v_"))
		return vector_class(text);
	if (str_starts(text, "ds_") || str_starts(text, "lds_"))
		return lds_class(text);
	if (str_starts(text, "image_bvh"))
		return CLASS_BVH;
	for (size_t i = 0; i < COUNT_OF(memory); i++)
		if (str_starts(text, memory[i]))
			return memory_class(text);
	if (str_is(amd_mnemonic(text), "exp") || str_starts(text, "export"))
		return CLASS_MSG;
	return CLASS_OTHER;
}

struct str amd_mnemonic(struct str text)
{
	size_t n = 0;

	text = amd_skip_blanks(text);
	while (n < text.n && text.p[n] != ' ' && text.p[n] != '\t')
		n++;
	if (n > 0 && text.p[0] == ';')
		n = 0;
	return (struct str){text.p, n};
}

enum inst_class amd_class_of_category(unsigned category)
{
	switch (category) {
	case AMD_CATEGORY_SMEM:
		return CLASS_SMEM;
	case AMD_CATEGORY_SALU:
		return CLASS_SALU;
	case AMD_CATEGORY_VMEM:
	case AMD_CATEGORY_FLAT:
		return CLASS_VMEM_LOAD;
	case AMD_CATEGORY_LDS:
		return CLASS_LDS;
	case AMD_CATEGORY_VALU:
		return CLASS_VALU;
	case AMD_CATEGORY_JUMP:
	case AMD_CATEGORY_NEXT:
		return CLASS_BRANCH;
	case AMD_CATEGORY_CONTEXT:
		return CLASS_TRAP;
	case AMD_CATEGORY_MESSAGE:
		return CLASS_MSG;
	case AMD_CATEGORY_BVH:
		return CLASS_BVH;
	default: /* an immediate without text may be a wait, a nop or a barrier */
		return CLASS_OTHER;
	}
}

enum inst_class amd_class(unsigned category, struct str text)
{
	enum inst_class by_text;

	text = amd_skip_blanks(text);
	if (category >= AMD_LUT_WIDTH)
		return class_by_text(text);
	switch (category) {
	case AMD_CATEGORY_VMEM:
	case AMD_CATEGORY_FLAT:
		return memory_class(text);
	case AMD_CATEGORY_LDS:
		return lds_class(text);
	case AMD_CATEGORY_VALU:
		return vector_class(text);
	case AMD_CATEGORY_IMMED:
		return find_prefix(
			immediate_prefixes, COUNT_OF(immediate_prefixes), text, CLASS_OTHER);
	case AMD_CATEGORY_SALU:
		/* The text decides here: a sleep of the scalar category is still a wait. */
		by_text = find_prefix(
			immediate_prefixes, COUNT_OF(immediate_prefixes), text, CLASS_SALU);
		return by_text;
	case AMD_CATEGORY_MESSAGE:
		/* gfx10 and gfx11 record the time at a barrier this way */
		return str_starts(text, "s_endpgm")		 ? CLASS_DRAIN
		       : str_is(amd_mnemonic(text), "s_barrier") ? CLASS_BARRIER
								 : CLASS_MSG;
	default:
		return amd_class_of_category(category);
	}
}

bool amd_class_lut(struct arena *a, const struct trace *t, const uint8_t **lut)
{
	uint8_t *out = arena_zalloc(a, (size_t)t->n_code + 1, AMD_LUT_WIDTH), *at = out;

	if (!out)
		return false;
	for (uint32_t i = 0; i <= t->n_code; i++) {
		const struct code_row *row = i < t->n_code ? &t->code[i] : NULL;
		bool has_text = row && !row->is_label;

		for (unsigned c = 0; c < AMD_LUT_WIDTH; c++)
			*at++ = (uint8_t)(has_text ? amd_class(c,
							     (struct str){row->text, row->text_len})
						   : amd_class_of_category(c));
	}
	*lut = out;
	return true;
}

bool amd_branch_target(struct str text, uint64_t address, uint64_t *target)
{
	struct str op = amd_mnemonic(text), rest, word;
	ptrdiff_t comma;
	uint64_t u;
	int64_t words;

	if (!str_starts(op, "s_branch") && !str_starts(op, "s_cbranch") &&
		!str_is(op, "s_call_b64"))
		return false;
	rest = amd_skip_blanks(text);
	rest = amd_skip_blanks(str_sub(rest, op.n, rest.n));
	comma = str_rfind_char(rest, ',');
	if (comma >= 0)
		rest = amd_skip_blanks(str_sub(rest, (size_t)comma + 1, rest.n));
	word = (struct str){rest.p, 0};
	while (word.n < rest.n && rest.p[word.n] != ' ' && rest.p[word.n] != '\t')
		word.n++;
	if (str_to_u64(word, &u) && u <= UINT16_MAX)
		words = u < 0x8000 ? (int64_t)u : (int64_t)u - 0x10000;
	else if (!str_to_i64(word, &words) || words < INT16_MIN || words > INT16_MAX)
		return false;
	*target = address + 4 + (uint64_t)(words * 4);
	return true;
}

bool amd_is_branch(struct str text)
{
	return amd_class(AMD_NO_CATEGORY, text) == CLASS_BRANCH;
}

bool amd_is_untraced(unsigned gfx_major, struct str text)
{
	struct str op = amd_mnemonic(text);

	return (gfx_major >= 11 && str_is(op, "s_delay_alu")) ||
	       (gfx_major >= 12 && str_is(op, "s_wait_alu"));
}

bool amd_ends_block(struct str text)
{
	struct str op = amd_mnemonic(text);

	return str_starts(op, "s_branch") || str_starts(op, "s_setpc") ||
	       str_starts(op, "s_swappc") || str_starts(op, "s_endpgm") || str_starts(op, "s_rfe");
}
