/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whatif_samples.c: an estimate without a timeline. A warp's life is divided into its samples: each
 * was issuing, waiting as long as its producer takes on an idle machine, or in the queue of a
 * resource. So the kernel has two lengths: that of its warps without any contention (latency), and
 * the time for which its busiest resource works (whatif_load.h). Its real length is between the
 * longer of the two and their sum; how far they add up is taken from the unchanged kernel.
 */
#include <math.h>

#include "analysis/code/samples.h"
#include "analysis/whatif/whatif_estimate.h"
#include "analysis/whatif/whatif_internal.h"
#include "base/mem.h"
#include "base/search.h"

#define LATENCY_LEAST 0.8 /* requests at another time or place may take a shorter path */

/* Samples of one row and reason. */
struct piece {
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
static void wait_for(
	const struct estimate *x, code_idx i, code_idx to, double cyc, struct piece *out)
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
		/* samplers report a wait at the instruction after a barrier or fence */
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

static void add(struct adder *a, code_idx i, const struct piece *p)
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
static void ask_ahead(struct estimate *x, struct piece *p, uint32_t depth, double issued)
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
		add_row(&a, i);
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
