/* SPDX-License-Identifier: Apache-2.0 */
/*
 * * rules_waves.c: the rules for waves and samples. Each lost cause of each row goes to at most one
 * rule; all rows of a rule form one piece of advice. Divisions: which question is asked; rules.
 */
#include <math.h>
#include <stdio.h>

#include "analysis/advise/advise_internal.h"
#include "analysis/code/samples.h"
#include "analysis/summary/hoist.h"
#include "analysis/summary/summary.h"
#include "base/search.h"
#include "isa/amd_operands.h"
#include "isa/amd_waits.h"
#include "trace/kind.h"

/* --- which question is asked ------------------------------------------------------------------ */

static const struct ask {
	enum advise_question ask;
	unsigned n;	     /* AHEAD: executions; FASTER: K; 0: K follows from the layout */
	double least;	     /* least share for advice; 0: ADVISE_LEAST */
	bool is_of_producer; /* ask about the producer, not the waiting row */
} asks[ADVISE_RULES] = {
	[ADVISE_LATE_LOAD] = {ADVISE_ASK_AHEAD, 1, 0, true},
	[ADVISE_START_LOAD] = {ADVISE_ASK_FASTER,
		4}, /* four elements a wave: a quarter of the waits */
	[ADVISE_LATE_COPY] = {ADVISE_ASK_AHEAD, 1, 0, true},
	[ADVISE_LATE_LDS] = {ADVISE_ASK_AHEAD, 1, 0, true},
	[ADVISE_LDS_WRITE] = {ADVISE_ASK_AHEAD, 1, 0, true},
	[ADVISE_LATE_SCALAR] = {ADVISE_ASK_AHEAD, 1, 0, true},
	[ADVISE_CROSS_LANE] = {ADVISE_ASK_REMOVE, 0},
	[ADVISE_STORE_IN_WAIT] = {ADVISE_ASK_REMOVE, 0},
	[ADVISE_EMPTY_WAIT] = {ADVISE_ASK_REMOVE, 0},
	[ADVISE_UNEVEN_BARRIER] = {ADVISE_ASK_EVEN, 0},
	[ADVISE_NOP_PADDING] = {ADVISE_ASK_REMOVE, 0},
	[ADVISE_DEPENDENT_CHAIN] = {ADVISE_ASK_AHEAD, 3, 0.10, true}, /* four accumulators */
	[ADVISE_MATRIX_CHAIN] = {ADVISE_ASK_FASTER, 2},
	[ADVISE_NARROW_ACCESS] = {ADVISE_ASK_FASTER, 4},
	[ADVISE_UNCOALESCED] = {ADVISE_ASK_FASTER, 0, 0, true},
	[ADVISE_BANK_CONFLICTS] = {ADVISE_ASK_FASTER, 0, 0, true},
	[ADVISE_SPILL] = {ADVISE_ASK_REMOVE, 0, 0, true},
	[ADVISE_ATOMICS] = {ADVISE_ASK_REMOVE, 0, 0, true},
	[ADVISE_FENCE] = {ADVISE_ASK_REMOVE, 0},
	[ADVISE_FETCH] = {ADVISE_ASK_FASTER, 2, 0.05},
	[ADVISE_SPECIAL] = {ADVISE_ASK_FASTER, 2, 0.05},
	[ADVISE_SHORT_LOOP] = {ADVISE_ASK_REMOVE, 0, 0.02},
	[ADVISE_END_DRAIN] = {ADVISE_ASK_FASTER, 2},
};

#define BARRIER_LEAST 0.05 /* samples: evenly shared work waits at barriers, too */

/* Least share of all lifetimes at which the rule gives advice. */
static double advise_least(enum advise_rule_id rule, bool is_sampled)
{
	if (is_sampled && rule == ADVISE_UNEVEN_BARRIER)
		return BARRIER_LEAST;
	return asks[rule].least > 0 ? asks[rule].least : ADVISE_LEAST;
}

/* What a question would have to change where it cannot be asked. */
static const char no_wait_row[] = "samples have no wait that could be shortened by itself",
		  no_earlier_turn[] = "the code runs once: there is no earlier turn to ask in",
		  no_producer[] = "no instruction is known that could be changed";

/* Outside of loops nothing has an earlier turn: there a load can only move up, as far as its
 * operands allow. */
static enum advise_question question_outside_loops(
	const struct summary *s, const struct advise_hit *h, bool *is_of_producer)
{
	if (h->rule == ADVISE_DEPENDENT_CHAIN)
		return ADVISE_ASK_NOTHING;
	*is_of_producer = !s->is_sampled && h->of != NO_CODE &&
			  (h->rule == ADVISE_LATE_SCALAR || h->rule == ADVISE_LATE_LDS) &&
			  hoist_of(s, h->of).cyc >= 1;
	return *is_of_producer ? ADVISE_ASK_SOONER : ADVISE_ASK_REMOVE;
}

/* In sampled data waits are not instructions that could be removed, and code that runs once has no
 * earlier iteration. */
static enum advise_question question_of(const struct summary *s, const struct advise_hit *h,
	bool *is_of_producer, const char **unasked)
{
	const bool is_sampled = s->is_sampled;
	const bool is_wait = s->causes->v[h->cause].kind == CAUSE_WAIT;
	const uint32_t block = s->cfg.block_of[h->code];
	const bool is_in_loop = block != NO_BLOCK && s->cfg.blocks[block].loop != NO_LOOP;
	enum advise_question q = asks[h->rule].ask;

	*is_of_producer = asks[h->rule].is_of_producer;
	if (q == ADVISE_ASK_AHEAD && !is_in_loop) {
		q = question_outside_loops(s, h, is_of_producer);
		*unasked = no_earlier_turn;
	}
	if (is_sampled && is_wait && !*is_of_producer && h->rule != ADVISE_FENCE) {
		*unasked = no_wait_row;
		return ADVISE_ASK_NOTHING;
	}
	return q;
}

/* As many times faster as the layout makes it slower. */
static double factor_of_layout(const struct trace *t, const struct advice *a)
{
	const char *name = a->rule == ADVISE_UNCOALESCED ? SUMMARY_SECTORS : SUMMARY_WAVEFRONTS;
	double k = a->n_asked ? summary_excess(t, name, a->asked[0]) : 0;

	return k > 1 ? k : 2;
}

/* Has the question make the rows faster by a measured factor, to a tenth. */
static void advise_measured(struct advice *a, double factor)
{
	double tenths = nearbyint(factor * 10);

	a->change.faster_milli = tenths < 1e7 ? (uint32_t)tenths * 100 : 1000000000;
	a->is_measured = true;
}

/* What a question changes on a row. */
static void set_change(const struct summary *s, const struct ask *ask, struct advice *a)
{
	a->change = (struct whatif_row){.faster_milli = WHATIF_PLAIN};
	if (a->ask == ADVISE_ASK_REMOVE)
		a->change.is_removed = true;
	else if (a->ask == ADVISE_ASK_EVEN)
		a->change.is_even = true;
	else if (a->ask == ADVISE_ASK_SOONER)
		a->change.sooner_cyc = (uint32_t)hoist_of(s, a->asked[0]).cyc;
	else if (a->ask == ADVISE_ASK_AHEAD)
		a->change.ahead = ask->n;
	else if (a->ask == ADVISE_ASK_FASTER && ask->n)
		a->change.faster_milli = ask->n * 1000;
	else if (a->ask == ADVISE_ASK_FASTER)
		advise_measured(a, factor_of_layout(s->trace, a));
}

/* Fetches and drains belong to no instruction: for samples the question is about the sampler's
 * reason. */
static uint32_t waves_reason_of(const struct trace *t, enum advise_rule_id rule)
{
	const char *cause = rule == ADVISE_FETCH       ? "gap:fetch"
			    : rule == ADVISE_END_DRAIN ? "drain"
						       : "";

	for (uint32_t i = 0; trace_kind(t) == KIND_SAMPLES && i < t->n_reasons; i++)
		if (strcmp(sample_cause_of(t->reasons[i])->name, cause) == 0)
			return i;
	return NO_REASON;
}

/* May whatif be asked about the row? More accumulators only help arithmetic, not a branch. */
static bool may_ask(const struct trace *t, const struct advice *a, code_idx row)
{
	enum inst_class c = (enum inst_class)t->code[row].inst_class;

	return a->rule != ADVISE_DEPENDENT_CHAIN || c == CLASS_VALU || c == CLASS_MATRIX ||
	       c == CLASS_TRANS;
}

/* Asks about what a row waits for; for samples, about all producers of that class. */
static void ask_producers(
	const struct blame *b, const struct advise_hit *h, struct advise_list *l, struct advice *a)
{
	const struct trace *t = b->s->trace;

	if (may_ask(t, a, h->of))
		advise_ask_row(l, a, h->of);
	for (uint32_t at = b->first[h->code]; b->s->is_sampled && at; at = b->next[at - 1]) {
		code_idx row = b->s->producers->edges.v[at - 1].producer;

		if (t->code[row].inst_class == t->code[h->of].inst_class && may_ask(t, a, row))
			advise_ask_row(l, a, row);
	}
}

/* Sets the whatif question for the hits of a rule, costliest first. */
static void advise_ask(const struct blame *b, const struct advise_hit *h, size_t n,
	struct advise_list *l, struct advice *a)
{
	const struct summary *s = b->s;
	bool is_of_producer;

	a->ask = question_of(s, h, &is_of_producer, &a->unasked);
	a->reason = waves_reason_of(s->trace, h->rule);
	for (size_t i = 0; a->ask != ADVISE_ASK_NOTHING && a->reason == NO_REASON && i < n; i++)
		if (is_of_producer && h[i].of != NO_CODE)
			ask_producers(b, &h[i], l, a);
		else
			advise_ask_row(l, a, h[i].code);
	if (a->reason == NO_REASON && !a->n_asked) {
		a->ask = ADVISE_ASK_NOTHING;
		a->unasked = a->unasked ? a->unasked : no_producer;
	}
	set_change(s, &asks[h->rule], a);
}

/* --- rules ------------------------------------------------------------------------------------ */

#define SHORT_LOOP_ROWS 24u
#define BARRIER_LEAST_CYC 32u  /* per meeting: four times its floor */
#define DRAIN_LEAST_CYC 64u    /* per wave: three times its length without stores */
#define NEIGHBOURS 2u	       /* rows apart */
#define FENCE_ROWS 5u	       /* rows of one fence */
#define FETCH_LEAST_ROWS 1024u /* for samples: smaller code stays in the caches */
#define WAITING_LEAST 0.10     /* of all lifetimes, exposed to memory: worth another wave */

/* --- what a row is --------------------------------------------------------------------------- */

static const char *opcode_of(const struct trace *t, code_idx i)
{
	return t->opcodes[t->code[i].opcode];
}

static bool is_scratch(const struct trace *t, code_idx i)
{
	const char *op = opcode_of(t, i);

	return strncmp(op, "scratch_", 8) == 0 || strncmp(op, "LDL", 3) == 0 ||
	       strncmp(op, "STL", 3) == 0;
}

static bool is_lds_write(const char *op)
{
	return strncmp(op, "ds_write", 8) == 0 || strncmp(op, "ds_store", 8) == 0 ||
	       strncmp(op, "STS", 3) == 0;
}

/* Is the access four bytes per lane or fewer, with another of its kind next to it? */
static bool is_narrow(const struct trace *t, code_idx i)
{
	static const char *const wide[] = {
		"x2", "x3", "x4", "b64", "b96", "b128", ".64", ".128", NULL};
	const char *op = opcode_of(t, i);
	code_idx first = i > NEIGHBOURS ? i - NEIGHBOURS : 0;
	enum inst_class c = (enum inst_class)t->code[i].inst_class;

	if (c != CLASS_VMEM_LOAD && c != CLASS_VMEM_STORE)
		return false;
	for (unsigned k = 0; wide[k]; k++)
		if (strstr(op, wide[k]))
			return false;
	for (code_idx k = first; k <= i + NEIGHBOURS && k < t->n_code; k++)
		if (k != i && t->code[k].opcode == t->code[i].opcode)
			return true;
	return false;
}

/* Does the previous matrix instruction in the block write what this one reads? */
static bool is_chained(const struct summary *s, code_idx row)
{
	const struct trace *t = s->trace;
	struct amd_operands mine, before;
	const struct cfg_block *b;
	uint32_t at;

	if (t->meta.vendor != VENDOR_AMD || s->cfg.block_of[row] == NO_BLOCK)
		return false;
	b = &s->cfg.blocks[s->cfg.block_of[row]];
	for (at = b->first; at < b->first + b->n && s->cfg.rows[at] != row; at++)
		;
	while (at-- > b->first && t->code[s->cfg.rows[at]].inst_class != CLASS_MATRIX)
		;
	if (at + 1 <= b->first)
		return false;
	amd_operands_row(
		t->meta.gfx_major, (struct str){t->code[row].text, t->code[row].text_len}, &mine);
	row = s->cfg.rows[at];
	amd_operands_row(
		t->meta.gfx_major, (struct str){t->code[row].text, t->code[row].text_len}, &before);
	return amd_regs_meet(&before.writes, &mine.reads);
}

static bool is_in_loop(const struct summary *s, code_idx row)
{
	uint32_t b = s->cfg.block_of[row];

	return b != NO_BLOCK && s->cfg.blocks[b].loop != NO_LOOP;
}

/* The branch that closes a short loop around the row, or NO_CODE. */
static code_idx short_loop_of(const struct summary *s, code_idx row)
{
	uint32_t b = s->cfg.block_of[row];
	uint32_t l = b == NO_BLOCK ? NO_LOOP : s->cfg.blocks[b].loop;

	return l != NO_LOOP && s->cfg.loops[l].n_rows <= SHORT_LOOP_ROWS
		       ? cfg_block_last(&s->cfg, s->cfg.loops[l].latch)
		       : NO_CODE;
}

/* --- who was waited for ---------------------------------------------------------------------- */

static bool blame_index(struct blame *b)
{
	const struct producers *p = b->s->producers;
	uint32_t n = b->s->trace->n_code;

	b->first = mem_zalloc((size_t)n + 1, sizeof(*b->first));
	b->next = mem_zalloc(p->edges.n + 1, sizeof(*b->next));
	for (size_t i = p->edges.n; b->first && b->next && i-- > 0;) {
		if (p->edges.v[i].wait >= n)
			continue;
		b->next[i] = b->first[p->edges.v[i].wait];
		b->first[p->edges.v[i].wait] = (uint32_t)i + 1;
	}
	for (uint32_t i = 0; b->s->is_sampled && i < n; i++)
		b->n_sampled +=
			b->s->trace->samples[i].issued + b->s->trace->samples[i].stalled > 0;
	return b->first && b->next;
}

/* The edges of sampled data mix all reasons of the row. If a wait has two counters that share its
 * cycles, the one with the longer instructions is to blame. */
static code_idx waves_producer_of(const struct blame *b, const struct cause *x, code_idx row)
{
	const struct trace *t = b->s->trace;
	const struct producer_edge *edges = b->s->producers->edges.v, *best = NULL;

	for (uint32_t at = edges ? b->first[row] : 0; at; at = b->next[at - 1]) {
		const struct producer_edge *y = &edges[at - 1];

		if (b->s->is_sampled && t->code[y->producer].inst_class != x->inst_class)
			continue;
		if (!best || (y->stall_cyc + y->shared_cyc == best->stall_cyc + best->shared_cyc &&
				     y->latency.median > best->latency.median))
			best = y;
	}
	return best ? best->producer : NO_CODE;
}

/* The barrier that a row waits at. */
static code_idx barrier_of(const struct blame *b, code_idx row)
{
	const struct trace *t = b->s->trace;

	for (uint32_t at = b->first[row]; at; at = b->next[at - 1]) {
		code_idx producer = b->s->producers->edges.v[at - 1].producer;

		if (t->code[producer].inst_class == CLASS_BARRIER)
			return producer;
	}
	return row;
}

/* The fence that the row belongs to: the rows that check for errors and empty caches come after
 * it. */
static code_idx fence_of(const struct trace *t, code_idx row)
{
	for (code_idx at = row; at + FENCE_ROWS > row; at--) {
		if (strncmp(opcode_of(t, at), "MEMBAR", 6) == 0)
			return at;
		if (at == 0)
			break;
	}
	return row;
}

/* --- which rule ------------------------------------------------------------------------------ */

/* Rule for a wait, by what it waits for and whether it is in a loop. */
static enum advise_rule_id rule_of_producer(const struct summary *s, const struct advise_hit *h)
{
	const struct trace *t = s->trace;
	const bool is_nvidia = t->meta.vendor == VENDOR_NVIDIA;

	switch ((enum inst_class)t->code[h->of].inst_class) {
	case CLASS_VMEM_LOAD:
		return is_in_loop(s, h->code) ? ADVISE_LATE_LOAD : ADVISE_START_LOAD;
	case CLASS_VMEM_TO_LDS:
		return ADVISE_LATE_COPY;
	case CLASS_VMEM_STORE: /* NVIDIA: waits until the registers are read, not until the store
				  is done */
		return is_nvidia ? ADVISE_RULES : ADVISE_STORE_IN_WAIT;
	case CLASS_LDS:
		if (!is_lds_write(opcode_of(t, h->of)))
			return ADVISE_LATE_LDS;
		return is_nvidia ? ADVISE_RULES : ADVISE_LDS_WRITE;
	case CLASS_LDS_XLANE:
		return ADVISE_CROSS_LANE;
	case CLASS_SMEM: /* nothing stands before the first loads: what is waited for is the launch */
		return s->is_sampled || is_in_loop(s, h->code) ||
				       hoist_is_worth(s, h->of, (double)h->cyc / (double)h->hits)
			       ? ADVISE_LATE_SCALAR
			       : ADVISE_RULES;
	case CLASS_VMEM_ATOMIC:
		return ADVISE_ATOMICS;
	default:
		return ADVISE_RULES;
	}
}

/* A wait in sampled data is blamed on the layout of the producer's accesses if that is bad. */
static enum advise_rule_id rule_of_wait(
	const struct blame *b, const struct cause *x, struct advise_hit *h)
{
	const struct trace *t = b->s->trace;

	if (!b->s->is_sampled && x->key == 0)
		return ADVISE_EMPTY_WAIT;
	h->of = waves_producer_of(b, x, h->code);
	/* what a fence waits for is not one instruction */
	if (b->s->is_sampled && strcmp(x->name, "wait:VMEM-store") == 0 &&
		(h->of == NO_CODE || t->code[h->of].inst_class != CLASS_VMEM_STORE)) {
		h->of = NO_CODE;
		h->code = fence_of(t, h->code);
		return ADVISE_FENCE;
	}
	if (h->of == NO_CODE)
		return ADVISE_RULES;
	if (is_scratch(t, h->of))
		return ADVISE_SPILL;
	if (summary_excess(t, SUMMARY_SECTORS, h->of) > 0)
		return ADVISE_UNCOALESCED;
	if (summary_excess(t, SUMMARY_WAVEFRONTS, h->of) > 0)
		return ADVISE_BANK_CONFLICTS;
	return rule_of_producer(b->s, h);
}

static enum advise_rule_id rule_of_stall(const struct summary *s, const struct advise_hit *h)
{
	const struct trace *t = s->trace;

	if (is_scratch(t, h->code))
		return ADVISE_SPILL;
	if (summary_excess(t, SUMMARY_SECTORS, h->code) > 0)
		return ADVISE_UNCOALESCED;
	if (summary_excess(t, SUMMARY_WAVEFRONTS, h->code) > 0)
		return ADVISE_BANK_CONFLICTS;
	if (is_narrow(t, h->code))
		return ADVISE_NARROW_ACCESS;
	if (t->code[h->code].inst_class == CLASS_MATRIX && is_chained(s, h->code))
		return ADVISE_MATRIX_CHAIN;
	return s->is_sampled && t->code[h->code].inst_class == CLASS_TRANS ? ADVISE_SPECIAL
									   : ADVISE_RULES;
}

static enum advise_rule_id rules_waves_rule_of(const struct blame *b, const struct cause *x,
	const struct cause_cell *c, struct advise_hit *h)
{
	const struct summary *s = b->s;
	const bool is_sampled = s->is_sampled;
	code_idx at;

	switch (x->kind) {
	case CAUSE_WAIT: /* a wait that does not block costs its floor */
		return is_sampled || !x->key || c->cyc > UINT64_C(2) * WAIT_FLOOR_CYC * c->hits
			       ? rule_of_wait(b, x, h)
			       : ADVISE_RULES;
	case CAUSE_PIPE_STALL:
		return rule_of_stall(s, h);
	case CAUSE_BARRIER:
		if (is_sampled) /* the next instruction has the samples, but the barrier is to
				   blame */
			h->code = barrier_of(b, h->code);
		return is_sampled || c->cyc >= BARRIER_LEAST_CYC * c->hits ? ADVISE_UNEVEN_BARRIER
									   : ADVISE_RULES;
	case CAUSE_NOP_PADDING:
		if (!is_sampled)
			return ADVISE_NOP_PADDING;
		if (b->first[h->code])
			h->of = s->producers->edges.v[b->first[h->code] - 1].producer;
		return ADVISE_DEPENDENT_CHAIN;
	case CAUSE_BRANCH:
		if (strcmp(x->name, "gap:fetch") == 0) /* small code waits for its branches */
			return b->n_sampled >= FETCH_LEAST_ROWS ? ADVISE_FETCH : ADVISE_RULES;
		at = short_loop_of(s, h->code);
		if (at == NO_CODE)
			return ADVISE_RULES;
		h->code = at; /* the gap is at the target, but the branch is to blame */
		return ADVISE_SHORT_LOOP;
	case CAUSE_DRAIN:
		if (is_sampled && h->code > 0 &&
			strcmp(opcode_of(s->trace, h->code - 1), "EXIT") == 0)
			h->code--; /* rows after the end never run */
		return is_sampled || c->cyc > DRAIN_LEAST_CYC * c->hits ? ADVISE_END_DRAIN
									: ADVISE_RULES;
	default:
		return ADVISE_RULES;
	}
}

static bool waves_gather(const struct blame *b, struct advise_hits *out)
{
	const struct summary *s = b->s;

	for (uint32_t i = 0; i < s->causes->n_cells; i++) {
		const struct cause_cell *c = &s->causes->cells[i];
		struct advise_hit h = {.code = c->code,
			.of = NO_CODE,
			.cause = c->cause,
			.cyc = c->cyc,
			.exposed_cyc = c->cyc - c->hidden_cyc,
			.hits = c->hits};

		if (c->code >= s->trace->n_code || !h.exposed_cyc)
			continue;
		h.rule = rules_waves_rule_of(b, &s->causes->v[c->cause], c, &h);
		h.line = s->is_sampled ? summary_line_key(s->trace, h.code) : 0;
		if (h.rule != ADVISE_RULES && !VEC_PUSH(out, h))
			return false;
	}
	return true;
}

/* --- rules of the whole kernel --------------------------------------------------------------- */

/* Finds kernels that wait for memory while only registers or LDS prevent another wave. */
static bool few_waves(const struct summary *s, struct advise_list *l)
{
	const unsigned own = 1u << LIMIT_VGPR | 1u << LIMIT_LDS;
	const struct family_sum *f = s->causes->family;
	uint64_t exposed = f[FAMILY_MEMORY].cyc - f[FAMILY_MEMORY].hidden_cyc +
			   f[FAMILY_CROSS_LANE].cyc - f[FAMILY_CROSS_LANE].hidden_cyc;
	struct advice a = {.rule = ADVISE_FEW_WAVES,
		.cause = "occupancy",
		.code = NO_CODE,
		.of = NO_CODE,
		.exposed_cyc = exposed,
		.ask = ADVISE_ASK_WAVES,
		.reason = NO_REASON,
		.waves = 1};
	struct strbuf b = {0};
	bool ok;

	if (!s->limits.is_known || !(s->limits.limiter_mask & own) ||
		s->limits.limiter_mask & ~own ||
		(double)exposed < WAITING_LEAST * (double)s->duration_cyc)
		return true;
	limits_put_sentence(&s->limits, &b);
	sb_puts(&b, "; ");
	limits_put_next_step(&s->limits, &b);
	sb_printf(&b, "; %.1f %% of all cycles wait for memory with nothing else issuing",
		100.0 * (double)exposed / (double)s->duration_cyc);
	ok = advise_add(l, &a, &b);
	sb_free(&b);
	return ok;
}

static bool few_lanes(const struct summary *s, struct advise_list *l)
{
	code_idx split;
	double lanes = summary_few_lanes(s->trace, &split);
	struct advice a = {.rule = ADVISE_FEW_LANES,
		.cause = "divergence",
		.code = split,
		.of = NO_CODE,
		.exposed_cyc = (uint64_t)((double)s->hot->all.bucket[BUCKET_ISSUE] *
					  (1 - lanes / SUMMARY_LANES)),
		.ask = ADVISE_ASK_FASTER,
		.reason = NO_REASON};
	struct strbuf b = {0};
	bool ok;

	if (lanes <= 0 || (double)a.exposed_cyc < ADVISE_LEAST * (double)s->duration_cyc)
		return true;
	a.asked = arena_zalloc(l->arena, (size_t)s->trace->n_code + 1, sizeof(*a.asked));
	if (!a.asked)
		return false;
	a.n_asked = summary_few_lanes_rows(s->trace, a.asked, s->trace->n_code);
	advise_measured(&a, SUMMARY_LANES / lanes);
	sb_printf(&b,
		"%.1f of %d lanes are on on average; of the cycles that issued %.1f %% did no work",
		lanes, SUMMARY_LANES, 100 * (1 - lanes / SUMMARY_LANES));
	ok = advise_add(l, &a, &b);
	sb_free(&b);
	return ok;
}

/* --- evidence -------------------------------------------------------------------------------- */

static void waves_put_access(const struct trace *t, const struct advise_hit *h, struct strbuf *b)
{
	code_idx row = h->of == NO_CODE ? h->code : h->of;
	double sectors = summary_excess(t, SUMMARY_SECTORS, row);
	double passes = summary_excess(t, SUMMARY_WAVEFRONTS, row);

	if (h->rule == ADVISE_UNCOALESCED)
		sb_printf(b, "; row %lld moves %.1f x the sectors that it must",
			(long long)t->code[row].number, sectors);
	if (h->rule == ADVISE_BANK_CONFLICTS)
		sb_printf(b, "; row %lld takes %.1f x the passes that it must",
			(long long)t->code[row].number, passes);
}

static void rules_waves_put_evidence(const struct summary *s, const struct advise_hit *h,
	const struct advice *a, struct strbuf *b)
{
	const char *what = s->is_sampled ? "sample" : "execution";
	const struct producer_edge *edge =
		s->causes->v[h->cause].kind == CAUSE_WAIT ? summary_edge_of(s, h->code) : NULL;

	sb_put_u64(b, a->exposed_cyc);
	sb_printf(b, " cycle%s exposed (%.1f %% of all) in %u row%s; here ", plural(a->exposed_cyc),
		100.0 * (double)a->exposed_cyc / (double)s->duration_cyc, a->n_found,
		plural(a->n_found));
	sb_put_u64(b, h->cyc);
	sb_printf(b, " cycle%s in ", plural(h->cyc));
	sb_put_u64(b, h->hits);
	sb_printf(b, " %s%s", what, plural(h->hits));
	if (h->hits && !s->is_sampled)
		sb_printf(b, ", %.1f each", (double)h->cyc / (double)h->hits);
	if (edge && edge->latency.n)
		sb_printf(b, "; latency of row %lld: median %llu, p95 %llu cycles",
			(long long)s->trace->code[edge->producer].number,
			(unsigned long long)edge->latency.median,
			(unsigned long long)edge->latency.p95);
	waves_put_access(s->trace, h, b);
}

/* --- one advice a rule ------------------------------------------------------------------------ */

static bool add_hits(
	const struct blame *blame, const struct advise_hit *h, size_t n, struct advise_list *l)
{
	const struct summary *s = blame->s;
	struct advice a = {.rule = h->rule,
		.cause = s->causes->v[h->cause].name,
		.code = h->code,
		.of = h->of};
	struct strbuf b = {0};
	bool ok;

	for (size_t i = 0; i < n; i++) {
		a.exposed_cyc += h[i].exposed_cyc;
		advise_add_row(&a, h[i].code);
	}
	if ((double)a.exposed_cyc < advise_least(h->rule, s->is_sampled) * (double)s->duration_cyc)
		return true;
	rules_waves_put_evidence(s, h, &a, &b);
	advise_ask(blame, h, n, l, &a);
	ok = advise_add(l, &a, &b);
	sb_free(&b);
	return ok;
}

ORDER(by_line, struct advise_hit, UP(rule) UP(line) UP(code) UP(cause))
ORDER(by_rule, struct advise_hit,
	UP(rule) DOWN(line_cyc) UP(line) DOWN(exposed_cyc) UP(code) UP(cause))

/* An unrolled loop spreads the cost of one line over many rows: for samples sort by the costliest
 * line, then by its costliest row. A row without a line counts as a line of its own. */
static void sort_hits(struct advise_hits *h)
{
	struct advise_hit *v = h->v;

	SORT(v, h->n, by_line);
	for (size_t i = 0, k; i < h->n; i = k) {
		uint64_t sum = 0;

		for (k = i; k < h->n && (k == i || (v[i].line && v[k].line == v[i].line &&
							   v[k].rule == v[i].rule));
			k++)
			sum += v[k].exposed_cyc;
		for (size_t at = i; at < k; at++)
			v[at].line_cyc = sum;
	}
	SORT(v, h->n, by_rule);
}

bool advise_waves(const struct summary *s, struct advise_list *l, struct incore_error *e)
{
	struct advise_hits hits = {0};
	struct blame b = {.s = s};
	size_t first = 0;
	bool ok;

	/* without a verdict nothing is known to be worth a change; a scope may wait by design */
	if (!s->bound.has_verdict || !kind_row(s->trace)->has_advice)
		return true;
	ok = blame_index(&b) && waves_gather(&b, &hits);
	if (ok)
		sort_hits(&hits);
	while (ok && first < hits.n) {
		size_t end = first;

		while (end < hits.n && hits.v[end].rule == hits.v[first].rule)
			end++;
		ok = add_hits(&b, &hits.v[first], end - first, l);
		first = end;
	}
	ok = ok && few_waves(s, l) && few_lanes(s, l);
	VEC_FREE(&hits);
	mem_free(b.first);
	mem_free(b.next);
	advise_sort(l);
	return ok || err_nomem(e);
}
