/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amd_operands_words.c: registers of an instruction that is given as its words, for the formats
 * that kernels are made of. Field positions are those of AMD's public instruction set documents.
 */
#include "isa/amd_operands_words.h"

struct coded {
	unsigned major;
	struct str op;
	uint32_t w[3];
	unsigned n;
};

static uint32_t field(uint32_t w, unsigned from, unsigned to)
{
	return w >> from & ((UINT32_C(2) << (to - from)) - 1);
}

static void push_one(struct amd_reg_list *l, unsigned reg)
{
	amd_regs_push(l, reg, reg);
}

/* A source of nine bits: a scalar, a constant or a vector register. */
static void push_source(struct amd_reg_list *l, uint32_t code, unsigned width)
{
	if (code >= 256)
		amd_regs_push(l, AMD_REG_V + code - 256, AMD_REG_V + code - 256 + width - 1);
	else if (code < 128)
		push_one(l, code);
	else if (code == 253)
		push_one(l, AMD_REG_SCC);
}

static void push_vector(struct amd_reg_list *l, uint32_t reg, unsigned width)
{
	amd_regs_push(l, AMD_REG_V + reg, AMD_REG_V + reg + width - 1);
}

static void push_flags(struct amd_reg_list *l, unsigned first)
{
	amd_regs_push(l, first, first + 1);
}

/* Additions with carry, by the opcode of VOP2: they read or write VCC. */
static bool vop2_is_carry(unsigned major, uint32_t op)
{
	if (major == 9)
		return op >= 0x19 && op <= 0x1e;
	return major == 10 ? op >= 0x28 && op <= 0x2a : op >= 0x20 && op <= 0x22;
}

static void vop2_operands(const struct coded *c, struct amd_operands *out)
{
	uint32_t w = c->w[0], op = field(w, 25, 30);

	push_vector(&out->writes, field(w, 17, 24), 1);
	push_source(&out->reads, field(w, 0, 8), 1);
	push_vector(&out->reads, field(w, 9, 16), 1);
	if (op == (c->major == 9 ? 0u : 1u) || vop2_is_carry(c->major, op))
		push_flags(&out->reads, AMD_REG_VCC);
	if (vop2_is_carry(c->major, op))
		push_flags(&out->writes, AMD_REG_VCC);
	if (op == (c->major == 9 ? 0x3bu : 0x2bu)) /* v_fmac_f32 */
		push_vector(&out->reads, field(w, 17, 24), 1);
}

static void vop1_operands(const struct coded *c, struct amd_operands *out)
{
	uint32_t w = c->w[0];

	if (field(w, 9, 16) == 2) /* v_readfirstlane_b32 */
		push_one(&out->writes, field(w, 17, 23));
	else
		push_vector(&out->writes, field(w, 17, 24), 1);
	push_source(&out->reads, field(w, 0, 8), 1);
}

/* Comparisons write VCC; those of the exec forms EXEC. */
static void vopc_operands(const struct coded *c, struct amd_operands *out)
{
	uint32_t w = c->w[0], op = field(w, 17, 24);
	bool is_exec = c->major == 9 ? (op & 0x10) != 0 : op >= 0x80;

	if (!is_exec || c->major == 9)
		push_flags(&out->writes, AMD_REG_VCC);
	if (is_exec)
		push_flags(&out->writes, AMD_REG_EXEC);
	push_source(&out->reads, field(w, 0, 8), 1);
	push_vector(&out->reads, field(w, 9, 16), 1);
}

/* Forms of VOP3 with a second, scalar result: carries, the flags of a division, wide products. */
static bool vop3_has_flag(unsigned major, uint32_t op)
{
	if (major == 9)
		return (op >= 0x119 && op <= 0x11e) || op == 0x1e0 || op == 0x1e1 || op == 0x1e8 ||
		       op == 0x1e9;
	if (major == 10)
		return (op >= 0x128 && op <= 0x12a) || op == 0x16d || op == 0x16e || op == 0x176 ||
		       op == 0x177 || op == 0x30f || op == 0x310 || op == 0x319;
	return (op >= 0x120 && op <= 0x122) || (op >= 764 && op <= 770);
}

static void vop3_operands(const struct coded *c, struct amd_operands *out)
{
	uint32_t op = field(c->w[0], 16, 25);
	bool is_matrix = str_starts(c->op, "v_mfma") || str_starts(c->op, "v_wmma");
	bool is_packed = is_matrix || str_starts(c->op, "v_vop3p");
	unsigned in = is_matrix ? 4 : 1, acc = is_matrix ? 8 : 1;

	if (!is_packed && op < 256 && c->major >= 10 && op >= 0x80)
		push_flags(&out->writes, AMD_REG_EXEC);
	else if (!is_packed && op < 256)
		push_flags(&out->writes, field(c->w[0], 0, 6));
	else
		push_vector(&out->writes, field(c->w[0], 0, 7), acc);
	if (!is_packed && vop3_has_flag(c->major, op))
		push_one(&out->writes, field(c->w[0], 8, 14));
	push_source(&out->reads, field(c->w[1], 0, 8), in);
	push_source(&out->reads, field(c->w[1], 9, 17), in);
	push_source(&out->reads, field(c->w[1], 18, 26), acc);
}

static void vopd_operands(const struct coded *c, struct amd_operands *out)
{
	uint32_t x = field(c->w[1], 24, 31), y = field(c->w[1], 17, 23) << 1 | (~x & 1);

	for (unsigned i = 0; i < 2; i++) {
		push_source(&out->reads, field(c->w[i], 0, 8), 1);
		push_vector(&out->reads, field(c->w[i], 9, 16), 1);
	}
	push_vector(&out->writes, x, 1);
	push_vector(&out->writes, y, 1);
}

static void scalar_operands(const struct coded *c, struct amd_operands *out)
{
	uint32_t w = c->w[0], top = w >> 23;

	if (top == 0x17e) { /* SOPC */
		push_source(&out->reads, field(w, 0, 7), 1);
		push_source(&out->reads, field(w, 8, 15), 1);
		push_one(&out->writes, AMD_REG_SCC);
	} else if (top == 0x17d) { /* SOP1 */
		push_source(&out->reads, field(w, 0, 7), 1);
		push_source(&out->writes, field(w, 16, 22), 1);
	} else if (w >> 28 == 0xb) { /* SOPK */
		push_source(&out->writes, field(w, 16, 22), 1);
	} else { /* SOP2; carries are the fifth and sixth */
		push_source(&out->reads, field(w, 0, 7), 1);
		push_source(&out->reads, field(w, 8, 15), 1);
		push_source(&out->writes, field(w, 16, 22), 1);
		push_one(&out->writes, AMD_REG_SCC);
		if (field(w, 23, 29) == 4 || field(w, 23, 29) == 5)
			push_one(&out->reads, AMD_REG_SCC);
	}
}

static void smem_operands(const struct coded *c, struct amd_operands *out)
{
	uint32_t op = c->major >= 12 ? field(c->w[0], 13, 18) : field(c->w[0], 18, 25);
	uint32_t to = field(c->w[0], 6, 12), base = field(c->w[0], 0, 5) * 2;
	unsigned width = 1u << ((op & 7) < 5 ? op & 7 : 0);

	amd_regs_push(&out->reads, base, base + 1);
	if (to < AMD_REG_VCC)
		amd_regs_push(&out->writes, to, to + width - 1);
}

static void memory_operands(const struct coded *c, struct amd_operands *out)
{
	bool is_lds = str_starts(c->op, "ds_"), is_new = c->major >= 12 && !is_lds;
	uint32_t op = field(c->w[0], c->major == 9 ? 17 : 18, c->major == 9 ? 24 : 25);
	bool is_load = is_lds ? (op >= 54 && op <= 63) || (op >= 118 && op <= 127) || op >= 254
			      : str_has(c->op, "_load");
	bool has_result = is_load || (is_lds && op >= 32 && op < 54); /* or what was there before */
	uint32_t addr = field(is_new ? c->w[2] : c->w[1], 0, 7);
	uint32_t data = is_new ? field(c->w[1], 23, 30) : field(c->w[1], 8, 15);
	uint32_t result = is_new ? field(c->w[1], 0, 7) : field(c->w[1], 24, 31);

	if (str_starts(c->op, "buffer")) /* one field for what is loaded and what is stored */
		result = data = is_new ? field(c->w[1], 0, 7) : data;
	push_vector(&out->reads, addr, 1);
	if (!is_load)
		push_vector(&out->reads, data, 1);
	if (has_result)
		push_vector(&out->writes, result, 1);
}

static bool read_words(struct str text, size_t at, struct coded *c)
{
	struct str s = str_sub(text, at + 1, text.n);
	uint64_t v;

	while (c->n < 3 && s.n >= 10 && str_starts(s, "0x")) {
		if (!str_to_u64(str_sub(s, 0, 10), &v))
			return false;
		c->w[c->n++] = (uint32_t)v;
		s = str_sub(s, 11 < s.n ? 11 : s.n, s.n);
	}
	return c->n > 0;
}

static bool place_operands(const struct coded *c, struct amd_operands *out)
{
	static const struct {
		const char *name;
		void (*place)(const struct coded *, struct amd_operands *);
		unsigned words;
	} kinds[] = {
		{"v_vop2", vop2_operands, 1},
		{"v_vop1", vop1_operands, 1},
		{"v_vopc", vopc_operands, 1},
		{"v_vopd", vopd_operands, 2},
		{"v_vop3", vop3_operands, 2},
		{"v_mfma", vop3_operands, 2},
		{"v_wmma", vop3_operands, 2},
		{"s_load", smem_operands, 1},
		{"s_buffer_load", smem_operands, 1},
		{"s_s", scalar_operands, 1},
		{"ds_", memory_operands, 2},
		{"global_", memory_operands, 2},
		{"flat_", memory_operands, 2},
		{"scratch_", memory_operands, 2},
		{"buffer_", memory_operands, 2},
	};

	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (str_starts(c->op, kinds[i].name) && c->n >= kinds[i].words) {
			kinds[i].place(c, out);
			return true;
		}
	return false;
}

bool amd_operands_words(unsigned gfx_major, struct str text, size_t at, struct amd_operands *out)
{
	struct coded c = {.major = gfx_major, .op = str_trim(str_sub(text, 0, at))};

	if (!read_words(text, at, &c))
		return false;
	*out = (struct amd_operands){0};
	if (!place_operands(&c, out))
		return false;
	if (!str_starts(c.op, "s_"))
		push_flags(&out->reads, AMD_REG_EXEC);
	return true;
}
