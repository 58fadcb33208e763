/* SPDX-License-Identifier: Apache-2.0 */
/* hot_samples.c: samples in the answers of hot and isa, and their totals. */
#include "analysis/code/samples.h"
#include "answer/hot.h"

/* Lists the stall reasons with a count above 0. */
static bool put_counts(struct answer *a, const struct trace *t, const struct reason_count *counts,
	bool is_exposed, struct rows *out, struct incore_error *e)
{
	struct name_count *v = ANSWER_ROWS(a, out, t->n_reasons, name_count, e);
	size_t n = 0;

	for (uint32_t r = 0; v && r < t->n_reasons; r++) {
		uint64_t count = is_exposed ? counts[r].not_issued : counts[r].all;

		if (count)
			v[n++] = (struct name_count){t->reasons[r], count};
	}
	out->n = n;
	return v != NULL;
}

bool hot_tells_exposed(const struct trace *t)
{
	if (!t->n_tracks)
		return trace_is_sampled(t) && t->sampling.has_not_issued;
	return t->meta.gfx_major && !trace_has_pipes(t);
}

bool hot_fill_samples(
	struct causes *c, struct producers *p, struct hot *exposed, struct incore_error *e)
{
	if (c && !samples_fill_causes(c, e))
		return false;
	if (exposed)
		hot_take_exposed(exposed, c);
	return !p || samples_fill_producers(p, e);
}

bool hot_put_samples(struct answer *a, const struct hot *h, const struct hot_group *g,
	struct hot_row *x, struct incore_error *e)
{
	const struct trace *t = h->trace;
	const struct reason_count *counts = hot_reasons(h, g);

	if (!counts)
		return true;
	x->stall_reason = g->sums.stalled_samples ? hot_stall_reason(t, counts) : NULL;
	if (!put_counts(a, t, counts, false, &x->stall_reasons, e))
		return false;
	if (!trace_is_sampled(t))
		return true;
	x->error_pct = samples_error_pct(g->sums.samples);
	if (!t->sampling.has_not_issued)
		return true;
	x->exposed_samples = g->sums.exposed_samples;
	return put_counts(a, t, counts, true, &x->exposed_reasons, e);
}

bool hot_totals_make(struct answer *a, const struct hot *h, struct hot_totals *totals,
	const struct hot_accounting **accounting, struct incore_error *e)
{
	struct hot_accounting *x;

	*totals = (struct hot_totals){.waves = h->n_waves,
		.rows = hot_static_rows(h->trace),
		.instructions = h->n_instructions,
		.all = h->all.totals,
		.samples = h->all.samples ? h->all.samples : NO_U64,
		.stalled_samples = h->all.samples ? h->all.stalled_samples : NO_U64,
		.exposed_samples = NO_U64,
		.period = NO_U64,
		.from = h->is_stated ? "stated" : "computed"};
	if (trace_is_sampled(h->trace)) {
		totals->period = h->trace->sampling.period_cyc;
		if (h->trace->sampling.has_not_issued)
			totals->exposed_samples = h->all.exposed_samples;
	}
	*accounting = NULL;
	if (h->is_stated && !trace_is_sampled(h->trace))
		return true;
	x = ANSWER_NEW(a, hot_accounting, e);
	if (!x)
		return false;
	*x = (struct hot_accounting){bucket_sums(h->all.bucket), h->duration_cyc, h->residue_cyc};
	*accounting = x;
	return true;
}
