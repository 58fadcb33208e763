/* SPDX-License-Identifier: Apache-2.0 */
/* verdict_ledger.c: a ledger as rows and as the sentences of the first screen. */
#include "answer/verdict/verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/place.h"
#include "base/search.h"

#define SURE_WIDTH .3 /* intervals up to here are high, up to FAIR_WIDTH fair */
#define FAIR_WIDTH .4

static double pct(double share)
{
	return isfinite(share) ? 100 * share : NAN;
}

/* --- rows ----------------------------------------------------------------------------------- */

ORDER(by_cycles, struct verdict_unit_row, DOWN(cycles) A_TO_Z(unit))
ORDER(by_exposed, struct verdict_wait_row, DOWN(exposed_pct) A_TO_Z(reason))

static bool put_units(
	struct answer *a, const struct ledger *l, struct verdict_answer *to, struct incore_error *e)
{
	struct verdict_unit_row *v = ANSWER_ROWS(a, &to->units, MACHINE_UNITS, verdict_unit_row, e);
	size_t n = 0;

	for (unsigned u = 0; v && u < MACHINE_UNITS; u++) {
		const struct ledger_unit *x = &l->unit[u];

		if (x->is_known)
			v[n++] = (struct verdict_unit_row){machine_unit_code(u),
				machine_unit_name(u), x->mean_pct, x->busiest_pct,
				pct(l->rates->practical[u]), pct(x->cycles / l->window_cyc),
				x->cycles};
	}
	to->units.n = n;
	if (v)
		SORT(v, n, by_cycles);
	return v != NULL;
}

static bool put_waits(
	struct answer *a, const struct ledger *l, struct verdict_answer *to, struct incore_error *e)
{
	struct verdict_wait_row *v = ANSWER_ROWS(a, &to->waits, LEDGER_WAITS, verdict_wait_row, e);
	size_t n = 0;

	for (unsigned w = 0; v && w < LEDGER_WAITS; w++) {
		const struct ledger_wait *x = &l->wait[w];

		if (x->exposed > 0)
			v[n++] = (struct verdict_wait_row){ledger_wait_code(w),
				ledger_wait_words(w), pct(x->exposed), pct(x->queued),
				x->latency_cyc, x->idle_cyc};
	}
	to->waits.n = n;
	if (v)
		SORT(v, n, by_exposed);
	return v != NULL;
}

/* The instruction that a row waits for: the most executed of those that can be it. */
static code_idx producer_of(const struct trace *t, code_idx row)
{
	uint32_t n;
	const struct code_link *v = trace_links_of(t, row, &n);
	code_idx best = NO_CODE;

	for (uint32_t i = 0; i < n; i++)
		if (v[i].reason != NO_REASON && v[i].kind < CODE_LINK_STALL &&
			(best == NO_CODE || t->code[v[i].to].stated.hit > t->code[best].stated.hit))
			best = v[i].to;
	return best;
}

static const char *sure_of(const struct ledger_change *c)
{
	double width = c->most - c->least;

	return c->evidence < LEDGER_PARALLELISM && width < SURE_WIDTH ? "high"
	       : width < FAIR_WIDTH				      ? "fair"
								      : "low";
}

static bool put_change(struct answer *a, const struct ledger *l, const struct ledger_change *c,
	struct verdict_change_row *r, struct incore_error *e)
{
	const struct trace *t = l->trace;
	code_idx at = c->n_rows ? c->rows[0] : NO_CODE;
	code_idx of = at != NO_CODE && c->is_of_waits ? producer_of(t, at) : NO_CODE;
	struct strbuf place = {0};

	*r = (struct verdict_change_row){.rule = ledger_change_code(c->id),
		.change = ledger_change_words(c->id),
		.counted = c->counted,
		.step = c->step,
		.found = c->n_found,
		.pct = pct(c->gain),
		.least_pct = pct(c->least),
		.most_pct = pct(c->most),
		.after_us = l->us * (1 - c->gain),
		.low_us = l->us * (1 - c->most),
		.high_us = l->us * (1 - c->least),
		.sure = sure_of(c),
		.basis = ledger_evidence_name(c->evidence),
		.next = c->next < MACHINE_UNITS ? machine_unit_code(c->next) : NULL};
	if (at != NO_CODE)
		place_put(t, at, &place);
	else
		sb_puts(&place, "the whole kernel");
	r->place = answer_text(a, &place, e);
	return r->place && code_ref_make(a, t, at, &r->where, e) &&
	       code_ref_make(a, t, of, &r->waits_for, e);
}

static bool put_changes(
	struct answer *a, const struct ledger *l, struct verdict_answer *to, struct incore_error *e)
{
	struct verdict_change_row *v =
		ANSWER_ROWS(a, &to->changes, l->n_changes, verdict_change_row, e);

	for (uint32_t i = 0; v && i < l->n_changes; i++)
		if (!put_change(a, l, &l->change[i], &v[i], e))
			return false;
	return v != NULL;
}

/* --- the first screen ----------------------------------------------------------------------- */

/* With fewer blocks than SMs, the mean over all SMs hides how full those that work are. */
static double shown_pct(const struct ledger *l, enum machine_unit u)
{
	return l->blocks < l->sms ? l->unit[u].busiest_pct : l->unit[u].mean_pct;
}

void verdict_put_bound(const struct ledger *l, struct strbuf *b)
{
	const struct ledger_wait *load = &l->wait[LEDGER_LONG];
	const char *name = l->is_queue			? "a full queue"
			   : l->fullest < MACHINE_UNITS ? machine_unit_name(l->fullest)
							: "no known unit";
	double full = pct(l->full_cyc / l->window_cyc);

	if (l->bound == LEDGER_BY_LAUNCH && l->blocks < l->sms)
		sb_printf(b,
			"the launch: %.0f of %.0f SMs have no block; the others are held by %s (%.0f %%)",
			l->sms - l->blocks, l->sms, name, full);
	else if (l->bound == LEDGER_BY_LAUNCH)
		sb_printf(b, "the launch: an SM is busy for %.0f %% of the time, on average",
			pct(l->fill));
	else if (l->bound == LEDGER_BY_QUEUE && load->queued > 0 && !isfinite(load->latency_cyc))
		sb_puts(b, "requests that queue: the load/store queue is full");
	else if (l->bound == LEDGER_BY_QUEUE && load->queued > 0)
		sb_printf(b,
			"requests that queue: a load takes %.0f cycles, %.0f on an idle machine",
			load->latency_cyc, load->idle_cyc);
	else if (l->bound == LEDGER_BY_LATENCY)
		sb_printf(b, "latency: no unit is full (most: %s, %.0f %%)", name, full);
	else
		sb_printf(b, "%s: %.0f %% of what it can do", name, full);
}

#define MOSTLY_BUSY .9
#define HALF .5
#define FEW_WAVES 8

/* Shares of sampled cycles are of busy SMs: idle ones come first. */
static void say_fill(const struct ledger *l, struct strbuf *b)
{
	double last = l->waves - floor(l->waves);

	if (l->blocks > 0 && l->blocks < l->sms)
		sb_printf(b, "%.0f of %.0f SMs have a block", l->blocks, l->sms);
	else if (l->fill < MOSTLY_BUSY)
		sb_printf(b, "SMs busy %.0f %%", pct(l->fill));
	if (l->waves > 1 && l->waves < FEW_WAVES && last > 0 && last < HALF)
		sb_printf(b, "%slast wave of blocks %.0f %% full", b->n ? "  " : "", pct(last));
}

#define LINE 70 /* of the screen, behind its head */

/* Beside SMs that are idle, issue counts most, and what is not used is left out. */
static void say_peak_beside(const struct ledger *l, struct strbuf *b)
{
	static const struct {
		enum machine_unit unit;
		const char *name;
	} shown[] = {{MACHINE_ISSUE, "issue"}, {MACHINE_DRAM, "DRAM"}, {MACHINE_L2, "L2"},
		{MACHINE_L1, "L1/shared"}, {MACHINE_FMA, "FP32"}, {MACHINE_TENSOR, "tensor"}};

	for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++) {
		char text[32];
		double share = l->unit[shown[i].unit].is_known ? shown_pct(l, shown[i].unit) : 0;

		snprintf(text, sizeof(text), "  %s %.0f %%", shown[i].name, share);
		if ((i == 0 || share >= .5) && b->n + strlen(text) <= LINE)
			sb_puts(b, text);
	}
}

static void say_peak(const struct ledger *l, struct strbuf *b)
{
	static const struct {
		enum machine_unit unit;
		const char *name;
	} shown[] = {{MACHINE_DRAM, "DRAM"}, {MACHINE_L2, "L2"}, {MACHINE_L1, "L1/shared"},
		{MACHINE_FMA, "FP32"}, {MACHINE_TENSOR, "tensor"}, {MACHINE_ISSUE, "issue"}};

	say_fill(l, b);
	if (b->n) {
		say_peak_beside(l, b);
		return;
	}
	for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++)
		if (l->unit[shown[i].unit].is_known)
			sb_printf(b, "%s%s %.0f %%", b->n ? "  " : "", shown[i].name,
				shown_pct(l, shown[i].unit));
}

static void say_waits(const struct ledger *l, struct strbuf *b)
{
	unsigned most = 0;

	for (unsigned w = 0; w < LEDGER_WAITS; w++)
		if (l->wait[w].exposed > l->wait[most].exposed)
			most = w;
	sb_printf(b, "%.0f %% of warp time is lost; most of it, %.0f %%, for %s", pct(l->exposed),
		pct(l->wait[most].exposed), ledger_wait_words(most));
}

static bool put_screen(
	struct answer *a, const struct ledger *l, struct verdict_answer *to, struct incore_error *e)
{
	struct verdict_screen *s = &to->screen;
	struct strbuf b = {0};

	verdict_put_bound(l, &b);
	if (!verdict_keep_lines(a, &b, 1, &s->bound_by, e))
		return false;
	say_peak(l, &b);
	if (!verdict_keep(a, &b, &s->of_peak, e))
		return false;
	say_waits(l, &b);
	return verdict_keep_lines(a, &b, 2, &s->waits, e) && verdict_put_first(a, to, e);
}

bool verdict_of_ledger(
	struct answer *a, const struct ledger *l, struct verdict_answer *to, struct incore_error *e)
{
	struct strbuf size = {0};

	to->is_counted = true;
	to->us = l->us > 0 ? l->us : NAN;
	to->cycles = l->elapsed_cyc;
	to->bound = ledger_bound_name(l->bound);
	to->unit = l->fullest < MACHINE_UNITS ? machine_unit_code(l->fullest) : NULL;
	to->full_pct = pct(l->full_cyc / l->window_cyc);
	to->exposed_pct = pct(l->exposed);
	to->fill_pct = pct(l->fill);
	to->warps = l->warps_per_sm;
	to->waves = l->waves;
	to->limiter = l->limiter;
	to->rates = l->rates->chip;
	to->rates_evidence = rate_evidence_name(l->rates->evidence);
	if (l->rates->evidence != RATE_MEASURED)
		to->missing = "practical rates of this chip: those of another were taken";
	sb_printf(&size, "%.0f blocks x %.0f threads", l->blocks, l->block_threads);
	return verdict_keep(a, &size, &to->size, e) && put_units(a, l, to, e) &&
	       put_waits(a, l, to, e) && put_changes(a, l, to, e) && put_screen(a, l, to, e);
}
