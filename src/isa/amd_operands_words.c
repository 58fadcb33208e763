/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amd_operands_words.c: registers of an instruction given as its words, for the formats common in
 * kernels. Field positions are those of AMD's public instruction set documents. Results of memory
 * loads are left out: nothing reads them before a wait.
 */
#include "isa/amd_operands.h"

enum place_kind { NONE, READ_SOURCE, READ_V, READ_S, WRITE_V, WRITE_S };

struct place { /* of an operand */
	uint8_t kind, word, from;
};

struct layout {
	const char *name; /* how the text begins */
	uint8_t first_major, words;
	struct place at[5];
};

/* The first match counts; gfx12 encodes memory instructions differently. */
static const struct layout layouts[] = {
	{"v_vop2", 0, 1, {{WRITE_V, 0, 17}, {READ_SOURCE, 0, 0}, {READ_V, 0, 9}}},
	{"v_vop1", 0, 1, {{WRITE_V, 0, 17}, {READ_SOURCE, 0, 0}}},
	{"v_vopc", 0, 1, {{READ_SOURCE, 0, 0}, {READ_V, 0, 9}}},
	{"v_vopd", 0, 2,
		{{WRITE_V, 1, 24}, {READ_SOURCE, 0, 0}, {READ_V, 0, 9}, {READ_SOURCE, 1, 0},
			{READ_V, 1, 9}}},
	{"v_", 0, 2,
		{{WRITE_V, 0, 0}, {READ_SOURCE, 1, 0}, {READ_SOURCE, 1, 9}, {READ_SOURCE, 1, 18}}},
	{"s_sop2", 0, 1, {{READ_S, 0, 0}, {READ_S, 0, 8}, {WRITE_S, 0, 16}}},
	{"s_sopc", 0, 1, {{READ_S, 0, 0}, {READ_S, 0, 8}}},
	{"s_sop1", 0, 1, {{READ_S, 0, 0}, {WRITE_S, 0, 16}}},
	{"s_sopk", 0, 1, {{WRITE_S, 0, 16}}},
	{"global_load", 12, 3, {{READ_V, 2, 0}}},
	{"global_", 12, 3, {{READ_V, 2, 0}, {READ_V, 1, 23}}},
	{"global_load", 0, 2, {{READ_V, 1, 0}}},
	{"global_", 0, 2, {{READ_V, 1, 0}, {READ_V, 1, 8}}},
	{"ds_", 0, 2, {{READ_V, 1, 0}}},
};

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

/* A source is a scalar, a constant or a vector register. */
static void push_source(struct amd_reg_list *l, uint32_t code, unsigned width)
{
	if (code >= 256)
		amd_regs_push(l, AMD_REG_V + code - 256, width);
	else if (code < 128)
		amd_regs_push(l, code, 1);
	else if (code == 253)
		amd_regs_push(l, AMD_REG_SCC, 1);
}

/* Operands of matrix instructions are several registers wide. */
static void push_place(const struct coded *c, const struct place *p, struct amd_operands *out)
{
	bool is_matrix = str_starts(c->op, "v_mfma") || str_starts(c->op, "v_wmma");
	unsigned width = !is_matrix ? 1 : p->kind == WRITE_V || p->from == 18 ? 8 : 4;
	uint32_t w = c->w[p->word];

	if (p->kind == READ_SOURCE)
		push_source(&out->reads, field(w, p->from, p->from + 8), width);
	else if (p->kind == READ_S)
		push_source(&out->reads, field(w, p->from, p->from + 7), 1);
	else if (p->kind == WRITE_S)
		push_source(&out->writes, field(w, p->from, p->from + 6), 1);
	else
		amd_regs_push(p->kind == READ_V ? &out->reads : &out->writes,
			AMD_REG_V + field(w, p->from, p->from + 7), width);
}

/* Forms of VOP3 with a second, scalar result: carries, the flags of a division, wide products; as
 * gfx9 and gfx11 number them. */
static bool vop3_has_flag(unsigned major, uint32_t op)
{
	if (major == 9)
		return (op >= 0x119 && op <= 0x11e) || op == 0x1e0 || op == 0x1e1 || op == 0x1e8 ||
		       op == 0x1e9;
	return (op >= 0x120 && op <= 0x122) || (op >= 764 && op <= 770);
}

/* Comparisons write VCC or another pair of scalars; the exec forms write EXEC. */
static void push_comparison(unsigned major, uint32_t op, unsigned to, struct amd_operands *out)
{
	bool is_exec = major == 9 ? (op & 0x10) != 0 : op >= 0x80;

	if (!is_exec || major == 9)
		amd_regs_push(&out->writes, to, 2);
	if (is_exec)
		amd_regs_push(&out->writes, AMD_REG_EXEC, 2);
}

/* Adds what the fields do not say: flags, scalar results, the second result of a pair. */
static void push_special(const struct coded *c, struct amd_operands *out)
{
	uint32_t w = c->w[0], op = field(w, 25, 30), x;

	if (str_starts(c->op, "v_vop2")) { /* additions with carry, v_cndmask_b32, v_fmac_f32 */
		uint32_t carry = c->major == 9 ? 0x19 : c->major == 10 ? 0x28 : 0x20;
		bool is_carry = op >= carry && op <= carry + (c->major == 9 ? 5 : 2);

		if (is_carry)
			amd_regs_push(&out->writes, AMD_REG_VCC, 2);
		if (is_carry || op == (c->major == 9 ? 0u : 1u))
			amd_regs_push(&out->reads, AMD_REG_VCC, 2);
		if (op == (c->major == 9 ? 0x3bu : 0x2bu))
			amd_regs_push(&out->reads, out->writes.v[0].first, 1);
	} else if (str_starts(c->op, "v_vop1") && field(w, 9, 16) == 2) { /* v_readfirstlane_b32 */
		out->writes.n = 0;
		amd_regs_push(&out->writes, field(w, 17, 23), 1);
	} else if (str_starts(c->op, "v_vopc")) {
		push_comparison(c->major, field(w, 17, 24), AMD_REG_VCC, out);
	} else if (str_starts(c->op, "v_vopd")) {
		x = field(c->w[1], 24, 31);
		amd_regs_push(
			&out->writes, AMD_REG_V + (field(c->w[1], 17, 23) << 1 | (~x & 1)), 1);
	} else if (str_is(c->op, "v_vop3") && field(w, 16, 25) < 256) {
		out->writes.n = 0;
		push_comparison(c->major, field(w, 16, 25), field(w, 0, 6), out);
	} else if (str_is(c->op, "v_vop3") && vop3_has_flag(c->major, field(w, 16, 25))) {
		amd_regs_push(&out->writes, field(w, 8, 14), 1);
	} else if (str_starts(c->op, "s_sop2") || str_starts(c->op, "s_sopc")) {
		amd_regs_push(&out->writes, AMD_REG_SCC, 1);
		if (field(w, 23, 29) == 4 || field(w, 23, 29) == 5) /* with carry */
			amd_regs_push(&out->reads, AMD_REG_SCC, 1);
	} else if (str_starts(c->op, "ds_")) { /* a load reads only an address */
		x = field(w, c->major == 9 ? 17 : 18, c->major == 9 ? 24 : 25);
		if (x < 54 || (x > 63 && x < 118) || (x > 127 && x < 254))
			amd_regs_push(&out->reads, AMD_REG_V + field(c->w[1], 8, 15), 1);
	}
}

static void read_words(struct str s, struct coded *c)
{
	uint64_t v;

	while (c->n < 3 && s.n >= 10 && str_to_u64(str_sub(s, 0, 10), &v)) {
		c->w[c->n++] = (uint32_t)v;
		s = str_sub(s, s.n > 11 ? 11 : s.n, s.n);
	}
}

bool amd_operands_words(unsigned gfx_major, struct str text, size_t at, struct amd_operands *out)
{
	struct coded c = {.major = gfx_major, .op = str_trim(str_sub(text, 0, at))};

	read_words(str_sub(text, at + 1, text.n), &c);
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		const struct layout *l = &layouts[i];

		if (!str_starts(c.op, l->name) || gfx_major < l->first_major || c.n < l->words)
			continue;
		*out = (struct amd_operands){0};
		for (unsigned k = 0; k < 5 && l->at[k].kind != NONE; k++)
			push_place(&c, &l->at[k], out);
		push_special(&c, out);
		if (!str_starts(c.op, "s_"))
			amd_regs_push(&out->reads, AMD_REG_EXEC, 2);
		return true;
	}
	return false;
}
