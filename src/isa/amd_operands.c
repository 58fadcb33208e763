/* SPDX-License-Identifier: Apache-2.0 */
/* amd_operands.c: which registers an instruction reads and overwrites, according to its text. */
#include "isa/amd_operands.h"

void amd_regs_push(struct amd_reg_list *l, unsigned first, unsigned n)
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

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool read_number(struct str s, size_t *at, uint32_t *out)
{
	size_t i = *at;
	uint32_t v = 0;

	while (i < s.n && is_digit(s.p[i]) && v < AMD_MAX_VGPR)
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
	if (!read_number(s, &i, low))
		return false;
	*high = *low;
	if (is_list && i < s.n && s.p[i] == ':') {
		i++;
		if (!read_number(s, &i, high))
			return false;
	}
	if (is_list && (i >= s.n || s.p[i++] != ']'))
		return false;
	if (!is_list && i < s.n && is_word(s.p[i]))
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

		if (!is_word(c))
			continue;
		if ((c == 'v' || c == 'a' || c == 's') && read_range(s, &i, &low, &high)) {
			unsigned base = c == 'v' ? AMD_REG_V : c == 'a' ? AMD_REG_A : 0;

			if (c != 's' || high < AMD_REG_SCC)
				amd_regs_push(out, base + low, high - low + 1);
			continue;
		}
		while (i < s.n && is_word(s.p[i]))
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

void amd_operands_text(struct str text, struct amd_operands *out)
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
