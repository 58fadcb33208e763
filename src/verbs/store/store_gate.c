/* SPDX-License-Identifier: Apache-2.0 */
/* store_gate.c: incore store gate: is something worse in the newest captures, or still worse since
 * earlier ones? */
#include <math.h>

#include "verbs/store/store_verbs.h"

static const struct option_def options[] = {
	STORE_SELECT_OPTIONS,
	STORE_RULE_OPTIONS,
	{OPT_MAX, NULL, NULL,
		"fail if worse by more than this, whatever the noise and even without history",
		STORE_FIELD(max)},
	{OPT_NEW, NULL, NULL,
		"fail only because of new regressions; list those of earlier captures",
		STORE_FIELD(is_new_alone)},
	GATE_REPORT_OPTIONS(store_params, files),
	OPTION_END,
};

struct store_gate_answer {
	struct store_gates gates; /* the described value */
	struct store_ask rule;	  /* by which they were judged; its store is closed */
};

/* --- what was judged, as files for CI --- */

static const char gate_help[] =
	"incore store gate compares the newest captures of a series (equal kernel, architecture, evidence "
	"and labels) with the level of those before. Worse is what is further from it than the noise of the "
	"series allows, or than --max; it stands until the series is back. The instructions that changed most "
	"are told with it, and the incore diff that compares both captures row by row: see incore-store(1).";

/* "; standing: 268865536 -> 1044996096 cycles (+288.67 %) since capture 11, 2026-11-02T00:00:00Z"
 * for the costliest regression that is not new. */
static const char *standing_of(const struct store_gate *g, struct arena *a)
{
	const struct store_regression *r = g->regressions.v, *end = r + g->regressions.n;
	const char *text;

	while (r < end && r->is == STORE_NEW)
		r++;
	if (r == end || r->is == STORE_OVER)
		return "";
	text = arena_printf(a, "; %s: %.0f -> %.0f cycles (%+.2f %%) since capture %llu, %s",
		r->kind, r->change.before, r->now, r->cost_pct,
		(unsigned long long)r->change.capture, r->change.time);
	return !text || !r->accepted
		       ? text
		       : arena_printf(a, "%s, by %s on %s: %s", text, r->accepted->who,
				 r->accepted->time, r->accepted->because);
}

static const char *message_of(const struct store_gate *g, double most_pct, struct arena *a)
{
	const struct store_series *s = &g->series;
	const char *standing = standing_of(g, a);
	char limit[64] = "", most[64] = "", noise[64] = "; noise unknown";

	if (!standing)
		return NULL;
	if (!isfinite(g->change_pct))
		return arena_printf(a, "%s: %s, too few to tell noise from change%s", s->figure,
			COUNTED(s->captures, "capture"), standing);
	if (isfinite(g->limit_pct))
		snprintf(limit, sizeof(limit), ", limit %+.2f %%", g->limit_pct);
	if (isfinite(most_pct))
		snprintf(most, sizeof(most), ", at most %+.2f %%", most_pct);
	if (isfinite(s->noise_pct))
		snprintf(noise, sizeof(noise), "; noise %.2f %%", s->noise_pct);
	return arena_printf(a, "%s: %.0f -> %.0f cycles (%+.2f %%)%s%s%s; captures %llu and %llu%s",
		s->figure, g->before, g->after, g->change_pct, limit, most, noise,
		(unsigned long long)g->from, (unsigned long long)g->capture, standing);
}

static bool put_store_causes(const struct store_why *w, struct arena *a, struct rows *out)
{
	const struct store_mover *m = w->movers.v;
	struct gate_cause *v = arena_zalloc(a, w->movers.n + 1, sizeof(*v));

	for (size_t i = 0; v && i < w->movers.n; i++) {
		v[i] = (struct gate_cause){m[i].isa ? m[i].isa : "(no instruction)",
			arena_printf(a, "%+lld cycles, %s", (long long)m[i].change, m[i].cause),
			m[i].line};
		if (!v[i].figure)
			return false;
	}
	*out = (struct rows){v, w->movers.n};
	return v != NULL;
}

static bool fill_outcomes(const struct store_gate_answer *x, const char *store, struct arena *a,
	struct gate_outcome *v)
{
	const struct store_gate *g = x->gates.series.v;

	for (size_t i = 0; i < x->gates.series.n; i++) {
		const struct store_series *s = &g[i].series;
		struct store_tally tally = STORE_TALLY_PASSED;

		store_count(&x->rule, &g[i], &tally);
		v[i] = (struct gate_outcome){.state = !tally.is_passed ? GATE_FAILED
						      : strcmp(g[i].verdict, "no-claim") == 0
							      ? GATE_UNTOLD
							      : GATE_HELD,
			.metric = s->figure,
			.name = arena_printf(a, "%s%s%s, %s%s%s", s->figure, s->arch ? " on " : "",
				s->arch ? s->arch : "", s->evidence, *s->labels ? ", " : "",
				s->labels),
			.kernel = s->kernel,
			.message = message_of(&g[i], x->rule.most_pct, a),
			.evidence = s->evidence,
			.input = store,
			.command = g[i].why.command,
			.row = &g[i]};
		if (!v[i].name || !v[i].message || !put_store_causes(&g[i].why, a, &v[i].causes))
			return false;
	}
	return true;
}

static bool write_gates(
	struct store_job *j, const struct store_gate_answer *x, struct incore_error *e)
{
	const struct answer *a = j->answer;
	struct gate_report r = {.verb = "store gate",
		.help = gate_help,
		.record = &store_gate_record,
		.n = x->gates.series.n,
		.warnings = a->warnings.v,
		.n_warnings = a->warnings.n};
	struct gate_outcome *v;

	if (!gate_is_asked(&j->p->files))
		return true;
	v = answer_alloc(j->answer, r.n, sizeof(*v), e);
	r.v = v;
	return v && (fill_outcomes(x, j->about->store, &j->answer->arena, v) || err_nomem(e)) &&
	       gate_write(&j->p->files, &r, e);
}

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
	return write_gates(j, x, e);
}

static bool store_gate_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	const struct store_params *p = r->params;

	return gate_may_write(&p->files, 1, e) && store_answer(r, a, put_gates, e);
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
