/* SPDX-License-Identifier: Apache-2.0 */
/* whatif_lengths.c: a kernel's length from latency and the busiest resource, with its interval. */
#include <math.h>

#include "analysis/whatif/whatif_estimate.h"

/* Relative time of a warp if a scheduler holds another number of warps. */
static double share_of_waves(const struct estimate *x)
{
	double warps = stated_metric(x->t, "smsp__warps_active.avg.per_cycle_active"), more;
	double in_all = stated_metric(x->t, "launch__grid_size") *
			ceil(stated_metric(x->t, "launch__block_size") / 32);
	double schedulers = 4 * stated_metric(x->t, "device__attribute_multiprocessor_count");

	if (!x->p->waves || !isfinite(warps) || warps <= 0)
		return 1;
	more = fmax(warps + x->p->waves, 1);
	if (isfinite(in_all / schedulers) && in_all / schedulers > 0)
		more = fmin(more, fmax(warps, in_all / schedulers));
	return warps / fmin(more, 16);
}

uint64_t estimate_length(const struct trace *t)
{
	static const char *const names[] = {
		"sm__cycles_elapsed.max", "gpc__cycles_elapsed.max", "sm__cycles_active.avg", NULL};
	double ns = stated_metric(t, "gpu__time_duration.sum");

	for (const char *const *n = names; *n; n++) {
		double v = stated_metric(t, *n);

		if (isfinite(v) && v >= 1 && v < 1e15)
			return (uint64_t)(v + 0.5);
	}
	return isfinite(ns) && ns > 0 && ns < 1e15 ? (uint64_t)(ns * trace_clock_mhz(t) / 1000) : 0;
}

static uint64_t cycles(uint64_t before, double share)
{
	return (uint64_t)((double)before * fmin(fmax(share, 0), 1000) + 0.5);
}

/* Errors of estimates beyond their own interval: share of the kernel's time if nothing or all is
 * gained, and the addition half way between (docs/whatif.md). */
#define ERROR_BASE 0.036
#define ERROR_HALF 0.067
#define CROWD 0.05    /* with full memory, warps cost this for each time as many */
#define RAMP_CYC 4000 /* least time for the start and end of a kernel */
#define SHARPEST 8.0  /* power at which latency and work hardly add up */

static double norm(double a, double b, double p)
{
	return pow(pow(a, p) + pow(b, p), 1 / p);
}

/* The power with which latency and busiest resource add up to the unchanged kernel's time. */
static double find_power(double latency, double busy)
{
	double lo = 1, hi = SHARPEST;

	if (latency + busy <= 1)
		return 1;
	for (unsigned k = 0; k < 30; k++) {
		double mid = (lo + hi) / 2;

		if (norm(latency, busy, mid) > 1)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

struct lengths { /* shares of the kernel's time */
	double latency, busy, queue;
};

static double likely(const struct lengths *before, const struct lengths *after)
{
	double p = find_power(before->latency, before->busy);
	double rest = 1 - before->latency - before->busy; /* queues that no resource explains */

	if (rest > 0)
		return after->latency + after->busy +
		       rest * (before->queue > 0 ? after->queue / before->queue : 1);
	return norm(after->latency, after->busy, p) / norm(before->latency, before->busy, p);
}

static double with_ramp(const struct whatif_result *r, double share)
{
	double ramp = fmin(0.5, RAMP_CYC / (double)r->before_cyc);

	return share < 1 ? ramp + (1 - ramp) * share : share;
}

static double error_of(double share)
{
	if (share > 1) /* as of the way back */
		return share * error_of(1 / share);
	return ERROR_BASE + ERROR_HALF * 2 * sqrt(share * (1 - share));
}

static void find_lengths(const struct estimate *x, enum end end, enum fill fill,
	struct lengths *out, enum use *which)
{
	double waves = share_of_waves(x), samples = x->latency + x->queue;
	/* a wait at a barrier is a wait for other warps */
	double others = samples > 0 ? (x->own[end] + x->rest[end]) / samples : 1;

	out->latency = fmax(x->own[end] + x->barrier[1] * others, x->ahead[end]) / x->all * waves;
	out->queue = x->rest[end] / x->all;
	out->busy = loads_floor(&x->loads, end, fill, which);
}

static struct lengths lengths_before(const struct estimate *x, enum fill fill)
{
	return (struct lengths){(x->latency + x->barrier[0]) / x->all,
		loads_before(&x->loads, fill), x->queue / x->all};
}

/* Shares of the kernel's time that are left: least, most, likely. */
static void find_shares(const struct estimate *x, double share[3], const char **why)
{
	struct lengths usual = lengths_before(x, FILL_USUAL), most = lengths_before(x, FILL_MOST);
	struct lengths at[3];
	enum use which;

	find_lengths(x, AT_LEAST, FILL_MOST, &at[0], &which);
	find_lengths(x, AT_MOST, FILL_AS_IT_IS, &at[1], &which);
	find_lengths(x, AT_MOST, FILL_USUAL, &at[2], &which);
	at[2].latency = (at[0].latency + at[1].latency) / 2;
	at[2].queue = (at[0].queue + at[1].queue) / 2;
	share[0] = fmin(likely(&most, &at[0]), norm(at[0].latency, at[0].busy, SHARPEST) /
						       norm(most.latency, most.busy, SHARPEST));
	share[1] = fmax(at[1].latency + at[1].queue, at[1].busy);
	share[2] = likely(&usual, &at[2]);
	*why = at[2].busy > at[2].latency ? loads_bound_text(which) : NULL;
}

void estimate_conclude(const struct estimate *x, struct whatif_result *out)
{
	double share[3], error, high;

	find_shares(x, share, &out->why);
	for (unsigned b = 0; b < 3; b++) {
		if (!x->is_slower) /* nothing takes longer than before */
			share[b] = fmin(1, share[b]);
		share[b] = with_ramp(out, share[b]);
	}
	error = error_of(share[2]);
	out->after_cyc = cycles(out->before_cyc, share[2]);
	out->low_cyc = cycles(out->before_cyc, fmin(share[0], share[2]) - error);
	high = fmax(share[1], share[2]) + error;
	if (!x->is_slower)
		high = fmin(high, 1 + ERROR_BASE);
	if (x->p->waves > 0 && loads_queue_part(&x->loads, x->full) >= 1)
		high += CROWD * (1 / share_of_waves(x) - 1);
	out->high_cyc = cycles(out->before_cyc, high);
	out->does_nothing = fabs(1 - share[2]) <= 0.01;
}
