/* SPDX-License-Identifier: Apache-2.0 */
/*
 * * whatif_samples.c: an estimate without a timeline. A warp's life is divided into its samples:
 * each was issuing, waiting as long as its producer takes on an idle machine, or in the queue of a
 * resource. So the kernel has two lengths: that of its warps without any contention (latency), and
 * the time for which its busiest resource works (whatif_load.h). Its real length is between the
 * longer of the two and their sum; how far they add up is taken from the unchanged kernel.
 * Divisions: lengths; the estimate.
 */
#include <math.h>

#include "analysis/code/samples.h"
#include "analysis/whatif/whatif_estimate.h"
#include "analysis/whatif/whatif_internal.h"
#include "base/mem.h"
#include "base/search.h"

/* --- lengths ---------------------------------------------------------------------------------- */

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

/* Cycles of the kernel; 0 if the capture does not say. */
static uint64_t estimate_length(const struct trace *t)
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

struct whatif_samples_lengths { /* shares of the kernel's time */
	double latency, busy, queue;
};

static double likely(
	const struct whatif_samples_lengths *before, const struct whatif_samples_lengths *after)
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
	struct whatif_samples_lengths *out, enum use *which)
{
	double waves = share_of_waves(x), samples = x->latency + x->queue;
	/* a wait at a barrier is a wait for other warps */
	double others = samples > 0 ? (x->own[end] + x->rest[end]) / samples : 1;

	out->latency = fmax(x->own[end] + x->barrier[1] * others, x->ahead[end]) / x->all * waves;
	out->queue = x->rest[end] / x->all;
	out->busy = loads_floor(&x->loads, end, fill, which);
}

static struct whatif_samples_lengths lengths_before(const struct estimate *x, enum fill fill)
{
	return (struct whatif_samples_lengths){(x->latency + x->barrier[0]) / x->all,
		loads_before(&x->loads, fill), x->queue / x->all};
}

/* Shares of the kernel's time that are left: least, most, likely. */
static void find_shares(const struct estimate *x, double share[3], const char **why)
{
	struct whatif_samples_lengths usual = lengths_before(x, FILL_USUAL),
				      most = lengths_before(x, FILL_MOST);
	struct whatif_samples_lengths at[3];
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

#define NOTHING 0.01 /* share of the time: an estimate that moves it by less */
#define NEAR 0.05    /* and both ends of its interval by less: the change does nothing */

static bool is_near(const struct whatif_result *r, uint64_t cyc)
{
	return fabs((double)cyc - (double)r->before_cyc) <= NEAR * (double)r->before_cyc;
}

/* Why the interval of an estimate that hardly moves the time is wide: the larger of its spreads. */
static const char *why_unknown(const struct estimate *x)
{
	double waits = x->own[AT_MOST] - x->own[AT_LEAST];
	double queues = x->rest[AT_MOST] - x->rest[AT_LEAST];

	if (waits >= queues)
		return "not known: these waits are longer than on an idle machine and no unit that "
		       "was counted is full, so they may be bursts that go with the requests, or "
		       "stay";
	return "not known: of the requests that are left as many may miss the caches as of all, "
	       "and then the queue stays";
}

/* Sets after, low, high and why of a result whose before is set. */
static void estimate_conclude(const struct estimate *x, struct whatif_result *out)
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
	out->does_nothing = fabs(1 - share[2]) <= NOTHING && is_near(out, out->low_cyc) &&
			    is_near(out, out->high_cyc);
	if (fabs(1 - share[2]) <= NOTHING && !out->does_nothing)
		out->why = why_unknown(x);
}

/* --- the estimate ----------------------------------------------------------------------------- */

#define LATENCY_LEAST 0.8 /* requests at another time or place may take a shorter path */

/* Samples of one row and reason. */
struct whatif_samples_piece {
	enum whatif_part part;
	double latency, queue;	      /* before the change; their sum is all samples */
	double own[ENDS], rest[ENDS]; /* what is left of each */
};

/* --- one piece ------------------------------------------------------------------------------ */

static enum use fuller(const struct loads *l, enum use a, enum use b)
{
	return l->used[a] / l->cap[a] >= l->used[b] / l->cap[b] ? a : b;
}

/* The resource whose queue explains waits for a row beyond its latency. */
static enum use queue_of(const struct estimate *x, code_idx to)
{
	enum inst_class c = (enum inst_class)x->t->code[to].inst_class;
	enum use l1 = fuller(&x->loads, USE_L1, USE_LSU);

	if (is_memory_class(c))
		return fuller(&x->loads, x->full, l1);
	return c == CLASS_LDS || c == CLASS_LDS_XLANE ? l1 : USE_XU;
}

/* The resource that a throttled row waits for. */
static enum use use_of(const struct estimate *x, code_idx i, const char *reason)
{
	const struct trace *t = x->t;

	if (row_weight(t, USE_XU, i) > 0) /* it uses the queue of memory instructions */
		return USE_XU;
	if (strcmp(reason, "math_pipe_throttle") == 0)
		for (unsigned u = USE_FMA; u <= USE_TENSOR; u++)
			if (row_weight(t, (enum use)u, i) > 0)
				return (enum use)u;
	if (strcmp(reason, "lg_throttle") == 0 || strcmp(reason, "tex_throttle") == 0 ||
		strcmp(reason, "mio_throttle") == 0 || strcmp(reason, "pipe") == 0)
		return queue_of(x, i);
	return USE_ISSUE;
}

static bool has_fixed_latency(enum inst_class c)
{
	return !is_memory_class(c) && c != CLASS_LDS && c != CLASS_LDS_XLANE && c != CLASS_TRANS;
}

/* What is left of the latency of row `to` when row i needs its result: other waits came in
 * between. */
static double latency_at(const struct estimate *x, code_idx i, code_idx to)
{
	double base = loads_latency(&x->loads, (enum inst_class)x->t->code[to].inst_class, false);

	return to < i ? fmax(0, base - (x->passed[i] - x->passed[to])) : base;
}

/* Splits a wait of `cyc` cycles of row i for a row into its parts. */
static void wait_for(const struct estimate *x, code_idx i, code_idx to, double cyc,
	struct whatif_samples_piece *out)
{
	const struct whatif_row *r = &x->p->rows[to];
	enum inst_class c = (enum inst_class)x->t->code[to].inst_class;
	double base = latency_at(x, i, to) / cyc, left = left_of_row(r);

	out->queue = has_fixed_latency(c) || !isfinite(base)
			     ? 0
			     : (1 - fmin(1, base)) * loads_queue_part(&x->loads, queue_of(x, to));
	out->latency = 1 - out->queue;
	for (unsigned b = 0; b < ENDS; b++) {
		out->own[b] = out->latency * left;
		out->rest[b] =
			r->is_removed || r->like
				? 0
				: out->queue * loads_ratio(&x->loads, queue_of(x, to), (enum end)b);
	}
	/* time due to neither latency nor a full resource may come from bursts, which get fewer
	 * with less work */
	if (!has_fixed_latency(c) && isfinite(base) && base < 1)
		out->own[AT_LEAST] -= (1 - base - out->queue) * left * (1 - x->calmer);
	if (r->is_removed)
		return;
	if (r->like) {
		base = loads_latency(&x->loads, (enum inst_class)r->like, false) / cyc;
		out->own[AT_MOST] = isfinite(base) ? fmin(1, base) : out->latency;
		out->own[AT_LEAST] = out->own[AT_MOST] * LATENCY_LEAST;
	} else if (!has_fixed_latency(c)) { /* fewer requests, or smaller ones that take as long */
		out->own[AT_MOST] = out->latency;
		if (left < 1) /* requests that found their data nearby may be the first to go */
			out->own[AT_MOST] *= loads_latency(&x->loads, c, true) /
					     loads_latency(&x->loads, c, false);
	}
}

/* Splits n samples of a row that wait for other rows. False: no producer is known. */
static bool wait_for_all(const struct estimate *x, code_idx i, uint32_t reason, double n,
	struct whatif_samples_piece *out)
{
	const struct trace *t = x->t;
	uint32_t n_links;
	const struct code_link *l = trace_links_of(t, i, &n_links);
	double weights = 0, most = 0;
	double cyc = n * x->warp_cycles / (double)t->code[i].stated.hit;
	struct whatif_samples_piece sum = {0};

	for (uint32_t k = 0; k < n_links; k++) {
		double w = (double)t->code[l[k].to].stated.hit + 1;
		struct whatif_samples_piece one;

		if (l[k].reason != reason || l[k].kind >= CODE_LINK_JUMP)
			continue;
		wait_for(x, i, l[k].to, cyc, &one);
		weights += w;
		sum.latency += w * one.latency;
		sum.queue += w * one.queue;
		sum.own[AT_LEAST] += w * one.own[AT_LEAST];
		if (one.latency > 0) /* the last of them counts */
			most = fmax(most, one.own[AT_MOST] / one.latency);
		for (unsigned b = 0; b < ENDS; b++)
			sum.rest[b] += w * one.rest[b];
	}
	if (weights <= 0)
		return false;
	out->latency = n * sum.latency / weights;
	out->queue = n * sum.queue / weights;
	out->own[AT_LEAST] = n * sum.own[AT_LEAST] / weights;
	out->own[AT_MOST] = fmax(out->own[AT_LEAST], out->latency * most);
	for (unsigned b = 0; b < ENDS; b++)
		out->rest[b] = n * sum.rest[b] / weights;
	return true;
}

static void set_latency(struct whatif_samples_piece *out, double n, double left)
{
	out->latency = n;
	out->own[AT_LEAST] = out->own[AT_MOST] = n * left;
}

static void set_queue(
	const struct estimate *x, struct whatif_samples_piece *out, enum use u, double n)
{
	out->queue = n;
	for (unsigned b = 0; b < ENDS; b++)
		out->rest[b] = n * loads_ratio(&x->loads, u, (enum end)b);
}

static enum whatif_part whatif_samples_part_of(const struct sample_cause *c)
{
	return c->kind == CAUSE_BARRIER				   ? PART_BARRIER
	       : c->word == WHY_OTHER_WAVE || c->word == WHY_QUEUE ? PART_OTHER
	       : c->bucket == BUCKET_WAIT			   ? PART_LATENCY
	       : c->bucket == BUCKET_DRAIN			   ? PART_DRAIN
	       : c->word == WHY_FETCH				   ? PART_GAP
	       : c->word == WHY_REGISTER			   ? PART_OWN
								   : PART_STALL;
}

/* The n samples that found row i stalled for a reason. */
static void find_piece(const struct estimate *x, code_idx i, uint32_t reason, double n,
	struct whatif_samples_piece *out)
{
	const struct sample_cause *c = sample_cause_of(x->t->reasons[reason]);
	const struct whatif_row *r = &x->p->rows[i];
	double own = left_of_row(r), before = i ? left_of_row(&x->p->rows[i - 1]) : 1;
	double asked = left_of_row(&x->p->reasons[reason]);

	*out = (struct whatif_samples_piece){.part = whatif_samples_part_of(c)};
	if (out->part == PART_OTHER) {
		set_queue(x, out, use_of(x, i, c->reason), n);
		if (r->is_removed)
			out->rest[AT_LEAST] = out->rest[AT_MOST] = 0;
	} else if (c->bucket == BUCKET_DRAIN) {
		set_queue(x, out, x->full, n * own);
	} else if (c->has_producer || c->bucket == BUCKET_WAIT) {
		/* samplers report a wait at the instruction after a barrier or fence */
		if (!wait_for_all(x, i, reason, n, out))
			set_latency(out, n, before < own ? before : own);
		if (r->is_removed && c->word == WHY_REGISTER)
			out->own[AT_LEAST] = out->own[AT_MOST] = 0;
	} else {
		set_latency(out, n, own);
	}
	/* equal work: nobody waits, or what cannot be divided further keeps half of the wait */
	if (out->part == PART_BARRIER && (r->is_even || (i && x->p->rows[i - 1].is_even))) {
		out->own[AT_LEAST] = 0;
		out->own[AT_MOST] = n / 2;
	}
	for (unsigned b = 0; b < ENDS; b++) {
		out->own[b] *= asked;
		out->rest[b] *= asked;
	}
}

/* --- samples -------------------------------------------------------------------------------- */

static uint32_t ahead_of(const struct estimate *x, code_idx i, uint32_t reason)
{
	uint32_t n, depth = x->p->reasons[reason].ahead;
	const struct code_link *l = trace_links_of(x->t, i, &n);

	/* instructions between two links of a chain are covered by its latency */
	if (sample_cause_of(x->t->reasons[reason])->word == WHY_REGISTER &&
		x->t->code[i].stated.hit == x->chain_hits)
		depth = x->chain_depth;
	for (uint32_t k = 0; k < n; k++)
		if (l[k].reason == reason && l[k].kind < CODE_LINK_JUMP &&
			x->p->rows[l[k].to].ahead > depth)
			depth = x->p->rows[l[k].to].ahead;
	return depth;
}

static double cycles_of(const struct estimate *x, code_idx i, double samples)
{
	uint64_t hits = x->t->code[i].stated.hit;
	double cyc = hits ? samples * x->warp_cycles / (double)hits : 0;

	return isfinite(cyc) ? cyc : 0;
}

static bool find_passed(struct estimate *x)
{
	const struct trace *t = x->t;
	size_t n = (size_t)t->n_code + 1;

	x->passed = mem_zalloc(n, sizeof(*x->passed));
	x->kept[AT_LEAST] = mem_zalloc(n, sizeof(double));
	x->kept[AT_MOST] = mem_zalloc(n, sizeof(double));
	if (!x->passed || !x->kept[AT_LEAST] || !x->kept[AT_MOST])
		return false;
	for (code_idx i = 0; i < t->n_code; i++)
		x->passed[i + 1] =
			x->passed[i] +
			cycles_of(x, i, (double)(t->samples[i].issued + t->samples[i].stalled));
	return true;
}

static void forget_passed(struct estimate *x)
{
	mem_free(x->passed);
	mem_free(x->kept[AT_LEAST]);
	mem_free(x->kept[AT_MOST]);
}

/* Latency of load `to` under the plan, as seen by row i, which uses its result. Other waits
 * overlapped the load: at least it takes its latency on an idle machine, at most the time since its
 * request. */
static double latency_left(const struct estimate *x, code_idx i, code_idx to, enum end end)
{
	const struct loads *l = &x->loads;
	enum inst_class c = (enum inst_class)x->t->code[to].inst_class;
	double base = loads_latency(l, c, false), seen = x->passed[i + 1] - x->passed[to + 1];
	enum use u = queue_of(x, to);

	if (left_of_row(&x->p->rows[to]) != 1)
		return end == AT_MOST ? loads_latency(l, c, true) : 0;
	if (end == AT_LEAST || seen <= base)
		return fmin(base, seen);
	return base + (seen - base) * (1 - loads_queue_part(l, u) * (1 - loads_ratio(l, u, end)));
}

/* Adds waits that others hid: if those are gone, other outstanding results are waited for. */
static void expose(struct estimate *x, enum end end)
{
	const struct trace *t = x->t;
	double *now = x->kept[end], at = 0;

	for (code_idx i = 0; i < t->n_code; i++) {
		uint32_t n;
		const struct code_link *l = trace_links_of(t, i, &n);
		double own = cycles_of(x, i, now[i]), more = 0;

		now[i] = at; /* from here on: cycles of all rows before it */
		for (uint32_t k = 0; k < n; k++) {
			code_idx to = l[k].to;
			const struct whatif_row *r = &x->p->rows[to];

			if (to >= i || l[k].kind >= CODE_LINK_JUMP || r->ahead || r->is_removed ||
				r->like || t->code[to].inst_class != CLASS_VMEM_LOAD ||
				t->code[to].stated.hit != t->code[i].stated.hit)
				continue;
			more = fmax(more, latency_left(x, i, to, end) - (at - now[to + 1]) - own);
		}
		x->own[end] += more * (double)t->code[i].stated.hit / x->warp_cycles;
		at += own + more;
	}
}

/* Finds the chains of fixed-latency instructions that the plan multiplies, and how often they
 * run. */
static void find_chain(struct estimate *x)
{
	for (code_idx i = 0; i < x->t->n_code; i++)
		if (x->p->rows[i].ahead &&
			has_fixed_latency((enum inst_class)x->t->code[i].inst_class) &&
			x->t->code[i].stated.hit > x->chain_hits) {
			x->chain_hits = x->t->code[i].stated.hit;
			x->chain_depth = x->p->rows[i].ahead;
		}
}

static double calmer(const struct loads *l)
{
	double before = loads_before(l, FILL_USUAL);

	return before > 0 ? loads_floor(l, AT_LEAST, FILL_USUAL, &(enum use){0}) / before : 1;
}

struct adder {
	struct estimate *x;
	struct whatif_result *out;
	uint64_t before_cyc;
	bool has_failed;
};

static void whatif_samples_add(struct adder *a, code_idx i, const struct whatif_samples_piece *p)
{
	struct estimate *x = a->x;
	double n = p->latency + p->queue, per = (double)a->before_cyc / x->all;
	double mid = (p->own[0] + p->own[1] + p->rest[0] + p->rest[1]) / 2;
	struct whatif_limit *last =
		a->out->limits.n ? &a->out->limits.v[a->out->limits.n - 1] : NULL;
	struct whatif_limit l = {
		(uint8_t)p->part, i, (uint64_t)(n * per + 0.5), (uint64_t)(mid * per + 0.5)};

	for (unsigned b = 0; b < ENDS; b++)
		x->kept[b][i] += p->own[b] + p->rest[b];
	if (p->part == PART_BARRIER) {
		x->barrier[0] += n;
		x->barrier[1] += mid;
	} else {
		x->latency += p->latency;
		x->queue += p->queue;
		for (unsigned b = 0; b < ENDS; b++) {
			x->own[b] += p->own[b];
			x->rest[b] += p->rest[b];
		}
	}
	if (last && last->part == l.part && last->code == i) {
		last->before_cyc += l.before_cyc;
		last->after_cyc += l.after_cyc;
	} else if (l.before_cyc) {
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): room is made first */
		a->has_failed |= !VEC_PUSH(&a->out->limits, l);
	}
}

/* Handles results requested `depth` executions earlier. */
static void ask_ahead(
	struct estimate *x, struct whatif_samples_piece *p, uint32_t depth, double issued)
{
	if (p->part == PART_OWN) { /* fixed latency: filled by other chains */
		double rest = (p->latency + issued) / (depth + 1) - issued;

		p->own[0] = p->own[1] = rest > 0 ? p->own[1] * rest / p->latency : 0;
		return;
	}
	x->ahead[AT_LEAST] += (p->own[AT_LEAST] + p->rest[AT_LEAST]) / depth * LATENCY_LEAST;
	x->ahead[AT_MOST] += (p->own[AT_MOST] + p->rest[AT_MOST]) / depth;
	for (unsigned b = 0; b < ENDS; b++)
		p->own[b] = p->rest[b] = 0;
}

static void whatif_samples_add_row(struct adder *a, code_idx i)
{
	struct estimate *x = a->x;
	const struct reason_count *r = trace_reasons_of(x->t, i);
	double issued = (double)x->t->samples[i].issued;
	struct whatif_samples_piece p = {.part = PART_ISSUE};

	set_latency(&p, issued, left_of_row(&x->p->rows[i]));
	whatif_samples_add(a, i, &p);
	for (unsigned part = 0; part < WHATIF_PARTS; part++)
		for (uint32_t k = 0; k < x->t->n_reasons; k++) {
			double n = (double)r[k].all;
			uint32_t depth = n > 0 ? ahead_of(x, i, k) : 0;

			if (n <= 0 ||
				whatif_samples_part_of(sample_cause_of(x->t->reasons[k])) != part)
				continue;
			find_piece(x, i, k, n, &p);
			if (depth)
				ask_ahead(x, &p, depth, issued);
			whatif_samples_add(a, i, &p);
		}
}

/* --- the question ----------------------------------------------------------------------------- */

static bool is_slower(const struct trace *t, const struct whatif_plan *p)
{
	bool is = p->waves < 0;

	for (code_idx i = 0; !is && i < t->n_code; i++)
		is = left_of_row(&p->rows[i]) > 1;
	for (uint32_t k = 0; !is && k < t->n_reasons; k++)
		is = left_of_row(&p->reasons[k]) > 1;
	return is;
}

static bool ask_samples(
	const struct trace *t, const struct whatif_plan *p, struct whatif_result *out)
{
	struct estimate x = {.t = t, .p = p};
	struct adder a = {&x, out, estimate_length(t), false};

	out->method = WHATIF_SAMPLES;
	out->before_cyc = a.before_cyc;
	for (code_idx i = 0; i < t->n_code; i++) {
		x.all += (double)(t->samples[i].issued + t->samples[i].stalled);
		if (left_of_row(&p->rows[i]) != 1 || p->rows[i].ahead || p->rows[i].like ||
			p->rows[i].is_even)
			out->n_executed += t->code[i].stated.hit;
	}
	if (!a.before_cyc || x.all <= 0) {
		out->method = WHATIF_NONE;
		out->why = "the capture does not say how long the kernel took";
		return true;
	}
	x.warp_cycles = stated_metric(t, "smsp__warps_active.avg.per_cycle_active") * 4 *
			stated_metric(t, "device__attribute_multiprocessor_count") *
			stated_metric(t, "smsp__cycles_active.avg") / x.all;
	x.is_slower = is_slower(t, p);
	loads_find(&x.loads, t, p);
	x.full = loads_fullest(&x.loads);
	x.calmer = calmer(&x.loads);
	find_chain(&x);
	if (!find_passed(&x)) {
		forget_passed(&x);
		return false;
	}
	for (code_idx i = 0; i < t->n_code; i++)
		whatif_samples_add_row(&a, i);
	if (isfinite(x.warp_cycles) && x.warp_cycles > 0) {
		expose(&x, AT_LEAST);
		expose(&x, AT_MOST);
	}
	estimate_conclude(&x, out);
	forget_passed(&x);
	SORT(out->limits.v, out->limits.n, whatif_by_after);
	return !a.has_failed;
}

bool whatif_samples(const struct trace *t, const struct whatif_plan *const *plans, size_t n,
	struct whatif_result *out, struct incore_error *e)
{
	for (size_t i = 0; i < n; i++)
		if (!ask_samples(t, plans[i], &out[i]))
			return err_nomem(e);
	return true;
}
