/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amd_operands.c: which registers an instruction reads and overwrites, according to its text.
 *
 * Parts: operands of words; operands of a text; registers of a kernel; reads and writes of an
 * instruction.
 */
#include "isa/amd_operands.h"
#include "base/vec.h"

/* --- operands of words ------------------------------------------------------------------------ */

/*
 * Registers of an instruction given as its words, for the formats common in kernels. Field
 * positions are those of AMD's public instruction set documents. Results of memory loads are left
 * out: nothing reads them before a wait.
 */

static void amd_regs_push(struct amd_reg_list *l, unsigned first, unsigned n);

enum place_kind { NONE, READ_SOURCE, READ_V, READ_S, WRITE_V, WRITE_S };

struct operand_place { /* of an operand */
	uint8_t kind, word, from;
};

struct operand_layout {
	const char *name; /* how the text begins */
	uint8_t first_major, words;
	struct operand_place at[5];
};

/* The first match counts; gfx12 encodes memory instructions differently. */
static const struct operand_layout layouts[] = {
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

struct coded_operand {
	unsigned major;
	struct str op;
	uint32_t w[3];
	unsigned n;
};

static uint32_t amd_operands_field(uint32_t w, unsigned from, unsigned to)
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
static void push_place(
	const struct coded_operand *c, const struct operand_place *p, struct amd_operands *out)
{
	bool is_matrix = str_starts(c->op, "v_mfma") || str_starts(c->op, "v_wmma");
	unsigned width = !is_matrix ? 1 : p->kind == WRITE_V || p->from == 18 ? 8 : 4;
	uint32_t w = c->w[p->word];

	if (p->kind == READ_SOURCE)
		push_source(&out->reads, amd_operands_field(w, p->from, p->from + 8), width);
	else if (p->kind == READ_S)
		push_source(&out->reads, amd_operands_field(w, p->from, p->from + 7), 1);
	else if (p->kind == WRITE_S)
		push_source(&out->writes, amd_operands_field(w, p->from, p->from + 6), 1);
	else
		amd_regs_push(p->kind == READ_V ? &out->reads : &out->writes,
			AMD_REG_V + amd_operands_field(w, p->from, p->from + 7), width);
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
static void push_special(const struct coded_operand *c, struct amd_operands *out)
{
	uint32_t w = c->w[0], op = amd_operands_field(w, 25, 30), x;

	if (str_starts(c->op, "v_vop2")) { /* additions with carry, v_cndmask_b32, v_fmac_f32 */
		uint32_t carry = c->major == 9 ? 0x19 : c->major == 10 ? 0x28 : 0x20;
		bool is_carry = op >= carry && op <= carry + (c->major == 9 ? 5 : 2);

		if (is_carry)
			amd_regs_push(&out->writes, AMD_REG_VCC, 2);
		if (is_carry || op == (c->major == 9 ? 0u : 1u))
			amd_regs_push(&out->reads, AMD_REG_VCC, 2);
		if (op == (c->major == 9 ? 0x3bu : 0x2bu))
			amd_regs_push(&out->reads, out->writes.v[0].first, 1);
	} else if (str_starts(c->op, "v_vop1") &&
		   amd_operands_field(w, 9, 16) == 2) { /* v_readfirstlane_b32 */
		out->writes.n = 0;
		amd_regs_push(&out->writes, amd_operands_field(w, 17, 23), 1);
	} else if (str_starts(c->op, "v_vopc")) {
		push_comparison(c->major, amd_operands_field(w, 17, 24), AMD_REG_VCC, out);
	} else if (str_starts(c->op, "v_vopd")) {
		x = amd_operands_field(c->w[1], 24, 31);
		amd_regs_push(&out->writes,
			AMD_REG_V + (amd_operands_field(c->w[1], 17, 23) << 1 | (~x & 1)), 1);
	} else if (str_is(c->op, "v_vop3") && amd_operands_field(w, 16, 25) < 256) {
		out->writes.n = 0;
		push_comparison(
			c->major, amd_operands_field(w, 16, 25), amd_operands_field(w, 0, 6), out);
	} else if (str_is(c->op, "v_vop3") &&
		   vop3_has_flag(c->major, amd_operands_field(w, 16, 25))) {
		amd_regs_push(&out->writes, amd_operands_field(w, 8, 14), 1);
	} else if (str_starts(c->op, "s_sop2") || str_starts(c->op, "s_sopc")) {
		amd_regs_push(&out->writes, AMD_REG_SCC, 1);
		if (amd_operands_field(w, 23, 29) == 4 ||
			amd_operands_field(w, 23, 29) == 5) /* with carry */
			amd_regs_push(&out->reads, AMD_REG_SCC, 1);
	} else if (str_starts(c->op, "ds_")) { /* a load reads only an address */
		x = amd_operands_field(w, c->major == 9 ? 17 : 18, c->major == 9 ? 24 : 25);
		if (x < 54 || (x > 63 && x < 118) || (x > 127 && x < 254))
			amd_regs_push(
				&out->reads, AMD_REG_V + amd_operands_field(c->w[1], 8, 15), 1);
	}
}

static void amd_operands_read_words(struct str s, struct coded_operand *c)
{
	uint64_t v;

	while (c->n < 3 && s.n >= 10 && str_to_u64(str_sub(s, 0, 10), &v)) {
		c->w[c->n++] = (uint32_t)v;
		s = str_sub(s, s.n > 11 ? 11 : s.n, s.n);
	}
}

static bool amd_operands_words(
	unsigned gfx_major, struct str text, size_t at, struct amd_operands *out)
{
	struct coded_operand c = {.major = gfx_major, .op = str_trim(str_sub(text, 0, at))};

	amd_operands_read_words(str_sub(text, at + 1, text.n), &c);
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		const struct operand_layout *l = &layouts[i];

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

/* --- operands of a text ----------------------------------------------------------------------- */

static void amd_regs_push(struct amd_reg_list *l, unsigned first, unsigned n)
{
	if (l->n < AMD_MAX_OPERANDS)
		l->v[l->n++] = (struct amd_reg_range){(uint16_t)first, (uint16_t)(first + n - 1)};
}

bool amd_regs_meet(const struct amd_reg_list *a, const struct amd_reg_list *b)
{
	for (unsigned i = 0; i < a->n; i++)
		for (unsigned k = 0; k < b->n; k++)
			if (a->v[i].first <= b->v[k].last && b->v[k].first <= a->v[i].last)
				return true;
	return false;
}

bool amd_regs_has_scalar(const struct amd_reg_list *l)
{
	for (unsigned i = 0; i < l->n; i++)
		if (l->v[i].first <= AMD_REG_SCC)
			return true;
	return false;
}

static bool amd_operands_read_number(struct str s, size_t *at, uint32_t *out)
{
	size_t i = *at;
	uint32_t v = 0;

	while (i < s.n && char_is_digit(s.p[i]) && v < AMD_MAX_VGPR)
		v = v * 10 + (uint32_t)(s.p[i++] - '0');
	if (i == *at || v >= AMD_MAX_VGPR)
		return false;
	*at = i;
	*out = v;
	return true;
}

/* "12" or "[4:7]" after the letter of a register file; in damaged text low may exceed high: an
 * empty range. */
static bool read_range(struct str s, size_t *at, uint32_t *low, uint32_t *high)
{
	size_t i = *at;
	bool is_list = i < s.n && s.p[i] == '[';

	i += is_list;
	if (!amd_operands_read_number(s, &i, low))
		return false;
	*high = *low;
	if (is_list && i < s.n && s.p[i] == ':') {
		i++;
		if (!amd_operands_read_number(s, &i, high))
			return false;
	}
	if (is_list && (i >= s.n || s.p[i++] != ']'))
		return false;
	if (!is_list && i < s.n && char_is_word(s.p[i]))
		return false;
	*at = i;
	return true;
}

static void push_named(struct str word, struct amd_reg_list *out)
{
	static const struct {
		const char *name;
		uint16_t first, n;
	} names[] = {{"vcc", AMD_REG_VCC, 2}, {"exec", AMD_REG_EXEC, 2}, {"m0", AMD_REG_M0, 1},
		{"src_scc", AMD_REG_SCC, 1}};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (str_starts(word, names[i].name))
			amd_regs_push(out, names[i].first, names[i].n);
}

/* Adds every register named in the text. */
static void push_operands(struct str s, struct amd_reg_list *out)
{
	size_t i = 0;

	while (i < s.n) {
		size_t word = i;
		char c = s.p[i++];
		uint32_t low, high;

		if (!char_is_word(c))
			continue;
		if ((c == 'v' || c == 'a' || c == 's') && read_range(s, &i, &low, &high)) {
			unsigned base = c == 'v' ? AMD_REG_V : c == 'a' ? AMD_REG_A : 0;

			if (c != 's' || high < AMD_REG_SCC)
				amd_regs_push(out, base + low, high - low + 1);
			continue;
		}
		while (i < s.n && char_is_word(s.p[i]))
			i++;
		push_named(str_sub(s, word, i), out);
	}
}

/* Does it return nothing to a register? True for stores, atomics without a result, loads into
 * LDS. */
static bool writes_nothing(struct str op, struct str rest)
{
	if (str_has(op, "_store") || str_starts(op, "ds_write") || str_starts(op, "exp") ||
		str_starts(op, "v_cmpx") || str_starts(op, "s_cmp") || str_starts(op, "s_bitcmp") ||
		str_starts(op, "s_cbranch"))
		return true;
	if (str_has(op, "_to_lds") || str_has(op, "_lds_") || str_has(rest, " lds"))
		return true;
	if (str_has(op, "atomic"))
		return !str_has(rest, " glc") && !str_has(rest, " sc0") &&
		       !str_has(rest, "TH_ATOMIC_RETURN");
	return str_starts(op, "ds_") && !str_has(op, "_rtn") && !str_starts(op, "ds_read") &&
	       !str_starts(op, "ds_load") && !str_has(op, "permute") && !str_has(op, "swizzle") &&
	       !str_has(op, "ds_consume") && !str_has(op, "ds_append");
}

/* Does it also read the old content of the first operand? */
static bool reads_target(struct str op, struct str rest)
{
	return str_has(op, "fmac") || str_has(op, "_mac_") || str_has(op, "dot2c") ||
	       str_has(op, "dot4c") || str_has(op, "dot8c") || str_has(op, "_d16") ||
	       str_has(op, "writelane") || str_starts(op, "v_swap") || str_has(op, "smfmac") ||
	       str_has(op, "swmmac") || str_has(rest, "UNUSED_PRESERVE");
}

/* Does it also write the second operand: the carry of an addition, the flag of a division? */
static bool writes_two(struct str op)
{
	return str_starts(op, "v_swap") || str_starts(op, "v_div_scale") ||
	       str_starts(op, "v_mad_u64") || str_starts(op, "v_mad_i64") ||
	       (str_starts(op, "v_") && str_has(op, "_co_"));
}

static bool starts_with_any(struct str op, const char *const *list)
{
	for (; *list; list++)
		if (str_starts(op, *list))
			return true;
	return false;
}

static void push_implicit(struct str op, struct str rest, struct amd_operands *out)
{
	static const char *const sets_scc[] = {"s_add", "s_sub", "s_and", "s_or", "s_xor", "s_not",
		"s_lsh", "s_ash", "s_bfe", "s_min", "s_max", "s_abs", "s_nand", "s_nor", "s_xnor",
		"s_bcnt", "s_wqm", "s_cmp", "s_bitcmp", NULL};
	static const char *const uses_scc[] = {
		"s_cselect", "s_addc", "s_subb", "s_cmov", "s_cbranch_scc", NULL};

	if (!str_starts(op, "s_"))
		amd_regs_push(&out->reads, AMD_REG_EXEC, 2);
	if (starts_with_any(op, sets_scc))
		amd_regs_push(&out->writes, AMD_REG_SCC, 1);
	if (starts_with_any(op, uses_scc))
		amd_regs_push(&out->reads, AMD_REG_SCC, 1);
	if (str_starts(op, "s_cbranch_vcc"))
		amd_regs_push(&out->reads, AMD_REG_VCC, 2);
	if (str_starts(op, "s_cbranch_exec"))
		amd_regs_push(&out->reads, AMD_REG_EXEC, 2);
	if (str_has(op, "saveexec") || str_starts(op, "v_cmpx"))
		amd_regs_push(&out->writes, AMD_REG_EXEC, 2);
	if (str_has(rest, " lds") || str_has(op, "_lds_"))
		amd_regs_push(&out->reads, AMD_REG_M0, 1);
}

/* Length of the first operand: up to the comma that ends it. */
static size_t operand_end(struct str s, size_t from)
{
	size_t depth = 0, i = from;

	while (i < s.n && (depth > 0 || s.p[i] != ',')) {
		depth += s.p[i] == '[';
		depth -= s.p[i] == ']' && depth > 0;
		i++;
	}
	return i;
}

/* Adds one instruction, or one half of a pair. */
static void add_instruction(struct str text, struct amd_operands *out)
{
	struct str s = str_trim(text), op, rest;
	size_t n = 0, end;

	while (n < s.n && s.p[n] != ' ' && s.p[n] != '\t')
		n++;
	op = str_sub(s, 0, n);
	rest = str_sub(s, n, s.n);
	if (writes_nothing(op, rest)) {
		push_operands(rest, &out->reads);
	} else {
		end = operand_end(rest, 0);
		if (writes_two(op) && end < rest.n)
			end = operand_end(rest, end + 1);
		push_operands(str_sub(rest, 0, end), &out->writes);
		if (reads_target(op, rest))
			push_operands(str_sub(rest, 0, end), &out->reads);
		push_operands(str_sub(rest, end, rest.n), &out->reads);
	}
	push_implicit(op, rest, out);
}

/* The two readers behind it: from disassembly, and from the words at text.p + at ("<0x...
 * 0x...>"). The latter returns false, with *out unchanged, for an encoding it does not know. */
static void amd_operands_text(struct str text, struct amd_operands *out)
{
	ptrdiff_t half = str_find(text, "::");

	*out = (struct amd_operands){0};
	add_instruction(half < 0 ? text : str_sub(text, 0, (size_t)half), out);
	if (half >= 0)
		add_instruction(str_sub(text, (size_t)half + 2, text.n), out);
}

void amd_operands_row(unsigned gfx_major, struct str text, struct amd_operands *out)
{
	ptrdiff_t words = str_find(text, "<0x");

	if (words < 0 || !amd_operands_words(gfx_major, text, (size_t)words, out))
		amd_operands_text(text, out);
}

/* --- registers of a kernel -------------------------------------------------------------------- */

/* Which vector registers the text of a kernel names. */

static void raise_to(struct amd_regs *r, const struct amd_reg_list *l)
{
	for (unsigned i = 0; i < l->n; i++) {
		uint32_t high = l->v[i].last > l->v[i].first ? l->v[i].last : l->v[i].first;
		uint32_t *most = high >= AMD_REG_A ? &r->accum : &r->arch;
		uint32_t need = high + 1 - (high >= AMD_REG_A ? AMD_REG_A : AMD_REG_V);

		if (high >= AMD_REG_V && need > *most)
			*most = need;
	}
}

void amd_regs_add(struct amd_regs *r, struct str text)
{
	struct amd_operands o;

	amd_operands_text(text, &o);
	raise_to(r, &o.reads);
	raise_to(r, &o.writes);
}

struct amd_regs amd_regs_of_trace(const struct trace *t)
{
	struct amd_regs r = {0, 0};

	for (uint32_t i = 0; i < t->n_code; i++)
		if (!t->code[i].is_label)
			amd_regs_add(&r, (struct str){t->code[i].text, t->code[i].text_len});
	return r;
}

/* --- reads and writes of an instruction ------------------------------------------------------- */

/* Which registers an instruction reads and which it overwrites. */

static void amd_operands_add_range(
	uint64_t *set, uint32_t from, uint32_t to, const struct amd_live_sets *s)
{
	for (uint32_t r = from; r <= to && r < s->bits; r++)
		set[r / 64] |= UINT64_C(1) << (r % 64);
}

static void amd_operands_add_list(
	const struct amd_reg_list *l, uint64_t *set, const struct amd_live_sets *out)
{
	EACH (const struct amd_reg_range, r, l->v, l->n) {
		uint32_t low = r->first, high = r->last;

		if (low >= AMD_REG_A) {
			low = low - AMD_REG_A + out->accum_at;
			amd_operands_add_range(set, low, low + (r->last - r->first), out);
		} else if (low >= AMD_REG_V) {
			high -= AMD_REG_V;
			amd_operands_add_range(set, low - AMD_REG_V,
				high < out->accum_at ? high : out->accum_at - 1, out);
		}
	}
}

void amd_live_row(struct str text, const struct amd_live_sets *out)
{
	struct amd_operands o;

	amd_operands_text(text, &o);
	amd_operands_add_list(&o.reads, out->reads, out);
	amd_operands_add_list(&o.writes, out->writes, out);
}
