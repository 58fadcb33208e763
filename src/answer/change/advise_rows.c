/* SPDX-License-Identifier: Apache-2.0 */
/* advise_rows.c: advice as rows: places, the question to whatif, the command that confirms. */
#include "analysis/summary/summary.h"
#include "answer/change/advise.h"
#include "base/search.h"

static const struct column gain_columns[] = {
	COLUMN(advice_gain, before, UNIT_CYCLES, "cycles of the kernel as traced"),
	COLUMN(advice_gain, after, UNIT_CYCLES,
		"cycles of the kernel in the replay with the change"),
	COLUMN(advice_gain, low, UNIT_CYCLES, "estimated cycles after the change, at best"),
	COLUMN(advice_gain, high, UNIT_CYCLES, "estimated cycles after the change, at worst"),
	COLUMN(advice_gain, pct, UNIT_PERCENT, "estimated saving, as a share of the cycles before",
		.digits = 2),
	COLUMN(advice_gain, least_pct, UNIT_PERCENT, "estimated saving, at worst", .digits = 2),
	COLUMN(advice_gain, most_pct, UNIT_PERCENT, "estimated saving, at best", .digits = 2),
	COLUMN(advice_gain, method, UNIT_NONE, "how the gain was estimated",
		.words = "replay|pipes|samples"),
	COLUMN(advice_gain, why, UNIT_NONE, "what limits the gain", NULLABLE),
	COLUMN(advice_gain, does_nothing, UNIT_NONE,
		"the change gains nothing, because something else takes as long"),
};
static const struct record gain_record = RECORD_OF(advice_gain, RECORD_BLOCK, gain_columns);

static const struct column place_columns[] = {
	POINTER(advice_place, at, &code_ref_record, "the instruction that the finding is about"),
};
static const struct record place_record = RECORD_OF(advice_place, RECORD_LINE, place_columns);

static const struct column advice_columns[] = {
	COLUMN(advice_row, rule, UNIT_NONE, "name of the rule that fired",
		.words = ADVISE_RULE_CHOICES),
	COLUMN(advice_row, finding, UNIT_NONE, "what the rule found"),
	COLUMN(advice_row, cause, UNIT_NONE, "what the cycles are lost to"),
	POINTER(advice_row, where, &code_ref_record,
		"the instruction that loses most cycles to this cause"),
	POINTER(advice_row, waits_for, &code_ref_record, "the instruction that it waits for most"),
	LIST(advice_row, rows, &place_record, "the costliest instructions of the finding"),
	COLUMN(advice_row, found, UNIT_COUNT, "number of instructions that the finding applies to"),
	COLUMN(advice_row, exposed, UNIT_CYCLES, "exposed cycles of the finding"),
	COLUMN(advice_row, share_pct, UNIT_PERCENT,
		"exposed cycles as a share of the cycles of all waves", .digits = 2),
	COLUMN(advice_row, evidence, UNIT_NONE, "the figures that the finding rests on"),
	COLUMN(advice_row, experiment, UNIT_NONE, "what to try"),
	COLUMN(advice_row, prediction, UNIT_NONE,
		"what the experiment should show if the advice is right"),
	COLUMN(advice_row, risk, UNIT_NONE, "what the change may cost"),
	COLUMN(advice_row, question, UNIT_NONE, "the matching question for incore whatif",
		NULLABLE),
	POINTER(advice_row, gain, &gain_record,
		"answer of incore whatif to that question; only in incore advise"),
	COLUMN(advice_row, no_gain, UNIT_NONE, "why the gain could not be estimated", NULLABLE),
	COLUMN(advice_row, confirm, UNIT_NONE, "the command that checks whether the change helped",
		NULLABLE),
	COLUMN(advice_row, place, UNIT_NONE, "the instruction, described in words", NO_JSON),
};
const struct record advice_record = RECORD_OF(advice_row, RECORD_BLOCK, advice_columns);

static const char *place_text(
	struct answer *a, const struct trace *t, code_idx code, struct incore_error *e)
{
	struct strbuf b = {0};

	if (code == NO_CODE)
		return "the whole kernel";
	summary_put_place(t, code, &b);
	return answer_text(a, &b, e);
}

struct numbered {
	int64_t number;
};
ORDER(by_number, struct numbered, UP(number))

/* "7,12-15,20": rows as whatif takes them. */
static void put_rows(const struct trace *t, const struct advice *x, struct strbuf *b)
{
	struct numbered v[ADVISE_ASKED];

	for (uint32_t i = 0; i < x->n_asked; i++)
		v[i].number = t->code[x->asked[i]].number;
	SORT(v, x->n_asked, by_number);
	for (uint32_t i = 0, k; i < x->n_asked; i = k) {
		for (k = i + 1; k < x->n_asked && v[k].number == v[k - 1].number + 1; k++)
			;
		sb_printf(b, "%s%lld", i ? "," : "", (long long)v[i].number);
		if (k > i + 1)
			sb_printf(b, "%c%lld", k > i + 2 ? '-' : ',', (long long)v[k - 1].number);
	}
}

static const char *question_text(
	struct answer *a, const struct trace *t, const struct advice *x, struct incore_error *e)
{
	struct strbuf b = {0};

	sb_printf(&b, "--%s ", advise_question_name(x->ask));
	if (x->reason)
		sb_puts(&b, x->reason);
	else if (x->ask != ADVISE_ASK_WAVES)
		put_rows(t, x, &b);
	sb_puts(&b, x->factor);
	return answer_text(a, &b, e);
}

static bool put_places(struct answer *a, const struct trace *t, const struct advice *x,
	struct advice_row *r, struct incore_error *e)
{
	struct advice_place *v = ANSWER_ROWS(a, &r->rows, x->n_rows, advice_place, e);

	for (uint32_t i = 0; v && i < x->n_rows; i++)
		if (!code_ref_make(a, t, x->rows[i], &v[i].at, e))
			return false;
	r->found = x->n_found;
	return v && code_ref_make(a, t, x->code, &r->where, e) &&
	       code_ref_make(a, t, x->of, &r->waits_for, e);
}

bool advice_rows(struct answer *a, const struct trace *t, const struct advise_list *l,
	uint64_t all_cyc, struct rows *out, struct incore_error *e)
{
	struct advice_row *v = ANSWER_ROWS(a, out, l->n, advice_row, e);
	enum advise_world world = advise_world_of(t);

	for (size_t i = 0; v && i < l->n; i++) {
		const struct advice *x = &l->v[i];
		const struct advise_rule *rule = &advise_rules[x->rule];

		v[i] = (struct advice_row){.rule = rule->id,
			.finding = rule->finding,
			.cause = x->cause,
			.place = place_text(a, t, x->code, e),
			.evidence = x->evidence,
			.experiment = advise_change(x->rule, world),
			.prediction = rule->prediction,
			.risk = rule->risk,
			.exposed = x->exposed_cyc,
			.share_pct = percent(x->exposed_cyc, all_cyc)};
		if (!v[i].place || !put_places(a, t, x, &v[i], e))
			return false;
		if (x->ask != ADVISE_ASK_NOTHING && !(v[i].question = question_text(a, t, x, e)))
			return false;
	}
	return v != NULL;
}
