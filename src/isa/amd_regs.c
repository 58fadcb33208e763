/* SPDX-License-Identifier: Apache-2.0 */
/* amd_regs.c: which vector registers the text of a kernel names. */
#include "isa/amd_operands.h"

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
