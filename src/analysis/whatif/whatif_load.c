/* SPDX-License-Identifier: Apache-2.0 */
/* whatif_load.c: the resources of the machine, what rows use of them, and what is left under a
 * plan. */
#include "analysis/whatif/whatif_load.h"

#include <math.h>

#include "base/search.h"
#include "isa/ncu_names.h"

#define OF_TIME ".avg.pct_of_peak_sustained_elapsed"

/* How far kernels that wait for nothing else fill each resource, and the most ever seen: measured
 * on an H200 with examples/cuda/pairs and planted. Of two metrics the first stated one is used. */
static const struct resource {
	const char *metric, *other, *bound;
	double cap, most;
} resources[USES] = {
	[USE_ISSUE] = {"sm__issue_active" OF_TIME, NULL, "bounded by issue slots", 0.97, 0.99},
	[USE_FMA] = {"sm__pipe_fma_cycles_active" OF_TIME, NULL, "bounded by the FMA pipe", 0.97,
		0.99},
	[USE_ALU] = {"sm__pipe_alu_cycles_active" OF_TIME, NULL, "bounded by the ALU pipe", 0.97,
		0.99},
	[USE_XU] = {"sm__inst_executed_pipe_xu" OF_TIME, NULL, "bounded by the XU pipe", 0.98,
		0.99},
	[USE_FP64] = {"sm__pipe_fp64_cycles_active" OF_TIME, NULL, "bounded by the FP64 pipe", 0.97,
		0.99},
	[USE_TENSOR] = {"sm__pipe_tensor_cycles_active" OF_TIME, NULL, "bounded by the tensor pipe",
		0.95, 0.99},
	[USE_LSU] = {"l1tex__lsuin_requests" OF_TIME, NULL, "bounded by the load and store unit",
		0.97, 0.99},
	[USE_L1] = {"l1tex__data_pipe_lsu_wavefronts" OF_TIME, "l1tex__throughput" OF_TIME,
		"bounded by L1 and shared memory", 1.0, 1.0},
	[USE_WAY] = {"lts__xbar2lts_cycles_active" OF_TIME, NULL, "bounded by the way to L2", 0.70,
		0.80},
	[USE_TAG] = {"lts__t_tag_requests" OF_TIME, NULL, "bounded by lookups in L2", 0.90, 0.92},
	[USE_L2] = {"lts__lts2xbar_cycles_active" OF_TIME, "lts__throughput" OF_TIME,
		"bounded by L2", 0.75, 0.80},
	[USE_SLICE] = {"lts__throughput.max.pct_of_peak_sustained_elapsed", NULL,
		"bounded by one slice of L2", 0.95, 0.99},
	[USE_DRAM] = {"gpu__dram_throughput" OF_TIME, NULL, "bounded by the device's memory", 0.92,
		0.94},
};

#define SLICE_UNEVEN 1.5 /* this much fuller than the mean, a slice counts by itself */
#define TURN_COST 0.24	 /* share of memory's capacity lost to turnarounds by pure writes */
#define NEARLY_FULL 0.6	 /* from here on a resource may be as full as this kernel gets it */
/* Waiting is not queueing until a resource is about half full, and is all queueing from QUEUE_ALL
 * on (latency.cu). */
#define QUEUE_FROM 0.4
#define QUEUE_ALL 0.8
#define SECTORS_OF_LINE 4
#define SLICE_PART 2 /* a single sector costs a slice up to twice its share of a line */

double stated_metric(const struct trace *t, const char *name)
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

static double stated_or(const struct trace *t, const char *name, double other)
{
	double v = stated_metric(t, name);

	return isfinite(v) && v >= 0 ? v : other;
}

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

bool is_memory_class(enum inst_class c)
{
	return c >= CLASS_VMEM_LOAD && c <= CLASS_VMEM_TO_LDS;
}

static bool is_load(enum inst_class c)
{
	return c == CLASS_VMEM_LOAD || c == CLASS_VMEM_TO_LDS;
}

static double sectors_of(const struct trace *t, code_idx i)
{
	return metric_at(t, "memory_l2_theoretical_sectors_global", i) +
	       metric_at(t, "memory_l2_theoretical_sectors_local", i);
}

static double lines_of(const struct trace *t, code_idx i)
{
	return metric_at(t, "memory_l1_tag_requests_global", i) +
	       metric_at(t, "memory_l2_theoretical_sectors_local", i) / SECTORS_OF_LINE;
}

/* Packets from an SM to L2. Two whole lines are requested at once, parts of lines one by one. */
static double packets_of(const struct trace *t, code_idx i)
{
	double lines = lines_of(t, i), sectors = sectors_of(t, i);

	if (!is_load((enum inst_class)t->code[i].inst_class))
		return sectors;
	return lines * (sectors >= lines * SECTORS_OF_LINE ? 0.5 : 1);
}

static double math_weight(const struct trace *t, enum use use, code_idx i)
{
	static const char *const fma[] = {
		"FFMA", "FMUL", "FADD", "IMAD", "HFMA2", "HADD2", "HMUL2", NULL};
	static const char *const xu[] = {
		"MUFU", "I2F", "F2I", "F2F", "FRND", "POPC", "FLO", "BREV", NULL};
	static const char *const fp64[] = {"DFMA", "DADD", "DMUL", "DSETP", NULL};
	const struct code_row *r = &t->code[i];
	enum use is = r->inst_class == CLASS_MATRIX ? USE_TENSOR
		      : starts(r, fma)		    ? USE_FMA
		      : starts(r, xu)		    ? USE_XU
		      : starts(r, fp64)		    ? USE_FP64
		      : r->inst_class == CLASS_VALU ? USE_ALU
						    : USES;

	return is == use ? (double)r->stated.hit : 0;
}

/* How much of a resource the row uses; only meaningful in relation to other rows. */
double row_weight(const struct trace *t, enum use use, code_idx i)
{
	static const char *const fences[] = {"MEMBAR", NULL};
	const struct code_row *r = &t->code[i];
	enum inst_class c = (enum inst_class)r->inst_class;
	double hits = (double)r->stated.hit;
	bool is_shared = c == CLASS_LDS || c == CLASS_LDS_XLANE;
	bool is_barrier = c == CLASS_BARRIER; /* L1 counts a wavefront for it */

	if (use >= USE_WAY && starts(r, fences)) /* it passes L2 like a request */
		return hits * SECTORS_OF_LINE;
	switch (use) {
	case USE_ISSUE:
		return hits;
	case USE_LSU:
		return is_memory_class(c) || is_shared ? hits : 0;
	case USE_L1:
		return metric_at(t, "memory_l1_wavefronts_shared", i) + lines_of(t, i) +
		       sectors_of(t, i) / SECTORS_OF_LINE +
		       (is_barrier || c == CLASS_LDS_XLANE ? hits : 0);
	case USE_WAY:
		return packets_of(t, i);
	case USE_TAG:
		return lines_of(t, i);
	case USE_SLICE:
		return c == CLASS_VMEM_ATOMIC ? sectors_of(t, i) : 0;
	case USE_L2:
	case USE_DRAM:
		return sectors_of(t, i);
	default:
		return math_weight(t, use, i);
	}
}

/* --- what is left of a row ------------------------------------------------------------------ */

double left_of_row(const struct whatif_row *r)
{
	if (r->is_removed || r->faster_milli == WHATIF_AT_ONCE)
		return 0;
	return 1000.0 / r->faster_milli;
}

/* Share of its load on a resource that is left. In L2 a request has at least one sector; if it has
 * no more than that, the plan must mean fewer requests. */
static double left_of_use(
	const struct trace *t, const struct whatif_row *r, code_idx i, enum use use)
{
	double hits = (double)t->code[i].stated.hit, w;

	if (use >= USE_WAY && !r->like && !r->is_removed) {
		w = row_weight(t, use, i);
		return w > hits ? fmax(left_of_row(r), hits / w) : left_of_row(r);
	}
	if (!r->like || use <= USE_LSU)
		return left_of_row(r);
	w = use == USE_L1 ? row_weight(t, use, i) : 0; /* other memory: one access each */
	return w > 0 ? fmin(1, hits / w) : 0;
}

/* --- behind L1 ------------------------------------------------------------------------------ */

enum flow { FLOW_LOAD, FLOW_STORE, FLOW_ATOMIC, FLOWS };

static enum flow flow_of(enum inst_class c)
{
	return is_load(c) ? FLOW_LOAD : c == CLASS_VMEM_ATOMIC ? FLOW_ATOMIC : FLOW_STORE;
}

struct whatif_load_flows {
	double asked[FLOWS], asked_left[FLOWS]; /* sectors requested by instructions */
	double moved[FLOWS];			/* sectors moved between L1 and L2 */
	double kept[FLOWS][ENDS];		/* share of moved that is left under the plan */
};

static void find_flows(const struct loads *l, struct whatif_load_flows *f)
{
	const struct trace *t = l->t;
	double read = stated_metric(t, "lts__t_sectors_srcunit_tex_op_read.sum");

	*f = (struct whatif_load_flows){0};
	for (code_idx i = 0; i < t->n_code; i++) {
		double sectors = sectors_of(t, i);
		enum flow k = flow_of((enum inst_class)t->code[i].inst_class);

		f->asked[k] += sectors;
		f->asked_left[k] += sectors * left_of_use(t, &l->p->rows[i], i, USE_L2);
	}
	for (unsigned k = 0; k < FLOWS; k++) {
		double all = f->asked[k], rest = f->asked_left[k];

		f->moved[k] = k == FLOW_LOAD && isfinite(read) ? fmin(read, all) : all;
		f->kept[k][AT_LEAST] = all > 0 ? rest / all : 1;
		/* misses that must happen do happen, as long as so much is requested; at least half
		 * of the way to that, since repeated requests are rarely the ones that stay */
		f->kept[k][AT_MOST] =
			f->moved[k] > 0 ? fmin(1, rest / f->moved[k]) : f->kept[k][AT_LEAST];
	}
}

/* Finds what is left of a load behind L1: the share of each row, as far as its kind of requests
 * gets there. */
static void leave_behind(struct loads *l, const struct whatif_load_flows *f, enum use u)
{
	double sum[FLOWS] = {0}, rest[FLOWS] = {0}, all = 0, left[ENDS] = {0};
	double hits = 0; /* executions of rows with any load */

	for (code_idx i = 0; i < l->t->n_code; i++) {
		double w = row_weight(l->t, u, i);
		enum flow k = flow_of((enum inst_class)l->t->code[i].inst_class);

		sum[k] += w;
		hits += w > 0 ? (double)l->t->code[i].stated.hit : 0;
		rest[k] += w * left_of_use(l->t, &l->p->rows[i], i, u);
	}
	for (unsigned k = 0; k < FLOWS; k++) {
		double moved = f->asked[k] > 0 ? f->moved[k] / f->asked[k] : 1;
		double own = sum[k] > 0 ? rest[k] / sum[k] : 1; /* share of its own requests that
								   is left */
		double most = moved > 0 ? fmax(own, fmin(1, own / moved)) : own;

		all += sum[k] * moved;
		if (u == USE_SLICE && own < 1 && sum[k] > hits)
			most = fmin(1, own * SLICE_PART);
		left[AT_LEAST] += sum[k] * moved * (own + most) / 2;
		left[AT_MOST] += sum[k] * moved * most;
	}
	for (unsigned b = 0; b < ENDS; b++)
		l->left[u][b] = all > 0 ? l->used[u] * left[b] / all : l->used[u];
}

/* Upper bound: all of it, or more if an instruction became slower. */
static double capped(double part, double least)
{
	return fmax(least, fmin(1, part));
}

/* Memory serves what L2 misses. At most all of it is still needed, as long as so much is
 * requested. */
static void leave_memory(struct loads *l, const struct whatif_load_flows *f)
{
	double read = stated_or(l->t, "dram__sectors_read.sum", 0);
	double write = stated_or(l->t, "dram__sectors_write.sum", 0);
	double writes = f->moved[FLOW_STORE] + f->moved[FLOW_ATOMIC], kept[ENDS], most[2];

	if (read + write <= 0) {
		leave_behind(l, f, USE_DRAM);
		return;
	}
	most[0] = f->moved[FLOW_LOAD] > 0
			  ? f->kept[FLOW_LOAD][AT_MOST] * fmax(1, f->moved[FLOW_LOAD] / read)
			  : 1;
	for (unsigned b = 0; b < ENDS; b++)
		kept[b] = writes > 0 ? (f->moved[FLOW_STORE] * f->kept[FLOW_STORE][b] +
					       f->moved[FLOW_ATOMIC] * f->kept[FLOW_ATOMIC][b]) /
					       writes
				     : 1;
	most[1] = kept[AT_MOST] * (write > 0 ? fmax(1, writes / write) : 1);
	l->left[USE_DRAM][AT_LEAST] =
		l->used[USE_DRAM] * (read * f->kept[FLOW_LOAD][AT_LEAST] + write * kept[AT_LEAST]) /
		(read + write);
	l->left[USE_DRAM][AT_MOST] = l->used[USE_DRAM] *
				     (read * capped(most[0], f->kept[FLOW_LOAD][AT_LEAST]) +
					     write * capped(most[1], kept[AT_LEAST])) /
				     (read + write);
	l->from.memory = fmin(l->from.l2, f->asked[FLOW_LOAD] > 0 ? read / f->asked[FLOW_LOAD] : 0);
	l->from_left.memory =
		f->asked_left[FLOW_LOAD] > 0
			? fmin(l->from_left.l2, read * fmin(1, most[0]) / f->asked_left[FLOW_LOAD])
			: l->from.memory;
}

/* --- all of them ---------------------------------------------------------------------------- */

static void leave_before(struct loads *l, enum use u)
{
	double sum = 0, rest = 0;

	for (code_idx i = 0; i < l->t->n_code; i++) {
		double w = row_weight(l->t, u, i);

		sum += w;
		rest += w * left_of_use(l->t, &l->p->rows[i], i, u);
	}
	for (unsigned b = 0; b < ENDS; b++)
		l->left[u][b] = sum > 0 ? l->used[u] * rest / sum : l->used[u];
}

static void find_used(struct loads *l)
{
	double write = stated_or(l->t, "dram__sectors_write.sum", 0);
	double all = write + stated_or(l->t, "dram__sectors_read.sum", 0), atomics = 0;

	for (unsigned u = 0; u < USES; u++) {
		const struct resource *r = &resources[u];
		double pct = stated_metric(l->t, r->metric);

		if (!isfinite(pct) && r->other)
			pct = stated_metric(l->t, r->other);
		l->used[u] = isfinite(pct) && pct > 0 ? pct / 100 : 0;
		l->cap[u] = r->cap;
		l->most[u] = r->most;
	}
	for (code_idx i = 0; i < l->t->n_code; i++)
		atomics += row_weight(l->t, USE_SLICE, i);
	if (atomics <= 0 ||
		l->used[USE_SLICE] < SLICE_UNEVEN * fmax(l->used[USE_WAY], l->used[USE_TAG]))
		l->used[USE_SLICE] = 0; /* no slice is clearly fuller than the others */
	if (all > 0) {
		l->cap[USE_DRAM] -= TURN_COST * write / all;
		l->most[USE_DRAM] -= TURN_COST * write / all;
	}
	for (unsigned u = 0; u < USES; u++) {
		l->cap[u] = fmax(l->cap[u], l->used[u]);
		l->most[u] = fmax(l->most[u], l->used[u]);
	}
}

static void find_places(struct loads *l, const struct whatif_load_flows *f)
{
	double moved = f->moved[FLOW_LOAD], left = f->asked_left[FLOW_LOAD];

	l->from.l2 = f->asked[FLOW_LOAD] > 0 ? moved / f->asked[FLOW_LOAD] : 1;
	l->from_left.l2 =
		left > 0 ? fmin(1, moved * f->kept[FLOW_LOAD][AT_MOST] / left) : l->from.l2;
	l->from.memory = l->from.l2;
	l->from_left.memory = l->from_left.l2;
}

void loads_find(struct loads *l, const struct trace *t, const struct whatif_plan *p)
{
	struct whatif_load_flows f;

	*l = (struct loads){.t = t, .p = p};
	find_used(l);
	find_flows(l, &f);
	find_places(l, &f);
	for (unsigned u = 0; u < USES; u++)
		if (u < USE_WAY)
			leave_before(l, (enum use)u);
		else if (u < USE_DRAM)
			leave_behind(l, &f, (enum use)u);
	leave_memory(l, &f);
}

double loads_latency(const struct loads *l, enum inst_class c, bool is_left)
{
	double l2 = is_left ? l->from_left.l2 : l->from.l2;
	double memory = is_left ? l->from_left.memory : l->from.memory;

	switch (c) {
	case CLASS_VMEM_ATOMIC:
		return LATENCY_ATOMIC;
	case CLASS_VMEM_LOAD:
	case CLASS_VMEM_TO_LDS:
		return LATENCY_L1 + l2 * (LATENCY_L2 - LATENCY_L1) +
		       memory * (LATENCY_MEMORY - LATENCY_L2);
	case CLASS_LDS:
	case CLASS_LDS_XLANE:
	case CLASS_SMEM:
		return LATENCY_SHARED;
	case CLASS_TRANS:
		return LATENCY_TRANS;
	default:
		return LATENCY_MATH;
	}
}

enum use loads_fullest(const struct loads *l)
{
	enum use full = USE_WAY;

	for (unsigned u = USE_WAY; u <= USE_DRAM; u++)
		if (l->used[u] / l->cap[u] > l->used[full] / l->cap[full])
			full = (enum use)u;
	return full;
}

double loads_ratio(const struct loads *l, enum use u, enum end end)
{
	return l->used[u] > 0 ? l->left[u][end] / l->used[u] : 1;
}

static double cap_of(const struct loads *l, unsigned u, enum fill fill)
{
	double full = fmax(0, (l->used[u] / l->cap[u] - NEARLY_FULL) / (1 - NEARLY_FULL));

	return fill == FILL_MOST    ? l->most[u]
	       : fill == FILL_USUAL ? l->cap[u]
				    : l->cap[u] - full * (l->cap[u] - l->used[u]);
}

double loads_floor(const struct loads *l, enum end end, enum fill fill, enum use *which)
{
	double floor = 0;

	*which = USE_ISSUE;
	for (unsigned u = 0; u < USES; u++) {
		double busy = l->left[u][end] / cap_of(l, u, fill);

		if (busy > floor) {
			floor = busy;
			*which = (enum use)u;
		}
	}
	return floor;
}

double loads_before(const struct loads *l, enum fill fill)
{
	double floor = 0;

	for (unsigned u = 0; u < USES; u++)
		floor = fmax(floor, l->used[u] / cap_of(l, u, fill));
	return floor;
}

double loads_queue_part(const struct loads *l, enum use u)
{
	return fmin(1, fmax(0, (l->used[u] / l->cap[u] - QUEUE_FROM) / (QUEUE_ALL - QUEUE_FROM)));
}

const char *loads_bound_text(enum use u)
{
	return resources[u].bound;
}
