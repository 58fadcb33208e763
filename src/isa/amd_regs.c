/* SPDX-License-Identifier: Apache-2.0 */
/* amd_regs.c: which vector registers does the text of a kernel name? */
#include "isa/amd_regs.h"

static bool is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '_' || c == '.' || c == '$' || c == '@';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Reads digits at *p; false when there are none or the number is no register. */
static bool read_index(const char **p, const char *end, uint32_t *out)
{
	uint32_t v = 0;
	const char *s = *p;

	while (s < end && is_digit(*s) && v < AMD_MAX_VGPR)
		v = v * 10 + (uint32_t)(*s++ - '0');
	if (s == *p || v >= AMD_MAX_VGPR || (s < end && is_digit(*s)))
		return false;
	*p = s;
	*out = v;
	return true;
}

/* The highest index of the operand after its letter: "12", "12.l", "[4:7]", "[4]". */
static bool read_operand(const char **p, const char *end, uint32_t *high)
{
	const char *s = *p;
	uint32_t upper;

	if (s < end && *s == '[') {
		s++;
		if (!read_index(&s, end, high))
			return false;
		if (s < end && *s == ':') {
			s++;
			if (!read_index(&s, end, &upper))
				return false;
			*high = upper > *high ? upper : *high;
		}
		if (s >= end || *s != ']')
			return false;
		*p = s + 1;
		return true;
	}
	if (!read_index(&s, end, high) || (s < end && *s != '.' && is_word(*s)))
		return false;
	*p = s;
	return true;
}

void amd_regs_add(struct amd_regs *r, struct str text)
{
	const char *p = text.p, *end = text.p + text.n;

	while (p < end && *p != ' ' && *p != '\t') /* the mnemonic has no operands */
		p++;
	while (p < end) {
		char c = *p;
		uint32_t high;

		if (!is_word(c)) {
			p++;
			continue;
		}
		p++;
		if ((c == 'v' || c == 'a') && read_operand(&p, end, &high)) {
			uint32_t *most = c == 'v' ? &r->arch : &r->accum;

			*most = high + 1 > *most ? high + 1 : *most;
		}
		while (p < end && is_word(*p))
			p++;
	}
}

struct amd_regs amd_regs_of_trace(const struct trace *t)
{
	struct amd_regs r = {0, 0};

	for (uint32_t i = 0; i < t->n_code; i++)
		if (!t->code[i].is_label)
			amd_regs_add(&r, (struct str){t->code[i].text, t->code[i].text_len});
	return r;
}
