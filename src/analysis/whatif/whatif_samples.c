/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whatif_samples.c: without a timeline, an estimate. A warp's life is its samples: each was issuing,
 * waited for somebody, or met a resource that was taken. With as many warps at a time as before the
 * kernel lasts as long as the samples that are left, but not shorter than its resources work: issue
 * slots, pipes, L1, L2 and memory, each by what the changed rows had of it.
 */
#include <math.h>

#include "analysis/code/samples.h"
#include "analysis/whatif/whatif_internal.h"
#include "base/search.h"
#include "isa/ncu_names.h"

/* --- what the report states ----------------------------------------------------------------- */

static double stated(const struct trace *t, const char *name)
{
	const struct named_table *k = trace_find_table(t, NCU_TABLE_METRICS);

	for (uint32_t i = 0; k && i < k->n_rows; i++) {
		const char *cell = named_table_cell(k, i, "name");
		const char *value =
			cell && strcmp(cell, name) == 0 ? named_table_cell(k, i, "value") : NULL;

		if (value)
			return strtod(value, NULL);
	}
	return NAN;
}

enum use { /* what of a row loads a resource */
	USE_ISSUE,
	USE_FMA,
	USE_ALU,
	USE_XU,
	USE_FP64,
	USE_TENSOR,
	USE_LSU, /* memory instructions, whatever they move */
	USE_L1,
	USE_L2,
	USE_SLICE, /* of L2, the busiest: atomics on few words */
	USE_DRAM,
	USES
};

/* As far as each can be filled: what kernels that do nothing else reach. L1 counts some of what no
 * instruction asked for: kernels without a barrier do more than it says they could. */
static const struct resource {
	const char *word, *metric;
	double cap;
} resources[USES] = {
	[USE_ISSUE] = {"issue slots", "sm__issue_active.avg.pct_of_peak_sustained_elapsed", 0.97},
	[USE_FMA] = {"FMA pipe", "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed",
		0.97},
	[USE_ALU] = {"ALU pipe", "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_elapsed",
		0.97},
	[USE_XU] = {"XU pipe", "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_elapsed", 0.98},
	[USE_FP64] = {"FP64 pipe", "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_elapsed",
		0.97},
	[USE_TENSOR] = {"tensor pipe",
		"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", 0.95},
	[USE_LSU] = {"load and store unit",
		"l1tex__lsuin_requests.avg.pct_of_peak_sustained_elapsed", 0.97},
	[USE_L1] = {"L1", "l1tex__throughput.avg.pct_of_peak_sustained_elapsed", 1.15},
	[USE_L2] = {"L2", "lts__throughput.avg.pct_of_peak_sustained_elapsed", 0.90},
	[USE_SLICE] = {"a slice of L2", "lts__throughput.max.pct_of_peak_sustained_elapsed", 0.95},
	[USE_DRAM] = {"memory", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", 0.92},
};

/* --- what rows use -------------------------------------------------------------------------- */

static bool starts(const struct code_row *r, const char *const *words)
{
	const char *text = r->text;

	if (text[0] == '@' && strchr(text, ' '))
		text = strchr(text, ' ') + 1;
	for (; *words; words++)
		if (strncmp(text, *words, strlen(*words)) == 0)
			return true;
	return false;
}

static double metric_at(const struct trace *t, const char *name, code_idx i)
{
	EACH (const struct code_metric, m, t->metrics, t->n_metrics) {
		uint32_t lo = 0, hi = m->n;
		double v;

		if (strcmp(m->name, name) != 0)
			continue;
		BISECT(lo, hi, k, m->row[k] < i);
		if (lo >= m->n || m->row[lo] != i)
			return 0;
		if (!m->is_real)
			return (double)m->value[lo];
		memcpy(&v, &m->value[lo], sizeof(v));
		return isfinite(v) && v > 0 ? v : 0;
	}
	return 0;
}

static bool is_memory(enum inst_class c)
{
	return c >= CLASS_VMEM_LOAD && c <= CLASS_VMEM_TO_LDS;
}

#define SECTORS_OF_REQUEST 4

/* Of a resource, how much an execution of the row takes; sums are compared with each other alone. */
static double weight_of(const struct trace *t, enum use use, code_idx i)
{
	static const char *const fma[] = {
		"FFMA", "FMUL", "FADD", "IMAD", "HFMA2", "HADD2", "HMUL2", NULL};
	static const char *const xu[] = {
		"MUFU", "I2F", "F2I", "F2F", "FRND", "POPC", "FLO", "BREV", NULL};
	static const char *const fences[] = {"MEMBAR", NULL};
	static const char *const fp64[] = {"DFMA", "DADD", "DMUL", "DSETP", NULL};
	const struct code_row *r = &t->code[i];
	double hits = (double)r->stated.hit;

	switch (use) {
	case USE_ISSUE:
		return hits;
	case USE_FMA:
		return starts(r, fma) ? hits : 0;
	case USE_XU:
		return starts(r, xu) ? hits : 0;
	case USE_FP64:
		return starts(r, fp64) ? hits : 0;
	case USE_TENSOR:
		return r->inst_class == CLASS_MATRIX ? hits : 0;
	case USE_ALU:
		return r->inst_class == CLASS_VALU && !starts(r, fma) && !starts(r, xu) &&
				       !starts(r, fp64)
			       ? hits
			       : 0;
	case USE_LSU:
		return is_memory((enum inst_class)r->inst_class) || r->inst_class == CLASS_LDS ||
				       r->inst_class == CLASS_LDS_XLANE
			       ? hits
			       : 0;
	case USE_L1:
		return metric_at(t, "memory_l1_wavefronts_shared", i) +
		       metric_at(t, "memory_l1_tag_requests_global", i) +
		       metric_at(t, "memory_l2_theoretical_sectors_global", i) / 4 +
		       metric_at(t, "memory_l2_theoretical_sectors_local", i) / 4;
	case USE_SLICE:
		return r->inst_class == CLASS_VMEM_ATOMIC ? hits : 0;
	default:
		if (starts(r, fences)) /* it goes through L2 as a request does */
			return hits * SECTORS_OF_REQUEST;
		return metric_at(t, "memory_l2_theoretical_sectors_global", i) +
		       metric_at(t, "memory_l2_theoretical_sectors_local", i);
	}
}

/* --- what is left of a row ------------------------------------------------------------------ */

static double left_of(const struct whatif_row *r)
{
	if (r->is_removed || r->faster_milli == WHATIF_AT_ONCE)
		return 0;
	return 1000.0 / r->faster_milli;
}

/* What is left of its load on a resource. Through L2 a request has one sector at the least. */
static double left_of_use(
	const struct trace *t, const struct whatif_row *r, code_idx i, enum use use)
{
	double hits = (double)t->code[i].stated.hit, sectors, w;

	if (use >= USE_L2 && !r->like && !r->is_removed) {
		sectors = weight_of(t, USE_L2, i);
		return fmax(left_of(r), fmin(1, sectors > 0 ? hits / sectors : 0));
	}
	if (!r->like || use <= USE_LSU)
		return left_of(r);
	w = use == USE_L1 ? weight_of(t, use, i)
			  : 0; /* other memory than before: one access each */
	return w > 0 ? fmin(1, hits / w) : 0;
}

/* Cycles from issue to result where nothing is in the way, on the chips that were at hand (9.0). */
static double base_latency(enum inst_class c)
{
	switch (c) {
	case CLASS_VMEM_LOAD:
	case CLASS_VMEM_ATOMIC:
	case CLASS_VMEM_TO_LDS:
		return 450;
	case CLASS_LDS:
	case CLASS_LDS_XLANE:
	case CLASS_SMEM:
		return 30;
	case CLASS_TRANS:
		return 18;
	default:
		return 4;
	}
}

struct estimate {
	const struct trace *t;
	const struct whatif_plan *p;
	double used[USES], left[USES]; /* part of the kernel's time: before, after */
	double cap[USES];
	double queued;	    /* part of the latency of memory that is queues: by how full it is */
	double relief;	    /* what is left of the load on the memory that is fullest */
	enum use full;	    /* which that is */
	double all;	    /* samples */
	double warp_cycles; /* of one sample; not a number: not known */
	double own[2];	    /* of the samples, what is left: at the least, at the most */
	double ahead[2];    /* of which wait for what is asked earlier, by depth */
};

static void find_caps(struct estimate *x)
{
	double read = stated(x->t, "dram__bytes_read.sum.pct_of_peak_sustained_elapsed") / 100;
	double write = stated(x->t, "dram__bytes_write.sum.pct_of_peak_sustained_elapsed") / 100;

	for (unsigned u = 0; u < USES; u++)
		x->cap[u] = resources[u].cap;
	if (read + write > 0) /* turning round between reads and writes costs */
		x->cap[USE_DRAM] -= 0.24 * write / (read + write);
}

static void find_resources(struct estimate *x)
{
	find_caps(x);
	for (unsigned u = 0; u < USES; u++) {
		double pct = stated(x->t, resources[u].metric), sum = 0, rest = 0;

		for (code_idx i = 0; i < x->t->n_code; i++) {
			double w = weight_of(x->t, (enum use)u, i);

			sum += w;
			rest += w * left_of_use(x->t, &x->p->rows[i], i, (enum use)u);
		}
		x->used[u] = isfinite(pct) && pct > 0 ? pct / 100 : 0;
		if (u == USE_SLICE && (sum <= 0 || x->used[u] < 1.5 * x->used[USE_L2]))
			x->used[u] = 0; /* no slice is fuller than the others */
		x->left[u] = sum > 0 ? x->used[u] * rest / sum : x->used[u];
		x->cap[u] = fmax(x->cap[u], x->used[u]);
	}
	x->full = USE_L2;
	for (unsigned u = USE_L2; u <= USE_DRAM; u++)
		if (x->used[u] / x->cap[u] > x->used[x->full] / x->cap[x->full])
			x->full = (enum use)u;
	x->queued = pow(x->used[x->full] / x->cap[x->full], 2);
	x->relief = x->used[x->full] > 0 ? x->left[x->full] / x->used[x->full] : 1;
}

/* What is left of a wait of `cyc` cycles for a row: at the least, at the most. */
static void left_of_producer(const struct estimate *x, code_idx to, double cyc, double out[2])
{
	const struct whatif_row *r = &x->p->rows[to];
	enum inst_class c = (enum inst_class)x->t->code[to].inst_class;
	double base = fmin(1, base_latency(r->like ? (enum inst_class)r->like : c) / cyc);

	out[0] = out[1] = left_of(r);
	if (r->is_removed)
		return;
	if (r->like) {
		out[0] = isfinite(base) ? base * 0.8 : 1;
		out[1] = isfinite(base) ? base : 1;
		return;
	}
	if (is_memory(c)) /* only queues shorten */
		out[1] = 1 - x->queued * (1 - fmin(out[1], x->relief));
	if (out[0] < 1 && isfinite(base) && class_unit(c) != SIMD_VALU)
		out[1] = fmax(out[1], base);
	if (is_memory(c) && out[0] == 1)
		out[0] = out[1];
}

/* Of n samples of a row that wait for others. False: nobody is known. */
static bool left_of_producers(
	const struct estimate *x, code_idx i, uint32_t reason, double samples, double out[2])
{
	const struct trace *t = x->t;
	uint32_t n;
	const struct code_link *l = trace_links_of(t, i, &n);
	double weights = 0, sum = 0, most = 0;
	double cyc = samples * x->warp_cycles / (double)t->code[i].stated.hit;

	for (uint32_t k = 0; k < n; k++) {
		double w = (double)t->code[l[k].to].stated.hit + 1, left[2];

		if (l[k].reason != reason || l[k].kind >= CODE_LINK_JUMP)
			continue;
		left_of_producer(x, l[k].to, cyc, left);
		most = fmax(most, left[1]);
		sum += w * left[0];
		weights += w;
	}
	if (weights <= 0)
		return false;
	out[0] = sum / weights;
	out[1] = fmax(out[0], most);
	return true;
}

static uint32_t ahead_of(const struct estimate *x, code_idx i, uint32_t reason)
{
	uint32_t n, depth = x->p->reasons[reason].ahead;
	const struct code_link *l = trace_links_of(x->t, i, &n);

	for (uint32_t k = 0; k < n; k++)
		if (l[k].reason == reason && l[k].kind < CODE_LINK_JUMP &&
			x->p->rows[l[k].to].ahead > depth)
			depth = x->p->rows[l[k].to].ahead;
	return depth;
}

/* --- samples -------------------------------------------------------------------------------- */

/* The resource that a throttled row waits for. */
static enum use use_of(const struct trace *t, code_idx i, const char *reason)
{
	if (weight_of(t, USE_XU, i) > 0) /* it is fed through the queue of memory instructions */
		return USE_XU;
	if (strcmp(reason, "math_pipe_throttle") == 0)
		for (unsigned u = USE_FMA; u <= USE_TENSOR; u++)
			if (weight_of(t, (enum use)u, i) > 0)
				return (enum use)u;
	if (strcmp(reason, "mio_throttle") == 0 || strcmp(reason, "lg_throttle") == 0 ||
		strcmp(reason, "tex_throttle") == 0 || strcmp(reason, "pipe") == 0)
		return USE_L1;
	return USE_ISSUE;
}

/* What is left of the samples that found row i stalled for a reason: at the least, at the most. */
static enum whatif_part left_of_reason(
	const struct estimate *x, code_idx i, uint32_t reason, double n, double out[2])
{
	const struct sample_cause *c = sample_cause_of(x->t->reasons[reason]);
	const struct whatif_row *r = &x->p->rows[i];
	double own = left_of(r), before = i ? left_of(&x->p->rows[i - 1]) : 1;
	enum whatif_part part = c->kind == CAUSE_BARRIER    ? PART_BARRIER
				: c->bucket == BUCKET_WAIT  ? PART_LATENCY
				: c->bucket == BUCKET_DRAIN ? PART_DRAIN
				: c->word == WHY_FETCH	    ? PART_GAP
				: c->word == WHY_REGISTER   ? PART_OWN
							    : PART_STALL;

	out[0] = out[1] = own;
	if (c->word == WHY_OTHER_WAVE || c->word == WHY_QUEUE) {
		enum use u = use_of(x->t, i, c->reason);
		double ratio = x->used[u] > 0 ? x->left[u] / x->used[u] : 1;

		if (u == USE_L1 && is_memory((enum inst_class)x->t->code[i].inst_class))
			ratio = fmin(ratio, 1 - x->queued * (1 - x->relief));
		part = PART_OTHER;
		out[0] = own * ratio * ratio;
		out[1] = own * ratio;
	} else if (c->has_producer || c->bucket == BUCKET_WAIT) {
		/* the sampler puts a wait on the instruction behind a barrier or a fence */
		if (!left_of_producers(x, i, reason, n, out))
			out[0] = out[1] = before < own ? before : own;
		if (r->is_removed && c->word == WHY_REGISTER)
			out[0] = out[1] = 0;
	} else if (c->bucket == BUCKET_DRAIN) {
		out[0] = out[1] = own * (1 - x->queued * (1 - x->relief));
	}
	out[0] *= left_of(&x->p->reasons[reason]);
	out[1] *= left_of(&x->p->reasons[reason]);
	return part;
}

#define LATENCY_LEAST 0.8 /* what is asked for at another time may find a shorter way */

struct adder {
	struct estimate *x;
	struct whatif_result *out;
	uint64_t before_cyc;
	bool has_failed;
};

static void add(struct adder *a, enum whatif_part part, code_idx i, double n, const double left[2])
{
	double mid = n * (left[0] + left[1]) / 2, per = (double)a->before_cyc / a->x->all;
	struct whatif_limit *last =
		a->out->limits.n ? &a->out->limits.v[a->out->limits.n - 1] : NULL;
	struct whatif_limit l = {
		(uint8_t)part, i, (uint64_t)(n * per + 0.5), (uint64_t)(mid * per + 0.5)};

	a->x->own[0] += n * left[0];
	a->x->own[1] += n * left[1];
	if (last && last->part == l.part && last->code == i) {
		last->before_cyc += l.before_cyc;
		last->after_cyc += l.after_cyc;
	} else if (l.before_cyc) {
		a->has_failed |= !VEC_PUSH(&a->out->limits, l);
	}
}

static void add_row(struct adder *a, code_idx i)
{
	struct estimate *x = a->x;
	const struct reason_count *r = trace_reasons_of(x->t, i);
	double issued = (double)x->t->samples[i].issued, own = left_of(&x->p->rows[i]);

	add(a, PART_ISSUE, i, issued, (double[]){own, own});
	for (unsigned part = 0; part < WHATIF_PARTS; part++)
		for (uint32_t k = 0; k < x->t->n_reasons; k++) {
			double n = (double)r[k].all, left[2];
			uint32_t depth = n > 0 ? ahead_of(x, i, k) : 0;

			if (n <= 0 || left_of_reason(x, i, k, n, left) != (enum whatif_part)part)
				continue;
			if (depth &&
				part == PART_OWN) { /* of a fixed latency, other chains fill it */
				double rest = (n + issued) / (depth + 1) - issued;

				left[0] = left[1] = rest > 0 ? left[0] * rest / n : 0;
			} else if (depth) {
				x->ahead[0] += n * left[0] / depth * LATENCY_LEAST;
				x->ahead[1] += n * left[1] / depth;
				left[0] = left[1] = 0;
			}
			add(a, (enum whatif_part)part, i, n, left);
		}
}

/* --- the answer ----------------------------------------------------------------------------- */

/* The busiest resource after the change: no shorter than it works. */
static double find_floor(const struct estimate *x, const char **why, double *least)
{
	static const char *const words[USES] = {[USE_ISSUE] = "bounded by issue slots",
		[USE_FMA] = "bounded by the FMA pipe",
		[USE_ALU] = "bounded by the ALU pipe",
		[USE_XU] = "bounded by the XU pipe",
		[USE_FP64] = "bounded by the FP64 pipe",
		[USE_TENSOR] = "bounded by the tensor pipe",
		[USE_LSU] = "bounded by the load and store unit",
		[USE_L1] = "bounded by L1 and shared memory",
		[USE_L2] = "bounded by L2",
		[USE_SLICE] = "bounded by one slice of L2",
		[USE_DRAM] = "bounded by the device's memory"};
	double most = 0;

	for (unsigned u = 0; u < USES; u++) {
		double f = x->left[u] / x->cap[u];

		if (f > most) {
			most = f;
			*why = words[u];
			/* what the change leaves of its load is less sure than what it had */
			*least = f * (0.93 - 0.25 * fmax(0, 1 - x->left[u] / x->used[u]));
		}
	}
	return most;
}

/* How much of its time a warp takes when a scheduler holds another number of them. */
static double share_of_waves(const struct estimate *x)
{
	double warps = stated(x->t, "smsp__warps_active.avg.per_cycle_active"), more;
	double in_all =
		stated(x->t, "launch__grid_size") * ceil(stated(x->t, "launch__block_size") / 32);
	double schedulers = 4 * stated(x->t, "device__attribute_multiprocessor_count");

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
	double ns = stated(t, "gpu__time_duration.sum");

	for (const char *const *n = names; *n; n++) {
		double v = stated(t, *n);

		if (isfinite(v) && v >= 1 && v < 1e15)
			return (uint64_t)(v + 0.5);
	}
	return isfinite(ns) && ns > 0 && ns < 1e15 ? (uint64_t)(ns * trace_clock_mhz(t) / 1000) : 0;
}

static uint64_t cycles(uint64_t before, double share)
{
	return (uint64_t)((double)before * fmin(fmax(share, 0), 1000) + 0.5);
}

#define ERROR_BASE 0.03 /* of the kernel's time: what estimates of nothing missed */
#define ERROR_GAIN 0.15 /* of what is gained */
#define RAMP_CYC 4000	/* a kernel begins and ends in no less */

/* Faster than before the same memory is fuller, and what is left of its latency grows. */
static double crowded(const struct estimate *x, double share)
{
	double more = fmin(1, x->left[x->full] / x->cap[x->full] / share) -
		      x->used[x->full] / x->cap[x->full];

	return share * (1 + 0.3 * fmax(0, more));
}

static double with_ramp(const struct whatif_result *r, double share)
{
	double ramp = fmin(0.5, RAMP_CYC / (double)r->before_cyc);

	return share < 1 ? ramp + (1 - ramp) * share : share;
}

static void conclude(const struct estimate *x, struct whatif_result *out)
{
	const char *bound = NULL;
	double least = 0, floor = find_floor(x, &bound, &least), waves = share_of_waves(x);
	double share[3], error;

	for (unsigned b = 0; b < 2; b++)
		share[b] = fmax(x->own[b], x->ahead[b]) / x->all * waves;
	share[2] = (share[0] + share[1]) / 2;
	out->why = share[2] < floor ? bound : NULL;
	for (unsigned b = 0; b < 3; b++)
		share[b] = with_ramp(out, fmax(share[b], floor));
	share[2] = share[2] < 1 ? fmin(1, crowded(x, share[2])) : share[2];
	error = ERROR_BASE + ERROR_GAIN * fabs(1 - share[2]);
	out->after_cyc = cycles(out->before_cyc, share[2]);
	out->low_cyc = cycles(
		out->before_cyc, fmin(share[2], fmax(fmin(share[0], share[2] - error), least)));
	out->high_cyc = cycles(out->before_cyc, fmax(share[1], share[2] + error));
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
		if (left_of(&p->rows[i]) != 1 || p->rows[i].ahead || p->rows[i].like)
			out->n_executed += t->code[i].stated.hit;
	}
	if (!a.before_cyc || x.all <= 0) {
		out->method = WHATIF_NONE;
		out->why = "the capture does not say how long the kernel took";
		return true;
	}
	x.warp_cycles = stated(t, "smsp__warps_active.avg.per_cycle_active") * 4 *
			stated(t, "device__attribute_multiprocessor_count") *
			stated(t, "smsp__cycles_active.avg") / x.all;
	find_resources(&x);
	for (code_idx i = 0; i < t->n_code; i++)
		add_row(&a, i);
	conclude(&x, out);
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
