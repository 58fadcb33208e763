/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advise_ledger.c: the changes of a ledger as advice. Every gain comes from one ledger, so that a
 * rule whose waits stand behind a full unit promises nothing, and what the full unit wastes comes
 * first.
 */
#include "answer/advise.h"

#include "analysis/place.h"
#include "answer/verdict/verdict.h"
#include "base/search.h"

/* What is seen after the change, and its price, for rules that advise.h does not have. */
static const struct {
	const char *prediction, *risk;
} texts[CHANGE_IDS] = {
	[CHANGE_GRID] = {"every SM has blocks, and all are busy alike",
		"more blocks may need a second pass that adds up"},
	[CHANGE_TAIL] = {"the mean of active cycles of an SM comes near the largest",
		"more, smaller blocks cost more launches of blocks"},
	[CHANGE_SHARED_ATOMICS] = {"memory_l1_wavefronts_shared falls to its ideal",
		"copies cost shared memory, and a pass that adds them up"},
	[CHANGE_CONSTANTS] = {"requests of constants fall to one a load",
		"loads of global or shared memory take their place"},
	[CHANGE_FP64] = {"DADD, DMUL, DFMA and F2F go from the listing",
		"results have float's precision"},
	[CHANGE_INT_DIVISION] = {"I2F, MUFU.RCP and IMAD.HI go from the listing",
		"only for divisors that are known, or are powers of two"},
	[CHANGE_DIVISION] = {"FCHK and the calls of the slow path go from the listing",
		"another rounding; no denormal results"},
	[CHANGE_POWER] = {"the rows of the expansion go from the listing",
		"less precise results, or a smaller range of arguments"},
	[CHANGE_TREE] = {"one barrier a reduction is left", "sums are added in another order"},
	[CHANGE_NEIGHBOURS] = {"LDS, STS and BAR give way to SHFL",
		"what lies across the edge of a warp still needs shared memory"},
	[CHANGE_TENSOR] = {"HMMA takes the place of FFMA",
		"products are rounded to TF32, BF16 or FP16; tiles must have the shapes of mma"},
	[CHANGE_REUSE] = {"LDS a multiply-add fall by the side of the tile",
		"registers for the tile: see that enough warps fit"},
	[CHANGE_TILE] = {"loads of operands a matrix instruction are halved",
		"registers and shared memory: fewer blocks fit"},
	[CHANGE_RELOAD] = {"sectors loaded come near the sectors that DRAM gives",
		"registers or shared memory for what is kept"},
	[CHANGE_SMALL_BLOCKS] = {"active warps of an SM rise", "barriers wait for more warps"},
	[CHANGE_IN_FLIGHT] = {"long-scoreboard samples fall; bytes a cycle rise",
		"registers, or fewer warps in all"},
	[CHANGE_AHEAD] = {"the wait falls by the work of a turn, no more",
		"a second buffer or registers for one more tile"},
};

static const struct advise_rule *rule_of(const char *code)
{
	for (unsigned i = 0; i < ADVISE_RULES; i++)
		if (strcmp(advise_rules[i].id, code) == 0)
			return &advise_rules[i];
	return NULL;
}

struct advice_gain advice_gain_of_ledger(const struct ledger *l, const struct ledger_change *c)
{
	double all = l->elapsed_cyc;

	return (struct advice_gain){.before = (uint64_t)all,
		.after = (uint64_t)(all * (1 - c->gain)),
		.low = (uint64_t)(all * (1 - c->most)),
		.high = (uint64_t)(all * (1 - c->least)),
		.pct = 100 * c->gain,
		.least_pct = 100 * c->least,
		.most_pct = 100 * c->most,
		.method = "ledger",
		.does_nothing = c->gain < .005 && c->gain > -.005};
}

static bool put_ledger_gain(struct answer *a, const struct ledger *l, const struct ledger_change *c,
	struct advice_row *r, struct incore_error *e)
{
	struct advice_gain *g = ANSWER_NEW(a, advice_gain, e);
	struct strbuf b = {0};

	if (!g)
		return false;
	*g = advice_gain_of_ledger(l, c);
	if (c->next < MACHINE_UNITS)
		sb_printf(&b, "next bound: %s", machine_unit_name(c->next));
	else
		sb_puts(&b, "the next bound is not known");
	g->why = answer_text(a, &b, e);
	r->gain = g;
	r->no_gain = NULL;
	if (g->why)
		sb_printf(&b, "--rule %s", r->rule);
	r->question = g->why ? answer_text(a, &b, e) : NULL;
	return r->question != NULL;
}

/* Exposed samples of a change's rows, as cycles. */
static uint64_t exposed_of(const struct ledger *l, const struct ledger_change *c)
{
	double sum = 0;

	for (uint32_t i = 0; i < c->n_rows; i++)
		for (unsigned w = 0; w < LEDGER_WAITS; w++)
			sum += l->rows[c->rows[i]].exposed[w];
	return (uint64_t)sum * l->trace->sampling.period_cyc;
}

static bool put_rows_of(struct answer *a, const struct trace *t, const struct ledger_change *c,
	struct advice_row *r, struct incore_error *e)
{
	struct advice_place *v = ANSWER_ROWS(a, &r->rows, c->n_rows, advice_place, e);
	struct strbuf place = {0};

	for (uint32_t i = 0; v && i < c->n_rows; i++)
		if (!code_ref_make(a, t, c->rows[i], &v[i].at, e))
			return false;
	r->found = c->n_found;
	if (c->n_rows)
		place_put(t, c->rows[0], &place);
	else
		sb_puts(&place, "the whole kernel");
	r->place = answer_text(a, &place, e);
	return v && r->place && code_ref_make(a, t, c->n_rows ? c->rows[0] : NO_CODE, &r->where, e);
}

static const char *counted_text(struct answer *a, const struct ledger *l,
	const struct ledger_change *c, struct incore_error *e)
{
	struct strbuf b = {0};

	sb_printf(&b, "%s; bound by ", c->counted);
	verdict_put_bound(l, &b);
	return answer_text(a, &b, e);
}

static bool put_advice_of(struct answer *a, const struct ledger *l, const struct ledger_change *c,
	struct advice_row *r, struct incore_error *e)
{
	const char *code = ledger_change_code(c->id);
	const struct advise_rule *rule = rule_of(code);
	struct strbuf step = {0};

	*r = (struct advice_row){.rule = code,
		.finding = c->counted,
		.cause = l->is_full ? l->is_queue ? "queue" : machine_unit_code(l->fullest)
				    : "latency",
		.evidence = counted_text(a, l, c, e),
		.prediction = rule ? rule->prediction : texts[c->id].prediction,
		.risk = rule ? rule->risk : texts[c->id].risk,
		.exposed = exposed_of(l, c)};
	sb_puts(&step, rule ? advise_change_of(l->trace, (enum advise_rule_id)(rule - advise_rules))
			    : ledger_change_words(c->id));
	if (c->step)
		sb_printf(&step, "; the gain is for %s", c->step);
	r->experiment = answer_text(a, &step, e);
	return r->evidence && r->experiment && put_rows_of(a, l->trace, c, r, e) &&
	       put_ledger_gain(a, l, c, r, e);
}

/* A rule that the ledger does not have: part of its waits goes, and no unit has less to do. */
static bool put_other_gain(
	struct answer *a, const struct ledger *l, struct advice_row *r, struct incore_error *e)
{
	struct ledger_change c = {.evidence = LEDGER_PARALLELISM};
	double share = l->exposed > 0 ? r->share_pct / 100 / l->exposed : 0;

	share = share > 1 ? 1 : share;
	c.best.queue = c.worst.queue = 1;
	for (unsigned u = 0; u < MACHINE_UNITS; u++)
		c.best.unit[u] = c.worst.unit[u] = 1;
	c.best.latency = 1 - .75 * share;
	c.worst.latency = 1 - .25 * share;
	ledger_estimate(l, &c);
	return put_ledger_gain(a, l, &c, r, e);
}

static const struct advice_row *same_rule(const struct rows *rows, const char *rule)
{
	const struct advice_row *v = rows->v;

	for (size_t i = 0; i < rows->n; i++)
		if (strcmp(v[i].rule, rule) == 0)
			return &v[i];
	return NULL;
}

static bool has_change(const struct ledger *l, const char *rule)
{
	for (uint32_t i = 0; i < l->n_changes; i++)
		if (strcmp(ledger_change_code(l->change[i].id), rule) == 0)
			return true;
	return false;
}

/* The rule sees the sampler's side of what the change counts: its rows are those of the costliest
 * line. */
static void take_over(struct advice_row *r, const struct advice_row *old)
{
	r->exposed = old->exposed;
	r->share_pct = old->share_pct;
	r->waits_for = old->waits_for;
	r->where = old->where;
	r->place = old->place;
	r->rows = old->rows;
	r->found = old->found;
}

ORDER(by_pct, struct advice_row, DOWN(gain->pct) DOWN(exposed) A_TO_Z(rule))

static bool put_ledger_rows(struct answer *a, const struct ledger *l, uint64_t all_cyc,
	struct rows *to, struct incore_error *e)
{
	struct rows old = *to;
	const struct advice_row *was = old.v;
	struct advice_row *v = ANSWER_ROWS(a, to, old.n + l->n_changes, advice_row, e);
	size_t n = l->n_changes;

	for (uint32_t i = 0; v && i < l->n_changes; i++) {
		const struct advice_row *same;

		if (!put_advice_of(a, l, &l->change[i], &v[i], e))
			return false;
		v[i].share_pct = percent(v[i].exposed, all_cyc);
		same = same_rule(&old, v[i].rule);
		if (same)
			take_over(&v[i], same);
	}
	for (size_t i = 0; v && i < old.n; i++)
		if (!has_change(l, was[i].rule)) {
			v[n] = was[i];
			if (!put_other_gain(a, l, &v[n++], e))
				return false;
		}
	to->n = n;
	if (v && n > l->n_changes)
		SORT(v + l->n_changes, n - l->n_changes, by_pct);
	return v != NULL;
}

bool advise_by_ledger(struct answer *a, struct advised *x, struct incore_error *e)
{
	struct ledger *l = ledger_new(x->trace, e);
	struct strbuf b = {0};

	if (!l || !ANSWER_KEEP(a, l, ledger_free, e))
		return false;
	if (l->missing) {
		x->missing = l->elapsed_cyc > 0 ? l->missing : NULL;
		return true;
	}
	x->ledger = l;
	sb_puts(&b, "Bound by ");
	verdict_put_bound(l, &b);
	sb_puts(&b, ".");
	x->verdict = answer_text(a, &b, e);
	return x->verdict && put_ledger_rows(a, l, x->time.all_cyc, &x->rows, e);
}
