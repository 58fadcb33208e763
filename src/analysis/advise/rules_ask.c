/* SPDX-License-Identifier: Apache-2.0 */
/* rules_ask.c: which question a finding puts to whatif.h, and how large a finding must be. */
#include "analysis/advise/advise_internal.h"

#include <math.h>

#include "analysis/code/samples.h"
#include "analysis/summary/summary.h"
#include "trace/kind.h"

static const struct ask {
	enum advise_question ask;
	unsigned n;	     /* AHEAD: executions; FASTER: K; 0: K follows from the layout */
	double least;	     /* least share for advice; 0: ADVISE_LEAST */
	bool is_of_producer; /* ask about the producer, not the waiting row */
} asks[ADVISE_RULES] = {
	[ADVISE_LATE_LOAD] = {ADVISE_ASK_AHEAD, 1, 0, true},
	[ADVISE_START_LOAD] = {ADVISE_ASK_REMOVE, 0},
	[ADVISE_LATE_COPY] = {ADVISE_ASK_AHEAD, 1, 0, true},
	[ADVISE_LATE_LDS] = {ADVISE_ASK_AHEAD, 1, 0, true},
	[ADVISE_LDS_WRITE] = {ADVISE_ASK_AHEAD, 1, 0, true},
	[ADVISE_LATE_SCALAR] = {ADVISE_ASK_AHEAD, 1, 0, true},
	[ADVISE_CROSS_LANE] = {ADVISE_ASK_REMOVE, 0},
	[ADVISE_STORE_IN_WAIT] = {ADVISE_ASK_REMOVE, 0},
	[ADVISE_EMPTY_WAIT] = {ADVISE_ASK_REMOVE, 0},
	[ADVISE_UNEVEN_BARRIER] = {ADVISE_ASK_REMOVE, 0},
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

double advise_least(enum advise_rule_id rule, bool is_sampled)
{
	if (is_sampled && rule == ADVISE_UNEVEN_BARRIER)
		return BARRIER_LEAST;
	return asks[rule].least > 0 ? asks[rule].least : ADVISE_LEAST;
}

/* In sampled data waits are not instructions that could be removed, and code that runs once has no
 * earlier iteration. No question is asked about a barrier whose waves arrive unevenly: removing it
 * would remove the meeting, not the uneven work. */
static enum advise_question question_of(
	const struct summary *s, const struct advise_hit *h, bool *is_of_producer)
{
	const bool is_sampled = s->is_sampled;
	const bool is_wait = s->causes->v[h->cause].kind == CAUSE_WAIT;
	const uint32_t block = s->cfg.block_of[h->code];
	const bool is_in_loop = block != NO_BLOCK && s->cfg.blocks[block].loop != NO_LOOP;
	enum advise_question q = asks[h->rule].ask;

	*is_of_producer = asks[h->rule].is_of_producer;
	if (h->rule == ADVISE_UNEVEN_BARRIER && !is_sampled)
		return ADVISE_ASK_NOTHING;
	if (q == ADVISE_ASK_AHEAD && !is_in_loop) {
		if (h->rule == ADVISE_DEPENDENT_CHAIN)
			return ADVISE_ASK_NOTHING;
		q = ADVISE_ASK_REMOVE;
		*is_of_producer = false;
	}
	return is_sampled && is_wait && !*is_of_producer && h->rule != ADVISE_FENCE
		       ? ADVISE_ASK_NOTHING
		       : q;
}

/* As many times faster as the layout makes it slower. */
static double factor_of_layout(const struct trace *t, const struct advice *a)
{
	const char *name = a->rule == ADVISE_UNCOALESCED ? SUMMARY_SECTORS : SUMMARY_WAVEFRONTS;
	double k = a->n_asked ? summary_excess(t, name, a->asked[0]) : 0;

	return k > 1 ? k : 2;
}

void advise_measured(struct advice *a, double factor)
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
	else if (a->ask == ADVISE_ASK_AHEAD)
		a->change.ahead = ask->n;
	else if (a->ask == ADVISE_ASK_FASTER && ask->n)
		a->change.faster_milli = ask->n * 1000;
	else if (a->ask == ADVISE_ASK_FASTER)
		advise_measured(a, factor_of_layout(s->trace, a));
}

/* Fetches and drains belong to no instruction: for samples the question is about the sampler's
 * reason. */
static uint32_t reason_of(const struct trace *t, enum advise_rule_id rule)
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
static void ask_producers(const struct blame *b, const struct advise_hit *h, struct advice *a)
{
	const struct trace *t = b->s->trace;

	if (may_ask(t, a, h->of))
		advise_ask_row(a, h->of);
	for (uint32_t at = b->first[h->code]; b->s->is_sampled && at; at = b->next[at - 1]) {
		code_idx row = b->s->producers->edges.v[at - 1].producer;

		if (t->code[row].inst_class == t->code[h->of].inst_class && may_ask(t, a, row))
			advise_ask_row(a, row);
	}
}

void advise_ask(const struct blame *b, const struct advise_hit *h, size_t n, struct advice *a)
{
	const struct summary *s = b->s;
	bool is_of_producer;

	a->ask = question_of(s, h, &is_of_producer);
	a->reason = reason_of(s->trace, h->rule);
	for (size_t i = 0; a->ask != ADVISE_ASK_NOTHING && a->reason == NO_REASON && i < n; i++)
		if (is_of_producer && h[i].of != NO_CODE)
			ask_producers(b, &h[i], a);
		else
			advise_ask_row(a, h[i].code);
	if (a->reason == NO_REASON && !a->n_asked)
		a->ask = ADVISE_ASK_NOTHING;
	set_change(s, &asks[h->rule], a);
}
