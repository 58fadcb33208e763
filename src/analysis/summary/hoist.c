/* SPDX-License-Identifier: Apache-2.0 */
/* hoist.c: how much sooner could a load be issued? */
#include "analysis/summary/hoist.h"

#include "isa/amd_operands.h"

#define WORTH .25 /* of the wait: with less room, moving the load up is no advice */

static void operands_of(const struct trace *t, code_idx row, struct amd_operands *out)
{
	amd_operands_row(
		t->meta.gfx_major, (struct str){t->code[row].text, t->code[row].text_len}, out);
}

/* Without gaps: a fetch, or the launch, stays where it is. */
static double mean_cycles(const struct summary *s, code_idx row)
{
	const struct hot_sums *x = &s->hot->rows[row];
	uint64_t cyc = hot_cycles(x) - x->bucket[BUCKET_IDLE];

	return x->totals.hit ? (double)cyc / (double)x->totals.hit : 0;
}

/* A barrier orders memory, and a branch may have come from elsewhere. */
static bool is_fixed(enum inst_class c)
{
	return c == CLASS_BARRIER || c == CLASS_BRANCH || c == CLASS_DRAIN;
}

struct hoist hoist_of(const struct summary *s, code_idx load)
{
	const struct trace *t = s->trace;
	struct hoist h = {.is_from_start = true};
	struct amd_operands mine, other;
	bool is_movable = true;

	if (t->meta.vendor != VENDOR_AMD || load >= t->n_code)
		return (struct hoist){0};
	operands_of(t, load, &mine);
	for (code_idx i = load; i-- > 0;) {
		if (t->code[i].is_label)
			continue;
		operands_of(t, i, &other);
		if (amd_regs_meet(&other.writes, &mine.reads)) {
			h.is_from_start = false;
			break;
		}
		is_movable = is_movable && !is_fixed((enum inst_class)t->code[i].inst_class);
		h.before_cyc += mean_cycles(s, i);
		if (is_movable)
			h.cyc = h.before_cyc;
	}
	return h;
}

code_idx hoist_load_of(const struct summary *s, code_idx wait)
{
	const struct producer_edge *edge = summary_edge_of(s, wait);

	return edge ? edge->producer : NO_CODE;
}

bool hoist_is_worth(const struct summary *s, code_idx load, double wait_cyc)
{
	return hoist_of(s, load).cyc >= WORTH * wait_cyc;
}

bool hoist_is_launch(const struct summary *s, code_idx load, double wait_cyc)
{
	struct hoist h = {0};

	if (load < s->trace->n_code && s->trace->code[load].inst_class == CLASS_SMEM)
		h = hoist_of(s, load);
	return h.is_from_start && h.before_cyc < WORTH * wait_cyc;
}
