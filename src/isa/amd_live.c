/* SPDX-License-Identifier: Apache-2.0 */
/* amd_live.c: what does an instruction read, and what does it overwrite? */
#include "isa/amd_live.h"

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

/* "12" or "[4:7]" after the letter v or a. */
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
	return *high >= *low;
}

static void add_range(uint64_t *set, uint32_t from, uint32_t to, const struct amd_live_sets *s)
{
	for (uint32_t r = from; r <= to && r < s->bits; r++)
		set[r / 64] |= UINT64_C(1) << (r % 64);
}

/* Adds every register that the text names. */
static void add_operands(struct str s, uint64_t *set, const struct amd_live_sets *out)
{
	size_t i = 0;

	while (i < s.n) {
		char c = s.p[i++];
		uint32_t low, high;

		if (!is_word(c))
			continue;
		if (c == 'v' && read_range(s, &i, &low, &high))
			add_range(set, low, high < out->accum_at ? high : out->accum_at - 1, out);
		else if (c == 'a' && read_range(s, &i, &low, &high))
			add_range(set, out->accum_at + low, out->accum_at + high, out);
		while (i < s.n && is_word(s.p[i]))
			i++;
	}
}

/* Nothing comes back into a register: stores, atomics without a result, loads into LDS. */
static bool writes_nothing(struct str op, struct str rest)
{
	if (str_has(op, "_store") || str_starts(op, "ds_write") || str_starts(op, "exp") ||
		str_starts(op, "s_"))
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

/* The old content of the first operand matters, too. */
static bool reads_target(struct str op, struct str rest)
{
	return str_has(op, "fmac") || str_has(op, "_mac_") || str_has(op, "dot2c") ||
	       str_has(op, "dot4c") || str_has(op, "dot8c") || str_has(op, "_d16") ||
	       str_has(op, "writelane") || str_starts(op, "v_swap") || str_has(op, "smfmac") ||
	       str_has(op, "swmmac") || str_has(rest, "UNUSED_PRESERVE");
}

void amd_live_row(struct str text, const struct amd_live_sets *out)
{
	struct str s = str_trim(text), op, rest, first;
	size_t n = 0, comma = 0, depth = 0;

	while (n < s.n && s.p[n] != ' ' && s.p[n] != '\t')
		n++;
	op = str_sub(s, 0, n);
	rest = str_sub(s, n, s.n);
	if (writes_nothing(op, rest)) {
		add_operands(rest, out->reads, out);
		return;
	}
	while (comma < rest.n && (depth > 0 || rest.p[comma] != ',')) {
		depth += rest.p[comma] == '[';
		depth -= rest.p[comma] == ']' && depth > 0;
		comma++;
	}
	first = str_sub(rest, 0, comma);
	add_operands(first, out->writes, out);
	if (reads_target(op, rest))
		add_operands(first, out->reads, out);
	if (str_starts(op, "v_swap"))
		add_operands(rest, out->writes, out);
	add_operands(str_sub(rest, comma, rest.n), out->reads, out);
}
