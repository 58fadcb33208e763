/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whatif_path.c: the critical path of a timeline. It goes back from the wave that ends last: a wait
 * leads to the issue of its producer, a barrier to the wave that came last, a wave's begin to the
 * wave whose slot it took over. Each cycle of the unit's span is in one part.
 */
#include "analysis/whatif/whatif_internal.h"
#include "base/map.h"

struct walker {
	const struct retime *r;
	const struct unit *u;
	const struct whatif_plan *p;
	struct path_sums *out;
	struct u64_map index; /* part and row -> position + 1 */
	bool has_failed;
};

static void give(struct walker *w, enum whatif_part part, code_idx code, uint64_t cyc)
{
	uint64_t *at = cyc ? u64_map_at(&w->index, (uint64_t)part << 32 | code) : NULL;

	if (!cyc)
		return;
	if (at && !*at && VEC_PUSH(&w->out->v, (struct whatif_limit){(uint8_t)part, code, 0, 0}))
		*at = w->out->v.n;
	if (at && *at)
		w->out->v.v[*at - 1].after_cyc += cyc;
	else
		w->has_failed = true;
}

/* The end of whatever precedes record i in its wave. */
static uint64_t end_before(const struct walker *w, uint32_t i)
{
	uint32_t wave = w->u->records.v[i].wave;

	return i > w->u->waves.v[wave].first ? w->r->end[i - 1] : w->r->begin[wave];
}

static uint64_t ready_of(const struct walker *w, uint32_t i)
{
	uint64_t end = end_before(w, i);

	return plan_row(w->p, w->u->records.v[i].code)->is_removed
		       ? end
		       : end + w->u->records.v[i].gap_cyc;
}

/* Attributes the time from the issue of a plain record back to the end of the previous one. */
static void give_stall(struct walker *w, uint32_t i)
{
	const struct unit_record *r = &w->u->records.v[i];
	uint64_t ready = ready_of(w, i), issue = w->r->issue[i], base = ready;
	uint64_t rest = r->rest_cyc > 0 ? (uint64_t)r->rest_cyc : 0;

	if (r->kind == RECORD_PLAIN && r->back) {
		uint32_t k = i - r->back;
		uint64_t until =
			w->r->issue[k] + plan_cycles(w->p, w->u->records.v[k].code, r->hold_cyc);

		base = until > base ? until : base;
		base = base < issue ? base : issue;
	}
	rest = rest < issue - base ? rest : issue - base;
	give(w, PART_OTHER, r->code, issue - base - rest);
	give(w, PART_STALL, r->code, rest);
	give(w, PART_OWN, r->code, base - ready);
	give(w, PART_GAP, r->code, ready - end_before(w, i));
}

/* The path has reached the end of record i (or its issue, for a producer): returns the previous
 * record on the path, maybe of another wave; NO_RECORD: the beginning of its wave. */
static uint32_t pass(struct walker *w, uint32_t i, bool *is_issue)
{
	const struct unit_record *r = &w->u->records.v[i];
	uint32_t by = w->r->by[i];

	if (r->kind != RECORD_DRAIN && !*is_issue)
		give(w, PART_ISSUE, r->code, w->r->end[i] - w->r->issue[i]);
	*is_issue = false;
	if (by != NO_RECORD && r->kind == RECORD_BARRIER) {
		uint64_t arrival = ready_of(w, by);

		give(w, PART_BARRIER, r->code, w->r->issue[i] - arrival);
		give(w, PART_GAP, w->u->records.v[by].code, arrival - end_before(w, by));
		return by;
	}
	if (by != NO_RECORD) {
		bool is_drain = r->kind == RECORD_DRAIN;

		*is_issue = true;
		give(w, is_drain ? PART_DRAIN : PART_LATENCY, w->u->records.v[by].code,
			(is_drain ? w->r->end[i] : w->r->issue[i]) - w->r->issue[by]);
		return by + 1; /* continues at `by` */
	}
	if (r->kind == RECORD_DRAIN)
		give(w, PART_DRAIN, r->code, w->r->end[i] - w->r->issue[i]);
	give_stall(w, i);
	return i;
}

static void walk_wave(struct walker *w, uint32_t *wave)
{
	uint32_t i = w->u->waves.v[*wave].first + w->u->waves.v[*wave].n;
	bool is_issue = false;

	give(w, PART_START, NO_CODE,
		w->u->waves.v[*wave].tail_cyc > 0 ? (uint64_t)w->u->waves.v[*wave].tail_cyc : 0);
	while (i > w->u->waves.v[*wave].first) {
		i = pass(w, i - 1, &is_issue);
		if (i < w->u->records.n && !is_issue)
			*wave = w->u->records.v[i].wave;
	}
}

bool retime_path(const struct retime *r, const struct unit *u, const struct whatif_plan *p,
	struct path_sums *out)
{
	struct walker w = {.r = r, .u = u, .p = p, .out = out};
	uint32_t wave = 0;

	for (uint32_t i = 1; i < u->waves.n; i++)
		if (r->wave_end[i] > r->wave_end[wave])
			wave = i;
	while (u->waves.n) {
		uint64_t begin;
		uint32_t before;

		walk_wave(&w, &wave);
		begin = r->begin[wave];
		before = r->after[wave];
		if (before == NO_RECORD) {
			give(&w, PART_START, NO_CODE, begin - r->first_cyc);
			break;
		}
		give(&w, PART_START, NO_CODE,
			begin > r->wave_end[before] ? begin - r->wave_end[before] : 0);
		wave = before;
	}
	u64_map_deinit(&w.index);
	return !w.has_failed;
}
