/* SPDX-License-Identifier: Apache-2.0 */
/* gains.c: the time of a kernel, the gain of each advice, and what became of it. */
#include "analysis/advise/gains.h"

#include <math.h>

#include "analysis/pipes/pipes.h"
#include "analysis/summary/summary.h"
#include "base/mem.h"
#include "base/search.h"

/* --- how long the kernel took ----------------------------------------------------------------- */

struct timed_launch {
	uint64_t ns;
};
ORDER(by_time, struct timed_launch, UP(ns))

/* Samples cover all launches, however many: if launches were timed, takes the time of one. */
static bool take_launches(const struct trace *t, struct advise_time *x, struct incore_error *e)
{
	const struct named_table *k = trace_find_table(t, "launches");
	double mhz = trace_clock_mhz(t);
	struct timed_launch *v =
		k && mhz > 0 ? mem_zalloc((size_t)k->n_rows + 1, sizeof(*v)) : NULL;
	uint32_t n = 0;

	if (!k || mhz <= 0)
		return true;
	for (uint32_t i = 0; v && i < k->n_rows; i++) {
		const char *ns = named_table_cell(k, i, "time_ns");

		n += ns && str_to_u64(str_of(ns), &v[n].ns) && v[n].ns > 0;
	}
	if (n) {
		uint32_t middle = n / 2;

		SORT(v, n, by_time);
		x->cycles = (uint64_t)((double)v[middle].ns * mhz / 1000);
		x->unit = "a launch, the median of all";
	}
	mem_free(v);
	return v || err_nomem(e);
}

bool advise_time_of_summary(
	const struct summary *s, struct advise_time *out, struct incore_error *e)
{
	*out = (struct advise_time){s->duration_cyc, s->duration_cyc,
		s->is_sampled ? "all samples" : "a wave, on average"};
	if (s->is_sampled)
		return take_launches(s->trace, out, e);
	if (s->waves->n_waves)
		out->cycles = s->duration_cyc / s->waves->n_waves;
	return true;
}

struct advise_time advise_time_of_pipes(const struct pipes *p)
{
	uint64_t cyc = p->path.end_cyc - p->path.begin_cyc;

	return (struct advise_time){cyc, cyc, "the critical path"};
}

/* --- gains ------------------------------------------------------------------------------------ */

static struct whatif_plan *plan_of(
	const struct trace *t, const struct advice *x, struct incore_error *e)
{
	struct whatif_plan *p = whatif_plan_new(t, e);

	if (!p)
		return NULL;
	if (x->ask == ADVISE_ASK_WAVES)
		p->waves = x->waves;
	else if (x->ask != ADVISE_ASK_NOTHING) {
		if (x->reason != NO_REASON)
			whatif_change_reason(p, x->reason, &x->change);
		for (uint32_t i = 0; i < x->n_asked; i++)
			whatif_change_row(p, x->asked[i], &x->change);
	}
	return p;
}

static double saved_pct(uint64_t before, uint64_t after)
{
	return before ? 100.0 * ((double)before - (double)after) / (double)before : 0;
}

static struct advice_gain gain_of(const struct whatif_result *r)
{
	static const char *const methods[] = {"replay", "pipes", "samples"};

	return (struct advice_gain){.before = r->before_cyc,
		.after = r->after_cyc,
		.low = r->low_cyc,
		.high = r->high_cyc,
		.pct = saved_pct(r->before_cyc, r->after_cyc),
		.least_pct = saved_pct(r->before_cyc, r->high_cyc),
		.most_pct = saved_pct(r->before_cyc, r->low_cyc),
		.method = methods[r->method],
		.why = r->why,
		.does_nothing = r->does_nothing};
}

bool advise_gains(const struct trace *t, const struct advise_list *l, const struct walk_options *o,
	struct advice_gains *out, struct incore_error *e)
{
	static const struct advice nothing = {.ask = ADVISE_ASK_NOTHING};
	const struct whatif_plan *plans[ADVISE_MOST + 1] = {0};
	struct whatif_result r[ADVISE_MOST + 1] = {0};
	size_t n = l->n < ADVISE_MOST ? l->n : ADVISE_MOST;
	bool ok = true;

	*out = (struct advice_gains){0};
	for (size_t i = 0; ok && i <= n; i++) {
		plans[i] = plan_of(t, i < n ? &l->v[i] : &nothing, e);
		ok = plans[i] != NULL;
	}
	ok = ok && whatif_run(t, plans, n + 1, o, r, e);
	out->span_cyc = ok && r[n].method != WHATIF_NONE ? r[n].before_cyc : 0;
	for (size_t i = 0; i <= n; i++) {
		bool is_asked = ok && i < n && l->v[i].ask != ADVISE_ASK_NOTHING;

		if (ok && i < n && !is_asked)
			out->no_gain[i] = l->v[i].unasked;
		if (is_asked && r[i].method == WHATIF_NONE) {
			out->no_gain[i] = r[i].why;
		} else if (is_asked) {
			out->v[i] = gain_of(&r[i]);
			out->has[i] = true;
		}
		whatif_result_deinit(&r[i]);
		whatif_plan_free((struct whatif_plan *)plans[i]);
	}
	return ok;
}

/* --- what became of it ------------------------------------------------------------------------ */

#define POINT 1.0   /* per cent: predictions are not finer */
#define PARTLY 0.75 /* followed if less than this part of the cycles is left */

const char *advise_fate_name(enum advise_fate f)
{
	static const char *const names[] = {"unknown", "taken", "partly", "not-taken"};

	return names[f];
}

struct advise_follow advise_follow_new(
	const struct advise_time *before, const struct advise_time *after)
{
	struct advise_follow f = {.before = before->cycles,
		.after = after->cycles,
		.change_pct = NAN,
		.least_pct = NAN,
		.most_pct = NAN,
		.is_known = after->all_cyc && strcmp(before->unit, after->unit) == 0};

	if (f.is_known)
		f.change_pct = f.before ? 100.0 * (double)f.after / (double)f.before - 100 : NAN;
	return f;
}

/* Combines gains of changes made together: at least the largest of the lower bounds, at most all
 * upper bounds applied one after another. */
static void add_promise(struct advise_follow *f, const struct advice_gain *g)
{
	if (isnan(f->least_pct))
		f->least_pct = f->most_pct = 0;
	f->least_pct = g->least_pct > f->least_pct ? g->least_pct : f->least_pct;
	f->most_pct = 100 - (100 - f->most_pct) * (100 - g->most_pct) / 100;
}

enum advise_fate advise_follow_add(
	struct advise_follow *f, double before_pct, double after_pct, const struct advice_gain *g)
{
	bool is_taken = after_pct * (double)f->after < PARTLY * before_pct * (double)f->before;

	f->n_taken += is_taken;
	if (!f->is_known)
		return FATE_UNKNOWN;
	if (is_taken && g)
		add_promise(f, g);
	return after_pct <= 0 ? FATE_TAKEN : is_taken ? FATE_PARTLY : FATE_NOT_TAKEN;
}

const char *advise_follow_verdict(const struct advise_follow *f)
{
	double saved = -f->change_pct;

	if (!f->is_known)
		return "not known, the second capture has no cycles to compare with";
	if (!f->n_taken)
		return "nothing of the advice was taken";
	if (isnan(f->least_pct))
		return "taken; nothing was promised for it";
	if (saved < f->least_pct - POINT)
		return "taken, and it brought less than promised";
	return saved > f->most_pct + POINT ? "taken, and it brought more than promised"
					   : "taken, and it brought what was promised";
}
