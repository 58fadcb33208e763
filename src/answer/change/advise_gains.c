/* SPDX-License-Identifier: Apache-2.0 */
/* advise_gains.c: the gain of each advice: asks whatif.h for all of them in one pass. */
#include "analysis/whatif/whatif.h"
#include "answer/change/advise.h"
#include "base/search.h"

static bool plan_target(
	struct whatif_plan *p, const struct advice *x, const char *what, struct incore_error *e)
{
	char target[96];

	snprintf(target, sizeof(target), "%s%s", what, x->factor);
	return x->ask == ADVISE_ASK_AHEAD    ? whatif_ahead(p, target, e)
	       : x->ask == ADVISE_ASK_FASTER ? whatif_faster(p, target, e)
					     : whatif_remove(p, target, e);
}

static struct whatif_plan *plan_of(
	const struct trace *t, const struct advice *x, struct incore_error *e)
{
	struct whatif_plan *p = whatif_plan_new(t, e);
	bool ok = p != NULL;

	if (ok && x->ask == ADVISE_ASK_WAVES)
		ok = whatif_waves(p, x->factor, e);
	if (ok && x->reason)
		ok = plan_target(p, x, x->reason, e);
	for (uint32_t i = 0; ok && x->ask != ADVISE_ASK_WAVES && i < x->n_asked; i++) {
		char row[24];

		snprintf(row, sizeof(row), "%lld", (long long)t->code[x->asked[i]].number);
		ok = plan_target(p, x, row, e);
	}
	if (ok)
		return p;
	whatif_plan_free(p);
	return NULL;
}

static double saved_pct(uint64_t before, uint64_t after)
{
	return before ? 100.0 * ((double)before - (double)after) / (double)before : 0;
}

static bool put_gain(struct answer *a, const struct whatif_result *r, struct advice_row *row,
	struct incore_error *e)
{
	static const char *const methods[] = {"replay", "pipes", "samples"};
	struct advice_gain *g;

	if (r->method == WHATIF_NONE) {
		row->no_gain = r->why;
		return true;
	}
	g = ANSWER_NEW(a, advice_gain, e);
	if (!g)
		return false;
	*g = (struct advice_gain){.before = r->before_cyc,
		.after = r->after_cyc,
		.low = r->low_cyc,
		.high = r->high_cyc,
		.pct = saved_pct(r->before_cyc, r->after_cyc),
		.least_pct = saved_pct(r->before_cyc, r->high_cyc),
		.most_pct = saved_pct(r->before_cyc, r->low_cyc),
		.method = methods[r->method],
		.why = r->why,
		.does_nothing = r->does_nothing};
	row->gain = g;
	return true;
}

static double rank_of(const struct advice_row *x)
{
	return x->gain && !x->gain->does_nothing ? x->gain->pct : 0;
}

static int by_gain(const void *pa, const void *pb)
{
	const struct advice_row *a = pa, *b = pb;

	if (rank_of(a) != rank_of(b))
		return rank_of(a) > rank_of(b) ? -1 : 1;
	RETURN_UNLESS_EQUAL(b->exposed, a->exposed);
	return strcmp(a->rule, b->rule);
}

static bool make_plans(const struct trace *t, const struct advise_list *l,
	const struct whatif_plan **plans, struct incore_error *e)
{
	static const struct advice nothing = {.ask = ADVISE_ASK_REMOVE};

	for (size_t i = 0; i <= l->n; i++) {
		bool is_asked = i < l->n && l->v[i].ask != ADVISE_ASK_NOTHING;

		plans[i] = plan_of(t, is_asked ? &l->v[i] : &nothing, e);
		if (!plans[i])
			return false;
	}
	return true;
}

bool advice_gains(struct answer *a, const struct trace *t, const struct advise_list *l,
	const struct walk_options *o, struct advised *to, struct incore_error *e)
{
	const struct whatif_plan *plans[ADVISE_MOST + 1] = {0};
	struct whatif_result r[ADVISE_MOST + 1] = {0};
	struct advice_row *v = (struct advice_row *)to->rows.v;
	bool ok = make_plans(t, l, plans, e) && whatif_run(t, plans, l->n + 1, o, r, e);

	to->span_cyc = ok && r[l->n].method != WHATIF_NONE ? r[l->n].before_cyc : 0;
	for (size_t i = 0; i <= l->n; i++) {
		ok = ok && (i == l->n || l->v[i].ask == ADVISE_ASK_NOTHING ||
				   put_gain(a, &r[i], &v[i], e));
		whatif_result_deinit(&r[i]);
		whatif_plan_free((struct whatif_plan *)plans[i]);
	}
	if (ok)
		SORT(v, l->n, by_gain);
	return ok;
}
