/* SPDX-License-Identifier: Apache-2.0 */
/* amd_live.c: which registers an instruction reads and which it overwrites. */
#include "isa/amd_live.h"

#include "base/vec.h"
#include "isa/amd_operands.h"

static void add_range(uint64_t *set, uint32_t from, uint32_t to, const struct amd_live_sets *s)
{
	for (uint32_t r = from; r <= to && r < s->bits; r++)
		set[r / 64] |= UINT64_C(1) << (r % 64);
}

static void add_list(const struct amd_reg_list *l, uint64_t *set, const struct amd_live_sets *out)
{
	EACH (const struct amd_reg_range, r, l->v, l->n) {
		uint32_t low = r->first, high = r->last;

		if (low >= AMD_REG_A) {
			low = low - AMD_REG_A + out->accum_at;
			add_range(set, low, low + (r->last - r->first), out);
		} else if (low >= AMD_REG_V) {
			high -= AMD_REG_V;
			add_range(set, low - AMD_REG_V,
				high < out->accum_at ? high : out->accum_at - 1, out);
		}
	}
}

void amd_live_row(struct str text, const struct amd_live_sets *out)
{
	struct amd_operands o;

	amd_operands_text(text, &o);
	add_list(&o.reads, out->reads, out);
	add_list(&o.writes, out->writes, out);
}
