/* SPDX-License-Identifier: Apache-2.0 */
/* gate_store.c: the series that `incore store gate` judged, as a table of results. */
#include <math.h>

#include "cli/gate/gate.h"
#include "verbs/store/store_gate.h"

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

bool gate_may_write_store(struct cli *c)
{
	return gate_may_write(c, 1);
}

bool gate_write_store(struct cli *c, const struct answer *answer)
{
	struct gate_report r = {.verb = "store gate", .help = help, .record = &store_gate_record};
	const struct store_gate_answer *x = answer->data;
	const struct store_input *in = answer->input;
	struct gate_outcome *v;
	struct arena arena;
	bool ok;

	if (!gate_is_asked(c))
		return true;
	arena_init(&arena);
	v = arena_zalloc(&arena, x->gates.series.n + 1, sizeof(*v));
	r.v = v;
	r.n = x->gates.series.n;
	ok = v && fill_outcomes(x, in->store, &arena, v) ? gate_write(c, &r) : err_nomem(&c->error);
	arena_deinit(&arena);
	return ok;
}
