/* SPDX-License-Identifier: Apache-2.0 */
/* store_gate.c: incore store gate: is something worse in the newest captures, or still worse since
 * earlier ones? */
#include "verbs/store/store_gate.h"

static const struct option_def options[] = {
	STORE_SELECT_OPTIONS,
	STORE_RULE_OPTIONS,
	{OPT_MAX, NULL, NULL,
		"fail if worse by more than this, whatever the noise and even without history",
		STORE_FIELD(max)},
	{OPT_NEW, NULL, NULL,
		"fail only because of new regressions; list those of earlier captures",
		STORE_FIELD(is_new_alone)},
	OPTION_END,
};

static bool put_gates(struct store_job *j, struct incore_error *e)
{
	struct store_gate_answer *x = ANSWER_NEW(j->answer, store_gate_answer, e);

	if (!x)
		return false;
	if (!j->entries.v.n) /* a gate must not pass just because there was nothing to check */
		return err_set(e, INCORE_USAGE, "no-capture",
			"%s: no capture is selected, so there is nothing to pass", j->about->store);
	if (!store_gates(&j->ask, &j->entries, &x->gates, e))
		return false;
	if (x->gates.tally.no_claim)
		answer_warn(j->answer,
			"%s with fewer than %u captures before the new ones: not judged",
			COUNTED(x->gates.tally.no_claim, "kernel"), HISTORY_LEAST);
	x->rule = j->ask;
	x->rule.store = NULL;
	j->answer->is_no = !x->gates.tally.is_passed;
	answer_set(j->answer, &store_gates_record, x);
	return true;
}

static bool store_gate_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	return store_answer(r, a, put_gates, e);
}

static enum cell_style verdict_style(const void *row, const char *column)
{
	const struct store_gate *g = row;

	return strcmp(column, "verdict") != 0	     ? CELL_PLAIN
	       : strcmp(g->verdict, "worse") == 0    ? CELL_BAD
	       : strcmp(g->verdict, "standing") == 0 ? CELL_BAD
	       : strcmp(g->verdict, "better") == 0   ? CELL_GOOD
	       : strcmp(g->verdict, "accepted") == 0 ? CELL_WARM
	       : strcmp(g->verdict, "no-claim") == 0 ? CELL_DIM
						     : CELL_PLAIN;
}

static void store_gate_page(const struct answer *a, struct page *p)
{
	static const char *const columns[] = {"verdict", "kernel", "arch", "evidence", "labels",
		"figure", "captures", "captures_new", "capture", "revision", "before", "after",
		"change_pct", "limit_pct", NULL};
	const struct store_gate_answer *x = a->data;
	const struct store_regression *v = x->gates.regressions.v;

	page_main_records_styled(p, &store_gate_record, x->gates.series, columns, verdict_style);
	for (size_t i = 0; !p->is_csv && i < x->gates.regressions.n; i++) {
		if (!i || v[i].is != v[i - 1].is)
			page_gap(p);
		store_page_regression(p, &v[i]);
	}
}

const struct question question_store_gate = {
	.name = "store gate",
	.summary =
		"exit 1 if something is worse by more than noise: new, or since earlier captures",
	.args = "",
	.groups = OPTIONS_CSV,
	.options = options,
	.params_size = sizeof(struct store_params),
	.records = RECORDS(&store_gates_record),
	.inputs = RECORDS(&store_input_record),
	.ask = store_gate_ask,
	.page = store_gate_page,
};
