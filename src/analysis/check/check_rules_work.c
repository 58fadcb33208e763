/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_rules_work.c: did the traced waves do the kernel's work, and are they enough? Early exits,
 * matrix code that never ran, an underfilled machine, coverage, sample size.
 */

#include "analysis/check/check_internal.h"
#include "analysis/occupancy/limits.h"
#include "analysis/occupancy/occupancy.h"
#include "base/search.h"

/* Waves that ran exactly the same set of rows. */
struct path_group {
	uint64_t set[2];
	uint32_t waves, n_rows;
	uint64_t latency;
};

static int by_set(const void *pa, const void *pb)
{
	const struct path_group *a = pa, *b = pb;

	for (int i = 0; i < 2; i++)
		if (a->set[i] != b->set[i])
			return a->set[i] < b->set[i] ? -1 : 1;
	return 0;
}

/* Groups in order of their fingerprint; *n of them. NULL on lack of memory. */
static struct path_group *group_paths(struct check *c, uint32_t *n)
{
	const struct trace *t = c->trace;
	struct path_group *v = arena_zalloc(&c->arena, (size_t)t->n_tracks + 1, sizeof(*v));
	uint32_t used = 0, out = 0;

	if (!v)
		return NULL;
	EACH (const struct track_facts, f, c->gather->tracks, t->n_tracks) {
		if (f->is_read)
			v[used++] = (struct path_group){
				{f->set[0], f->set[1]}, 1, f->n_rows, f->latency};
	}
	SORT(v, used, by_set);
	for (uint32_t i = 0; i < used; i++) {
		if (out && by_set(&v[out - 1], &v[i]) == 0) {
			v[out - 1].waves++;
			v[out - 1].latency += v[i].latency;
		} else {
			v[out++] = v[i];
		}
	}
	*n = out;
	return v;
}

struct idlers {
	uint64_t waves, all_waves, latency, all_latency;
	uint32_t n_rows; /* rows of their largest cluster */
};

static void find_idlers(struct check *c, struct idlers *x)
{
	uint32_t n = 0;
	const struct path_group *v = group_paths(c, &n);

	c->is_nomem |= !v;
	for (uint32_t i = 0; v && i < n; i++) {
		x->all_waves += v[i].waves;
		x->all_latency += v[i].latency;
		if ((uint64_t)v[i].n_rows * 20 >= c->gather->n_instructions)
			continue;
		x->waves += v[i].waves;
		x->latency += v[i].latency;
		x->n_rows = v[i].n_rows > x->n_rows ? v[i].n_rows : x->n_rows;
	}
}

void rule_early_exit(struct check *c)
{
	struct idlers x = {0};
	struct finding *f;
	bool is_all;
	double share;

	find_idlers(c, &x);
	if (!x.waves)
		return;
	is_all = x.waves == x.all_waves;
	share = x.all_latency ? 100.0 * (double)x.latency / (double)x.all_latency : 0;
	f = check_add(c, "early-exit", is_all ? SEVERITY_ERROR : SEVERITY_WARNING,
		is_all ? VERDICT_UNUSABLE : VERDICT_SUSPECT);
	if (is_all)
		finding_say(c, f,
			"the capture has no working wave: all %llu leave early, after at most %u of %u instruction rows",
			(unsigned long long)x.waves, x.n_rows, c->gather->n_instructions);
	else
		finding_say(c, f,
			"%llu of %llu waves do no work (at most %u of %u instruction rows); they carry %.1f %% of latency",
			(unsigned long long)x.waves, (unsigned long long)x.all_waves, x.n_rows,
			c->gather->n_instructions, share);
	fact_int(f, "idle_waves", (int64_t)x.waves);
	fact_int(f, "waves", (int64_t)x.all_waves);
	fact_int(f, "executed_rows", x.n_rows);
	fact_int(f, "instruction_rows", c->gather->n_instructions);
	fact_int(f, "latency", (int64_t)x.latency);
	fact_real(f, "latency_pct", share, 1);
	finding_advise(c, f,
		is_all ? "capture a launch whose grid gives every wave work, or another launch (--kernel-iteration-range)"
		       : "read figures per cluster (`incore waves`); capture a launch with more work per wave");
}

void rule_matrix(struct check *c)
{
	const struct trace *t = c->trace;
	uint64_t n_rows = 0, hits = 0;
	struct finding *f;

	for (code_idx i = 0; i < t->n_code; i++)
		if (!t->code[i].is_label && t->code[i].inst_class == CLASS_MATRIX) {
			n_rows++;
			hits += c->gather->rows[i].hit;
			if (t->samples)
				hits += t->samples[i].issued + t->samples[i].stalled;
		}
	if (!n_rows || hits)
		return;
	f = check_add(c, "no-matrix-work", SEVERITY_WARNING, VERDICT_SUSPECT);
	finding_say(
		c, f, "0 of %llu matrix instructions were executed", (unsigned long long)n_rows);
	fact_int(f, "matrix_rows", (int64_t)n_rows);
	fact_int(f, "matrix_hits", 0);
	finding_advise(
		c, f, "the main path of the kernel was not taken: capture a launch that takes it");
}

static void say_underfilled(
	struct check *c, struct finding *f, const struct occupancy *o, const struct limits *l)
{
	double below = 100 * occupancy_below_half(o);
	struct strbuf b = {0};

	if (o->peak_per_simd == 1)
		finding_say(c, f,
			"never more than 1 wave per SIMD: every stall is exposed, nothing can hide it");
	else
		finding_say(c, f,
			"fewer than half of the peak of %llu waves ran for %.1f %% of the span: a long tail or late start",
			(unsigned long long)o->all.peak, below);
	fact_int(f, "peak_waves_per_simd", (int64_t)o->peak_per_simd);
	fact_int(f, "peak_waves", (int64_t)o->all.peak);
	fact_real(f, "below_half_peak_pct", below, 1);
	fact_int(f, "span_cycles", (int64_t)o->span_cyc);
	if (o->peak_per_simd > 1) {
		finding_advise(c, f,
			"balance the work between waves, or launch more of it: the tail is in every total");
	} else if (l->is_known && l->predicted > 1) {
		fact_int(f, "limit_waves_per_simd", (int64_t)l->predicted);
		finding_advise(c, f,
			"the kernel's resources allow up to %llu waves per SIMD: launch a larger grid (see `incore occupancy`)",
			(unsigned long long)l->predicted);
	} else if (l->is_known && limits_put_sentence(l, &b) && b.n) {
		fact_text(c, f, "limiter", "%s", limit_name(l->limiter));
		finding_advise(c, f, "%s; see `incore occupancy`", b.p);
	} else {
		finding_advise(c, f,
			"a larger grid, or fewer registers and LDS per wave (`incore occupancy` names the limit)");
	}
	sb_free(&b);
}

void rule_underfilled(struct check *c)
{
	struct occupancy o = {0};
	struct limits l = {0};

	if (!c->trace->n_occupancy)
		return;
	if (!occupancy_compute(&o, c->trace, &(struct occupancy_options){0}, NULL)) {
		c->is_nomem = true;
	} else if (o.peak_per_simd == 1 || occupancy_below_half(&o) > 0.30) {
		limits_compute(c->trace, &l);
		say_underfilled(
			c, check_add(c, "underfilled", SEVERITY_WARNING, VERDICT_SUSPECT), &o, &l);
	}
	occupancy_deinit(&o);
}

void rule_coverage(struct check *c)
{
	const struct trace *t = c->trace;
	int64_t whole = t->meta.launch.waves;
	bool is_launch = whole != NO_VALUE && whole > 0;
	uint32_t n = c->gather->n_read;
	struct finding *f;

	if (!is_launch) {
		whole = 0;
		for (uint32_t i = 0; i < t->n_occupancy; i++)
			whole += t->occupancy[i].is_start;
	}
	if (!n || whole <= (int64_t)n)
		return;
	f = check_add(c, "partial-coverage", SEVERITY_INFO, VERDICT_OK);
	finding_say(c, f, "instruction detail covers %u of %lld waves %s (%.2f %%)", n,
		(long long)whole, is_launch ? "launched" : "started on the traced shader engines",
		100.0 * n / (double)whole);
	fact_int(f, "waves", n);
	fact_int(f, is_launch ? "launched_waves" : "started_waves", whole);
	fact_real(f, "share", n / (double)whole, 6);
	finding_advise(c, f,
		"totals are of the sample: compare shares and cycles per execution, never scale them up");
}

void rule_short(struct check *c)
{
	const struct trace *t = c->trace;
	uint32_t n = c->gather->n_read, n_cus = 0, per_cu;
	struct finding *f;

	if (check_is_sampled(c))
		return;
	/* tracks are sorted by (se, cu, ...): a new pair is a new target CU */
	for (track_idx i = 0; i < t->n_tracks; i++)
		n_cus += i == 0 || t->tracks[i].coord[0] != t->tracks[i - 1].coord[0] ||
			 t->tracks[i].coord[1] != t->tracks[i - 1].coord[1];
	/* gfx9 traces all four SIMDs of a CU, later generations only one */
	per_cu = t->meta.vendor != VENDOR_AMD ? 0 : t->meta.gfx_major == 9 ? 4 : 1;
	if (n >= 8 && n >= n_cus * per_cu)
		return;
	f = check_add(c, "short-sample", SEVERITY_WARNING, VERDICT_SUSPECT);
	finding_say(c, f, "only %u wave%s on %u traced SIMDs: too few for statistics", n, plural(n),
		n_cus * per_cu);
	fact_int(f, "waves", n);
	fact_int(f, "simds", (int64_t)n_cus * per_cu);
	finding_advise(
		c, f, "do not quote percentiles; trace more shader engines or a larger grid");
}
