/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger_time.c: the time after a change. Units and latency overlap to an unknown degree: with the
 * degree q the whole is (units^q + latency^q)^(1/q): q 1 is one after the other, q without bound
 * all at once. A kernel that is bound by a unit has shown that its parts overlap.
 */
#include "analysis/ledger/ledger_internal.h"

#define SPREAD .15   /* what stands after a change is known to so much: practical peaks differ */
#define NOTHING .005 /* a share of the time below which the worst case saves nothing */
#define LEAST -.05   /* no change of this list makes a kernel longer than that */

enum overlap { OVERLAP_ALL = 0, OVERLAP_NONE = 1, OVERLAP_SOME = 2, OVERLAP_MOST = 4 };

static double raised(double x, unsigned q)
{
	return q == OVERLAP_MOST ? x * x * x * x : q == OVERLAP_SOME ? x * x : x;
}

static double lowered(double x, unsigned q)
{
	return q == OVERLAP_MOST ? sqrt(sqrt(x)) : q == OVERLAP_SOME ? sqrt(x) : x;
}

static double together(double a, double b, unsigned q)
{
	return q == OVERLAP_ALL ? greater(a, b) : lowered(raised(a, q) + raised(b, q), q);
}

/* The latency that, composed with the units, gives the time that was measured. */
static double latency_now(const struct ledger *l, unsigned q)
{
	double w = l->window_cyc;

	if (l->is_full)
		return w * l->idle_share;
	return q == OVERLAP_ALL ? w : lowered(raised(w, q) - raised(l->full_cyc, q), q);
}

static double units_after(const struct ledger *l, const struct ledger_effect *x)
{
	double most = greater(l->queue_cyc * x->queue, x->added_cyc);
	double of_top = l->is_queue ? x->queue : 1;

	for (unsigned u = 0; u < MACHINE_UNITS; u++) {
		if (l->unit[u].is_known)
			most = greater(most, l->unit[u].cycles * x->unit[u]);
		if (!l->is_queue && u == l->fullest)
			of_top = x->unit[u];
	}
	return l->is_full && of_top >= 1 ? l->window_cyc : most;
}

double ledger_after(const struct ledger *l, const struct ledger_effect *x, unsigned overlap)
{
	double t = together(units_after(l, x), latency_now(l, overlap) * x->latency, overlap);

	return (t < l->window_cyc ? t : l->window_cyc) + l->fixed_cyc;
}

static enum machine_unit ledger_time_next_of(const struct ledger *l, const struct ledger_effect *x)
{
	enum machine_unit next = MACHINE_UNITS;
	double most = 0;

	for (unsigned u = 0; u < MACHINE_UNITS; u++)
		if (l->unit[u].is_known && l->unit[u].cycles * x->unit[u] > most) {
			most = l->unit[u].cycles * x->unit[u];
			next = (enum machine_unit)u;
		}
	return next;
}

/* Saved share if what stands besides the fixed part is `spread` times what it was taken to be. */
static double saved(const struct ledger *l, double cycles, double spread)
{
	return 1 - (l->fixed_cyc + (cycles - l->fixed_cyc) * spread) / l->elapsed_cyc;
}

void ledger_estimate(const struct ledger *l, struct ledger_change *c)
{
	static const unsigned full[] = {OVERLAP_SOME, OVERLAP_MOST, OVERLAP_ALL};
	static const unsigned loose[] = {OVERLAP_NONE, OVERLAP_SOME, OVERLAP_ALL};
	const unsigned *q = l->is_full ? full : loose;
	double shortest = l->elapsed_cyc, longest = 0, point;

	for (unsigned i = 0; i < 3; i++) {
		double best = ledger_after(l, &c->best, q[i]);
		double worst = ledger_after(l, &c->worst, q[i]);

		shortest = best < shortest ? best : shortest;
		shortest = worst < shortest ? worst : shortest;
		longest = greater(longest, greater(best, worst));
	}
	point = sqrt(ledger_after(l, &c->best, q[1]) * ledger_after(l, &c->worst, q[1]));
	c->gain = saved(l, point, 1);
	c->least = saved(l, longest, 1 + SPREAD);
	c->most = saved(l, shortest, 1 - SPREAD);
	if (c->least > c->gain)
		c->least = c->gain;
	if (c->most < c->gain)
		c->most = c->gain;
	if (1 - longest / l->elapsed_cyc < NOTHING && c->least > 0)
		c->least = 0;
	c->least = greater(c->least, LEAST);
	c->next = ledger_time_next_of(l, &c->best);
}
