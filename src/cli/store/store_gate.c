/* SPDX-License-Identifier: Apache-2.0 */
/* store_gate.c: incore store gate: is something worse in the newest captures, or still worse since
 * earlier ones? For CI. */
#include <math.h>

#include "cli/draw.h"
#include "cli/gate/gate.h"
#include "cli/store/store_job.h"
#include "page/say.h"

static const struct option_def options[] = {
	STORE_SELECT_OPTIONS,
	STORE_RULE_OPTIONS,
	{OPT_MAX, NULL, NULL,
		"fail if worse by more than this, whatever the noise and even without history"},
	{OPT_NEW, NULL, NULL,
		"fail only because of new regressions; list those of earlier captures"},
	GATE_REPORT_OPTIONS,
	OPTION_END,
};

static enum cell_style style_of(const void *row, const char *column)
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

static bool print(struct cli *c, const struct store_gates *x)
{
	static const char *const columns[] = {"verdict", "kernel", "arch", "evidence", "labels",
		"figure", "captures", "captures_new", "capture", "revision", "before", "after",
		"change_pct", "limit_pct", NULL};
	const struct store_regression *v = x->regressions.v;

	if (!record_table_print_styled(c, &store_gate_record, x->series, columns, style_of) ||
		c->use_csv)
		return !c->error.code;
	for (size_t i = 0; i < x->regressions.n; i++) {
		if (!i || v[i].is != v[i - 1].is)
			say(c->out, "\n");
		store_say_regression(c, &v[i]);
	}
	return true;
}

/* --- as files for CI --- */

static const char help[] =
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

static bool put_causes(const struct store_why *w, struct arena *a, struct rows *out)
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

static bool fill(struct store_job *j, const struct store_gates *x, struct gate_outcome *v)
{
	const struct store_gate *g = x->series.v;
	struct arena *a = &j->arena;

	for (size_t i = 0; i < x->series.n; i++) {
		const struct store_series *s = &g[i].series;
		struct store_tally tally = STORE_TALLY_PASSED;

		store_count(&j->ask, &g[i], &tally);
		v[i] = (struct gate_outcome){.state = !tally.is_passed ? GATE_FAILED
						      : strcmp(g[i].verdict, "no-claim") == 0
							      ? GATE_UNTOLD
							      : GATE_HELD,
			.metric = s->figure,
			.name = arena_printf(a, "%s%s%s, %s%s%s", s->figure, s->arch ? " on " : "",
				s->arch ? s->arch : "", s->evidence, *s->labels ? ", " : "",
				s->labels),
			.kernel = s->kernel,
			.message = message_of(&g[i], j->ask.most_pct, a),
			.evidence = s->evidence,
			.input = j->path,
			.command = g[i].why.command,
			.row = &g[i]};
		if (!v[i].name || !v[i].message || !put_causes(&g[i].why, a, &v[i].causes))
			return false;
	}
	return true;
}

static bool write_files(struct store_job *j, const struct store_gates *x)
{
	struct gate_report r = {.verb = "store gate", .help = help, .record = &store_gate_record};
	struct gate_outcome *v;

	if (!gate_is_asked(j->c))
		return true;
	v = arena_zalloc(&j->arena, x->series.n + 1, sizeof(*v));
	if (!v || !fill(j, x, v))
		return err_nomem(&j->c->error);
	r.v = v;
	r.n = x->series.n;
	return gate_write(j->c, &r);
}

/* A gate must not pass just because there was nothing to check. */
static bool check_any(const struct store_job *j)
{
	return j->entries.v.n ||
	       err_set(&j->c->error, INCORE_USAGE, "no-capture",
		       "%s: no capture is selected, so there is nothing to pass", j->path);
}

static bool run_gate(struct cli *c)
{
	struct store_job j;
	struct store_gates x = {.series = {0}};
	bool ok;

	if (!gate_may_write(c, 1))
		return false;
	ok = store_job_open(&j, c) && store_job_rule(&j) && check_any(&j) &&
	     store_real(c, "max", &j.ask.most_pct);
	j.ask.is_new_alone = cli_flag(c, "new");
	ok = ok && store_gates(&j.ask, &j.entries, &x, &c->error);
	if (ok && x.tally.no_claim)
		cli_warn(c, "%s with fewer than %u captures before the new ones: not judged",
			COUNTED(x.tally.no_claim, "kernel"), HISTORY_LEAST);
	c->is_no = ok && !x.tally.is_passed;
	ok = ok && write_files(&j, &x);
	if (ok)
		ok = c->use_json ? store_job_json(c, j.path, &store_gates_record, &x)
				 : print(c, &x);
	store_job_close(&j);
	return ok;
}

const struct verb store_verb_gate = {
	.name = "store gate",
	.args = "",
	.summary =
		"exit 1 if something is worse by more than noise: new, or since earlier captures",
	.groups = OPTIONS_OUTPUT | OPTIONS_CSV,
	.options = options,
	.run = run_gate,
	.records = RECORDS(&store_gates_record),
	.inputs = store_inputs,
};
