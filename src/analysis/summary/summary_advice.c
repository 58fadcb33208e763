/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary_advice.c: what to try. The exposed causes, largest first, each with its place, its
 * evidence, the smallest experiment that would tell, and what one should then see. Never a claim
 * of speed: cycles of a trace do not promise time.
 */
#include "analysis/summary/summary.h"
#include "isa/amd_waits.h"

#define MAX_ADVICE 6u
#define LEAST_SHARE 0.01 /* of all lifetimes, exposed */

struct hint {
	const char *experiment, *prediction;
};

static const struct hint wait_hints[AMD_PRODUCERS] = {
	[AMD_PRODUCER_LDS] =
		{"read the next step's LDS operands before this step's arithmetic, or relax lgkmcnt(0) to the count that is needed",
			"the wait falls to its floor of 4 cycles an execution; if the latency stays above about 64 cycles, look for bank conflicts instead"},
	[AMD_PRODUCER_LDS_XLANE] =
		{"replace one ds_bpermute/ds_swizzle step by DPP (row_shr, row_bcast) or v_permlane",
			"its lgkmcnt wait disappears with it; cross-lane wait falls by that step's share"},
	[AMD_PRODUCER_MSG] = {"move the message away from the place that needs its answer",
		"the wait falls to its floor of 4 cycles"},
	[AMD_PRODUCER_SMEM] =
		{"issue the s_load at the very start (or merge it with a wider one) and put independent work before its lgkmcnt wait",
			"the wait shrinks by the cycles of the work moved in between; the latency itself stays"},
	[AMD_PRODUCER_VMEM_ATOMIC] = {"drop the return value, or move the use of it later",
		"the vmcnt wait no longer names the atomic"},
	[AMD_PRODUCER_VMEM_LOAD] =
		{"issue the load one step (one loop iteration) earlier, into registers of its own",
			"the wait falls by the cycles of one step; the load's latency stays as it is"},
	[AMD_PRODUCER_VMEM_STORE] =
		{"wait for loads only: order the stores after the loads of the next step, or relax vmcnt",
			"the wait no longer includes the stores"},
	[AMD_PRODUCER_VMEM_TO_LDS] =
		{"add one LDS stage (deeper prefetch) and relax vmcnt by the loads of that stage",
			"the wait falls by the cycles of one stage; LDS per workgroup grows by one stage: check the occupancy limit"},
};

static const struct hint kind_hints[CAUSE_KINDS] = {
	[CAUSE_BARRIER] =
		{"give the waves of a workgroup equal work before this barrier, or split it into arrive and wait",
			"its mean falls towards the floor of 8 cycles an execution"},
	[CAUSE_SLEEP] = {"shorten the s_sleep or wait on a counter instead",
		"sleep cycles fall one for one"},
	[CAUSE_NOP_PADDING] =
		{"put independent instructions between the pair the compiler padded (unroll by two, interleave two accumulators)",
			"the s_nop disappears from the listing; its hits go to 0"},
	[CAUSE_NOP_EXCESS] = {"see which wave of the SIMD issued meanwhile; try with one wave less",
		"the excess over 4 x (N+1) cycles falls to 0"},
	[CAUSE_CROSS_PIPE] =
		{"group instructions of one pipe: move the LDS, scalar or memory instruction away from the vector result it follows",
			"gaps of 4 to 16 cycles before it disappear"},
	[CAUSE_BRANCH] = {"unroll the loop once, or turn the branch into a select",
		"half the taken branches, half of these gaps"},
	[CAUSE_GAP] = {"compare with one wave per SIMD",
		"the gaps go where no other wave competes"},
	[CAUSE_DRAIN] =
		{"store earlier, or in wider pieces, so that stores complete before the end",
			"the mean of s_endpgm falls; waves without a store end in about 20 cycles"},
};

/* The same for warps of a sampled kernel: by the class of what is waited for. */
static const struct hint sampled_waits[CLASS_COUNT] = {
	[CLASS_VMEM_LOAD] =
		{"load one step (one loop iteration) ahead into registers of its own, or with cp.async into shared memory; more warps hide it too",
			"long_scoreboard samples of this row fall; the number of loads stays"},
	[CLASS_VMEM_ATOMIC] =
		{"drop the atomic's return value (RED instead of ATOM), or use it later",
			"the row no longer waits for the atomic"},
	[CLASS_VMEM_STORE] = {"move the fence away from the stores that it waits for",
		"membar samples fall"},
	[CLASS_VMEM_TO_LDS] =
		{"add one stage to the pipeline of asynchronous copies and wait for all but the newest",
			"samples at the wait fall; shared memory of a block grows by a stage: check the occupancy limit"},
	[CLASS_LDS] =
		{"read the next step's operands from shared memory before this step's arithmetic; compare memory_l1_wavefronts_shared with its ideal for bank conflicts",
			"short_scoreboard samples of this row fall"},
	[CLASS_LDS_XLANE] = {"do independent work between the shuffle and its use",
		"short_scoreboard samples of this row fall"},
	[CLASS_SMEM] = {"load constants once before the loop, or pass them as parameters",
		"imc_miss samples fall"},
	[CLASS_TRANS] = {"put independent work between the special function and its use",
		"short_scoreboard samples of this row fall"},
	[CLASS_MATRIX] = {"let more matrix work be in flight before it is waited for",
		"samples at the wait fall; the matrix pipe is busier"},
	[CLASS_MSG] = {"read the special register once, early", "the row no longer waits for it"},
};

static const struct hint sampled_kinds[CAUSE_KINDS] = {
	[CAUSE_BARRIER] =
		{"give the warps of a block equal work before this barrier, or make blocks smaller",
			"barrier samples fall"},
	[CAUSE_SLEEP] = {"shorten the sleep", "sleeping samples fall"},
	[CAUSE_NOP_PADDING] =
		{"put independent instructions between those that depend on each other (unroll, more accumulators), or run more warps",
			"wait samples turn into issued ones"},
	[CAUSE_BRANCH] =
		{"unroll the loop, or make the code of the loop smaller than the instruction cache",
			"branch_resolving and no_instructions samples fall"},
	[CAUSE_GAP] = {"nothing here: another warp was ready too", "no change in time"},
	[CAUSE_DRAIN] = {"store earlier, or in wider pieces", "drain samples fall"},
	[CAUSE_PIPE_STALL] =
		{"use fewer, wider instructions of this pipe, or spread them between others",
			"throttle samples of this row fall"},
};

static struct hint sampled_hint(const struct cause *x)
{
	struct hint none = {"look at the instruction in incore isa", "the row costs less"};
	struct hint h =
		x->kind == CAUSE_WAIT ? sampled_waits[x->inst_class] : sampled_kinds[x->kind];

	return h.experiment ? h : none;
}

static const char *const matrix_experiment =
	"interleave a second, independent accumulator between dependent matrix instructions";
static const char *const queue_experiment =
	"use wider accesses (dwordx4) or spread them between arithmetic: the queue is full here";

static struct hint hint_of(const struct summary *s, const struct cause *x)
{
	if (trace_is_sampled(s->trace))
		return sampled_hint(x);
	if (x->kind == CAUSE_WAIT) {
		unsigned mask = (x->key | x->key >> 8 | x->key >> 16 | x->key >> 24) & 0xff;

		for (unsigned p = AMD_PRODUCERS; p-- > 0;)
			if (mask >> p & 1)
				return wait_hints[p];
		return (struct hint){
			"remove the wait: nothing was outstanding", "4 cycles less an execution"};
	}
	if (x->kind != CAUSE_PIPE_STALL)
		return kind_hints[x->kind];
	if (x->inst_class == CLASS_MATRIX)
		return (struct hint){matrix_experiment, "stall per execution falls; issue stays"};
	if (x->inst_class >= CLASS_VMEM_LOAD && x->inst_class <= CLASS_LDS_XLANE)
		return (struct hint){queue_experiment, "stall per execution of this row falls"};
	return (struct hint){"put an independent instruction before the one that stalls",
		"stall moves or disappears: a dependency; stays: the pipe is taken by other waves"};
}

static void put_cell(struct strbuf *out, const struct cause_cell *c, bool is_sampled)
{
	sb_puts(out, "; here ");
	sb_put_u64(out, c->cyc);
	sb_printf(out, " cycle%s in ", plural(c->cyc));
	sb_put_u64(out, c->hits);
	if (is_sampled) {
		sb_printf(out, " sample%s", plural(c->hits));
		return;
	}
	sb_printf(
		out, " execution%s, %.1f each", plural(c->hits), (double)c->cyc / (double)c->hits);
}

static bool put_evidence(const struct summary *s, const struct advice *a, struct strbuf *out)
{
	const struct cause *x = &s->causes->v[a->cause];
	uint32_t n;
	const struct cause_cell *cells = causes_of_row(s->causes, a->code, &n);
	const struct producer_edge *edge;

	sb_put_u64(out, a->exposed_cyc);
	sb_puts(out, " exposed of ");
	sb_put_u64(out, x->cyc);
	sb_printf(out, " cycles (%.1f %% of all)",
		100.0 * (double)a->exposed_cyc / (double)s->duration_cyc);
	for (uint32_t i = 0; i < n; i++)
		if (cells[i].cause == a->cause && cells[i].hits)
			put_cell(out, &cells[i], trace_is_sampled(s->trace));
	edge = x->kind == CAUSE_WAIT ? summary_edge_of(s, a->code) : NULL;
	if (edge && edge->latency.n)
		sb_printf(out, "; latency of row %lld: median %llu, p95 %llu cycles",
			(long long)s->trace->code[edge->producer].number,
			(unsigned long long)edge->latency.median,
			(unsigned long long)edge->latency.p95);
	return !out->failed;
}

static bool add_advice(struct summary *s, uint32_t cause)
{
	struct advice *a = &s->advice[s->n_advice];
	const struct cause *x = &s->causes->v[cause];
	struct hint h = hint_of(s, x);
	struct strbuf text = {0};
	uint64_t at;

	*a = (struct advice){.cause = cause,
		.exposed_cyc = x->cyc - x->hidden_cyc,
		.experiment = h.experiment,
		.prediction = h.prediction};
	a->code = summary_row_of_cause(s, cause, &at);
	if (a->code == NO_CODE || !h.experiment)
		return true;
	put_evidence(s, a, &text);
	a->evidence = text.failed ? NULL : arena_strdup(&s->arena, text.p);
	sb_free(&text);
	s->n_advice++;
	return a->evidence != NULL;
}

/* Largest exposed cause not yet taken; UINT32_MAX when none is worth a line. */
static uint32_t next_cause(const struct summary *s, const bool *taken)
{
	uint32_t best = UINT32_MAX;
	uint64_t most = (uint64_t)((double)s->duration_cyc * LEAST_SHARE);

	for (uint32_t i = 0; i < s->causes->n; i++) {
		const struct cause *x = &s->causes->v[i];

		if (taken[i] || x->family == FAMILY_USEFUL || x->family == FAMILY_LAUNCH ||
			x->cyc - x->hidden_cyc <= most)
			continue;
		most = x->cyc - x->hidden_cyc;
		best = i;
	}
	return best;
}

bool summary_make_advice(struct summary *s, struct incore_error *e)
{
	bool *taken = arena_zalloc(&s->arena, (size_t)s->causes->n + 1, sizeof(*taken));
	uint32_t i;

	s->advice = arena_zalloc(&s->arena, MAX_ADVICE, sizeof(*s->advice));
	if (!taken || !s->advice)
		return err_nomem(e);
	while (s->bound.has_verdict && s->n_advice < MAX_ADVICE &&
		(i = next_cause(s, taken)) != UINT32_MAX) {
		taken[i] = true;
		if (!add_advice(s, i))
			return err_nomem(e);
	}
	return true;
}
