/* SPDX-License-Identifier: Apache-2.0 */
/* code_sums.c: for each code row: how often it ran, what it cost, where it ran first. */
#include "base/mem.h"
#include "serve/view/view_index.h"

/* Adds the cycles that account.h attributes to each record: the gap before it, its stall, its
 * issue. */
static void add_lane(const struct columns *c, uint32_t k, struct code_sum *sums, uint32_t n_code)
{
	const struct lane *l = &c->lanes[k];
	uint32_t cover = lane_cover(l, 0);

	for (uint32_t i = 0; i < l->n; i++) {
		struct pieces p = lane_pieces_after(l, i, cover);
		struct code_sum *s = &sums[l->code[i] < n_code ? l->code[i] : n_code];

		if (s->hits++ == 0) {
			s->track = l->track;
			s->slice = l->first + i;
		}
		s->sum_cyc += l->dur[i];
		cover = (uint32_t)p.end;
		p = pieces_cut(p, 0, lane_end(l));
		s->cyc += p.end - p.gap;
	}
	if (l->n && l->end_cyc > l->base_cyc + cover &&
		(k + 1 == c->n_lanes || c->lanes[k + 1].track != l->track))
		sums[l->code[l->n - 1] < n_code ? l->code[l->n - 1] : n_code].cyc +=
			l->end_cyc - l->base_cyc - cover;
}

bool code_sums_make(struct view *v)
{
	uint32_t n_code = v->trace->n_code;
	struct code_sum *sums = mem_zalloc((size_t)n_code + 1, sizeof(*sums));

	if (!sums)
		return false;
	for (uint32_t k = 0; k < v->columns->n_lanes; k++)
		add_lane(v->columns, k, sums, n_code);
	v->index->code = sums;
	return true;
}
