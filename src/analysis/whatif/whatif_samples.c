/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whatif_samples.c: without a timeline, an estimate. A warp's life is its samples: each was issuing,
 * waited as long as its producer takes on an idle machine, or stood in the queue of a resource. So the
 * kernel has two lengths: that of its warps if nothing were ever taken (latency), and the time that its
 * busiest resource works (whatif_load.h). It lasts as long as the longer of both at the least, their sum
 * at the most; how far they add up is seen in the kernel as it is.
 */
#include <math.h>

#include "analysis/code/samples.h"
#include "analysis/whatif/whatif_internal.h"
#include "analysis/whatif/whatif_load.h"
#include "base/mem.h"
#include "base/search.h"

#define LATENCY_LEAST 0.8 /* what is asked for at another time or place may find a shorter way */

struct estimate {
	struct loads loads;
	const struct trace *t;
	const struct whatif_plan *p;
	enum use full;	       /* of memory behind L1 */
	double all;	       /* samples */
	double warp_cycles;    /* of one sample; not a number: not known */
	double *passed;	       /* by row: cycles of one execution of all rows before it */
	double latency, queue; /* samples as they are: of latency, in queues */
	double own[ENDS];      /* samples of latency that are left */
	double rest[ENDS];  /* samples in queues that are left, if queues shorten with their load */
	double ahead[ENDS]; /* samples that wait for what is asked earlier, by depth */
	uint64_t chain_hits; /* executions of a chain that others are to run beside; 0: none */
	uint32_t chain_depth;
	double barrier[2]; /* samples at barriers: before, of barriers that are left */
};

/* Samples of one row and reason. */
struct piece {
	enum whatif_part part;
	double latency, queue;	      /* as they are; their sum is all of them */
	double own[ENDS], rest[ENDS]; /* what is left of each */
};

/* --- one piece ------------------------------------------------------------------------------ */

static enum use fuller(const struct loads *l, enum use a, enum use b)
{
	return l->used[a] / l->cap[a] >= l->used[b] / l->cap[b] ? a : b;
}

/* The resource in whose queue those stand who wait longer for a row than it takes. */
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

	if (row_weight(t, USE_XU, i) > 0) /* it is fed through the queue of memory instructions */
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

/* Latencies stay flat until a resource is about half full, and are all queue when it is (latency.cu). */
#define QUEUE_FROM 0.4
#define QUEUE_ALL 0.8

/* How far a wait that is longer than on an idle machine is the queue of a resource. */
static double is_queue(const struct loads *l, enum use u)
{
	return fmin(1, fmax(0, (l->used[u] / l->cap[u] - QUEUE_FROM) / (QUEUE_ALL - QUEUE_FROM)));
}

/* What is left of a latency when row i asks for the result of row `to`: others were waited for since. */
static double latency_at(const struct estimate *x, code_idx i, code_idx to)
{
	double base = loads_latency(&x->loads, (enum inst_class)x->t->code[to].inst_class, false);

	return to < i ? fmax(0, base - (x->passed[i] - x->passed[to])) : base;
}

/* Of a wait of `cyc` cycles of row i for a row, as parts of it. */
static void wait_for(
	const struct estimate *x, code_idx i, code_idx to, double cyc, struct piece *out)
{
	const struct whatif_row *r = &x->p->rows[to];
	enum inst_class c = (enum inst_class)x->t->code[to].inst_class;
	double base = latency_at(x, i, to) / cyc, left = left_of_row(r);

	out->queue = has_fixed_latency(c) || !isfinite(base)
			     ? 0
			     : (1 - fmin(1, base)) * is_queue(&x->loads, queue_of(x, to));
	out->latency = 1 - out->queue;
	for (unsigned b = 0; b < ENDS; b++) {
		out->own[b] = out->latency * left;
		out->rest[b] =
			r->is_removed || r->like
				? 0
				: out->queue * loads_ratio(&x->loads, queue_of(x, to), (enum end)b);
	}
	if (r->is_removed)
		return;
	if (r->like) {
		base = loads_latency(&x->loads, (enum inst_class)r->like, false) / cyc;
		out->own[AT_MOST] = isfinite(base) ? fmin(1, base) : out->latency;
		out->own[AT_LEAST] = out->own[AT_MOST] * LATENCY_LEAST;
	} else if (!has_fixed_latency(c)) { /* fewer requests, or smaller ones that take as long */
		out->own[AT_MOST] = out->latency;
		if (left < 1) /* those that found their words near by are the first to go */
			out->own[AT_MOST] *= loads_latency(&x->loads, c, true) /
					     loads_latency(&x->loads, c, false);
	}
}

/* Of n samples of a row that wait for others. False: nobody is known. */
static bool wait_for_all(
	const struct estimate *x, code_idx i, uint32_t reason, double n, struct piece *out)
{
	const struct trace *t = x->t;
	uint32_t n_links;
	const struct code_link *l = trace_links_of(t, i, &n_links);
	double weights = 0, most = 0;
	double cyc = n * x->warp_cycles / (double)t->code[i].stated.hit;
	struct piece sum = {0};

	for (uint32_t k = 0; k < n_links; k++) {
		double w = (double)t->code[l[k].to].stated.hit + 1;
		struct piece one;

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

static void set_latency(struct piece *out, double n, double left)
{
	out->latency = n;
	out->own[AT_LEAST] = out->own[AT_MOST] = n * left;
}

static void set_queue(const struct estimate *x, struct piece *out, enum use u, double n)
{
	out->queue = n;
	for (unsigned b = 0; b < ENDS; b++)
		out->rest[b] = n * loads_ratio(&x->loads, u, (enum end)b);
}

static enum whatif_part part_of(const struct sample_cause *c)
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
static void find_piece(
	const struct estimate *x, code_idx i, uint32_t reason, double n, struct piece *out)
{
	const struct sample_cause *c = sample_cause_of(x->t->reasons[reason]);
	const struct whatif_row *r = &x->p->rows[i];
	double own = left_of_row(r), before = i ? left_of_row(&x->p->rows[i - 1]) : 1;
	double asked = left_of_row(&x->p->reasons[reason]);

	*out = (struct piece){.part = part_of(c)};
	if (out->part == PART_OTHER) {
		set_queue(x, out, use_of(x, i, c->reason), n);
		if (r->is_removed)
			out->rest[AT_LEAST] = out->rest[AT_MOST] = 0;
	} else if (c->bucket == BUCKET_DRAIN) {
		set_queue(x, out, x->full, n * own);
	} else if (c->has_producer || c->bucket == BUCKET_WAIT) {
		/* the sampler puts a wait on the instruction behind a barrier or a fence */
		if (!wait_for_all(x, i, reason, n, out))
			set_latency(out, n, before < own ? before : own);
		if (r->is_removed && c->word == WHY_REGISTER)
			out->own[AT_LEAST] = out->own[AT_MOST] = 0;
	} else {
		set_latency(out, n, own);
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

	/* what stands between two links of a chain is in the shadow of its latency */
	if (sample_cause_of(x->t->reasons[reason])->word == WHY_REGISTER &&
		x->t->code[i].stated.hit == x->chain_hits)
		depth = x->chain_depth;
	for (uint32_t k = 0; k < n; k++)
		if (l[k].reason == reason && l[k].kind < CODE_LINK_JUMP &&
			x->p->rows[l[k].to].ahead > depth)
			depth = x->p->rows[l[k].to].ahead;
	return depth;
}

static bool find_passed(struct estimate *x)
{
	const struct trace *t = x->t;

	x->passed = mem_zalloc((size_t)t->n_code + 1, sizeof(*x->passed));
	for (code_idx i = 0; x->passed && i < t->n_code; i++) {
		double n = (double)(t->samples[i].issued + t->samples[i].stalled);
		double cyc = t->code[i].stated.hit
				     ? n * x->warp_cycles / (double)t->code[i].stated.hit
				     : 0;

		x->passed[i + 1] = x->passed[i] + (isfinite(cyc) ? cyc : 0);
	}
	return x->passed != NULL;
}

/* Chains of instructions with a fixed latency of which there are to be more: how often they run. */
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

struct adder {
	struct estimate *x;
	struct whatif_result *out;
	uint64_t before_cyc;
	bool has_failed;
};

static void add(struct adder *a, code_idx i, const struct piece *p)
{
	struct estimate *x = a->x;
	double n = p->latency + p->queue, per = (double)a->before_cyc / x->all;
	double mid = (p->own[0] + p->own[1] + p->rest[0] + p->rest[1]) / 2;
	struct whatif_limit *last =
		a->out->limits.n ? &a->out->limits.v[a->out->limits.n - 1] : NULL;
	struct whatif_limit l = {
		(uint8_t)p->part, i, (uint64_t)(n * per + 0.5), (uint64_t)(mid * per + 0.5)};

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
		a->has_failed |= !VEC_PUSH(&a->out->limits, l);
	}
}

/* What is asked for `depth` executions earlier. */
static void ask_ahead(struct estimate *x, struct piece *p, uint32_t depth, double issued)
{
	if (p->part == PART_OWN) { /* of a fixed latency, other chains fill it */
		double rest = (p->latency + issued) / (depth + 1) - issued;

		p->own[0] = p->own[1] = rest > 0 ? p->own[1] * rest / p->latency : 0;
		return;
	}
	x->ahead[AT_LEAST] += (p->own[AT_LEAST] + p->rest[AT_LEAST]) / depth * LATENCY_LEAST;
	x->ahead[AT_MOST] += (p->own[AT_MOST] + p->rest[AT_MOST]) / depth;
	for (unsigned b = 0; b < ENDS; b++)
		p->own[b] = p->rest[b] = 0;
}

static void add_row(struct adder *a, code_idx i)
{
	struct estimate *x = a->x;
	const struct reason_count *r = trace_reasons_of(x->t, i);
	double issued = (double)x->t->samples[i].issued;
	struct piece p = {.part = PART_ISSUE};

	set_latency(&p, issued, left_of_row(&x->p->rows[i]));
	add(a, i, &p);
	for (unsigned part = 0; part < WHATIF_PARTS; part++)
		for (uint32_t k = 0; k < x->t->n_reasons; k++) {
			double n = (double)r[k].all;
			uint32_t depth = n > 0 ? ahead_of(x, i, k) : 0;

			if (n <= 0 || part_of(sample_cause_of(x->t->reasons[k])) != part)
				continue;
			find_piece(x, i, k, n, &p);
			if (depth)
				ask_ahead(x, &p, depth, issued);
			add(a, i, &p);
		}
}

/* --- the answer ----------------------------------------------------------------------------- */

/* How much of its time a warp takes when a scheduler holds another number of them. */
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

static uint64_t length_of(const struct trace *t)
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

/* What estimates missed, beyond what they call possible: of the kernel's time where nothing or all is
 * gained, and so much more half way (docs/whatif.md). */
#define ERROR_BASE 0.04
#define ERROR_HALF 0.075
#define CROWD 0.05    /* more warps than full memory serves may cost, for each time as many */
#define RAMP_CYC 4000 /* a kernel begins and ends in no less */
#define SHARPEST 8.0  /* where latency and work are hardly seen to add up */

static double norm(double a, double b, double p)
{
	return pow(pow(a, p) + pow(b, p), 1 / p);
}

/* The power with which latency and the busiest resource make up the time of the kernel as it is. */
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

struct lengths { /* parts of the kernel's time */
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

static void find_lengths(const struct estimate *x, enum end end, enum fill fill,
	struct lengths *out, enum use *which)
{
	double waves = share_of_waves(x), samples = x->latency + x->queue;
	/* who waits at a barrier waits for the others */
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

/* Parts of the kernel's time that are left: at the least, at the most, likely. */
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

static void conclude(const struct estimate *x, struct whatif_result *out)
{
	double share[3], error, high;

	find_shares(x, share, &out->why);
	for (unsigned b = 0; b < 3; b++) {
		if (x->p->waves >= 0) /* nothing is asked for that takes longer */
			share[b] = fmin(1, share[b]);
		share[b] = with_ramp(out, share[b]);
	}
	error = ERROR_BASE + ERROR_HALF * 2 * sqrt(fmax(0, share[2] * (1 - share[2])));
	out->after_cyc = cycles(out->before_cyc, share[2]);
	out->low_cyc = cycles(out->before_cyc, fmin(share[0], share[2]) - error);
	high = fmax(share[1], share[2]) + error;
	if (x->p->waves >= 0)
		high = fmin(high, 1 + ERROR_BASE);
	if (x->p->waves > 0 && is_queue(&x->loads, x->full) >= 1)
		high += CROWD * (1 / share_of_waves(x) - 1);
	out->high_cyc = cycles(out->before_cyc, high);
	out->does_nothing = fabs(1 - share[2]) <= 0.01;
}

static bool ask_samples(
	const struct trace *t, const struct whatif_plan *p, struct whatif_result *out)
{
	struct estimate x = {.t = t, .p = p};
	struct adder a = {&x, out, length_of(t), false};

	out->method = WHATIF_SAMPLES;
	out->before_cyc = a.before_cyc;
	for (code_idx i = 0; i < t->n_code; i++) {
		x.all += (double)(t->samples[i].issued + t->samples[i].stalled);
		if (left_of_row(&p->rows[i]) != 1 || p->rows[i].ahead || p->rows[i].like)
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
	loads_find(&x.loads, t, p);
	x.full = loads_fullest(&x.loads);
	find_chain(&x);
	if (!find_passed(&x))
		return false;
	for (code_idx i = 0; i < t->n_code; i++)
		add_row(&a, i);
	conclude(&x, out);
	mem_free(x.passed);
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
