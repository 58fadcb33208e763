/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whatif_steps.c: no further speed-up makes the whole longer. Waves that take turns may do so: what
 * comes earlier gets in the way of something else. An estimate that says so misleads, since the
 * order of turns on the machine is not known to the cycle. So a plan is also run with its factors
 * capped at each weaker step, the shortest of these times counts, and a factor between two steps
 * stays between their times. Nothing that only gets faster takes longer than before.
 */
#include "analysis/whatif/whatif_internal.h"
#include "base/mem.h"

static const uint32_t steps[] = {2000, 4000, 8000}; /* factors x 1000 */
#define STEPS (sizeof(steps) / sizeof(*steps))

/* --- plans that differ by their factors ------------------------------------------------------- */

/* How far ahead corresponds to a step. */
static uint32_t ahead_of(uint32_t step)
{
	return step / 2000;
}

static bool is_above(const struct whatif_row *r, uint32_t step)
{
	return !r->is_removed && (r->faster_milli > step || r->ahead > ahead_of(step));
}

static void cap(struct whatif_row *r, uint32_t step)
{
	if (r->is_removed)
		return;
	r->faster_milli = r->faster_milli > step ? step : r->faster_milli;
	r->ahead = r->ahead > ahead_of(step) ? ahead_of(step) : r->ahead;
}

static uint32_t next_step(uint32_t x, uint32_t unit)
{
	for (size_t i = 0; i < STEPS; i++)
		if (x <= steps[i] / unit)
			return steps[i] / unit;
	return x;
}

static void raise_to_step(struct whatif_row *r, uint32_t unused)
{
	(void)unused;
	if (r->faster_milli > WHATIF_PLAIN)
		r->faster_milli = r->faster_milli > steps[STEPS - 1]
					  ? WHATIF_AT_ONCE
					  : next_step(r->faster_milli, 1);
	r->ahead = r->ahead ? next_step(r->ahead, 2000) : 0;
}

static bool is_between(const struct whatif_row *r, uint32_t unused)
{
	struct whatif_row to = *r;

	raise_to_step(&to, unused);
	return !r->is_removed && (to.faster_milli != r->faster_milli || to.ahead != r->ahead);
}

static bool is_slower(const struct whatif_row *r, uint32_t unused)
{
	(void)unused;
	return !r->is_removed && r->faster_milli < WHATIF_PLAIN;
}

static bool only_gains(const struct whatif_plan *p)
{
	return !p->waves && !whatif_any_row(p, is_slower, 0);
}

/* --- a removal and an instruction that takes no time ------------------------------------------ */

static bool is_removal(const struct whatif_row *r, uint32_t unused)
{
	(void)unused;
	return r->is_removed;
}

bool whatif_removes(const struct whatif_plan *p)
{
	return whatif_any_row(p, is_removal, 0);
}

static bool is_at_once(const struct whatif_row *r, uint32_t unused)
{
	(void)unused;
	return r->faster_milli == WHATIF_AT_ONCE;
}

static void swap_kind(struct whatif_row *r, uint32_t unused)
{
	(void)unused;
	if (r->is_removed || r->faster_milli == WHATIF_AT_ONCE) {
		r->is_removed = !r->is_removed;
		r->faster_milli = r->is_removed ? WHATIF_PLAIN : WHATIF_AT_ONCE;
	}
}

bool whatif_plan_twin(const struct whatif_plan *p, struct whatif_plan **out, struct incore_error *e)
{
	*out = NULL;
	if (!whatif_any_row(p, is_removal, 0) && !whatif_any_row(p, is_at_once, 0))
		return true;
	*out = whatif_plan_other(p, swap_kind, 0, e);
	return *out != NULL;
}

/* --- all runs --------------------------------------------------------------------------------- */

struct asked {	    /* a plan, and its runs */
	size_t own; /* of the plan itself; those before it are weaker, the weakest first */
	size_t first;
	bool has_next; /* the run after it is the next step's */
};

struct runs {
	VEC(const struct whatif_plan *) plans;
	VEC(struct whatif_plan *) made; /* of these, to be freed */
	struct asked *asked;
	struct whatif_result *results;
};

static bool add_made(struct runs *x, struct whatif_plan *p)
{
	bool ok = p && VEC_PUSH(&x->made, p);

	if (p && !ok)
		whatif_plan_free(p);
	return ok && VEC_PUSH(&x->plans, p);
}

static bool add_plan(
	struct runs *x, const struct whatif_plan *p, struct asked *a, struct incore_error *e)
{
	a->first = x->plans.n;
	for (size_t i = 0; i < STEPS && whatif_any_row(p, is_above, steps[i]); i++)
		if (!add_made(x, whatif_plan_other(p, cap, steps[i], e)))
			return err_nomem(e);
	a->own = x->plans.n;
	if (!VEC_PUSH(&x->plans, p))
		return err_nomem(e);
	a->has_next = whatif_any_row(p, is_between, 0);
	return !a->has_next || add_made(x, whatif_plan_other(p, raise_to_step, 0, e)) ||
	       err_nomem(e);
}

static uint64_t lesser_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void take_figures(struct whatif_result *r, const struct whatif_result *weaker)
{
	r->after_cyc = lesser_of(r->after_cyc, weaker->after_cyc);
	r->low_cyc = lesser_of(r->low_cyc, weaker->low_cyc);
	r->high_cyc = lesser_of(r->high_cyc, weaker->high_cyc);
}

/* The shorter of two timelines, with its path; the interval ends where the shorter one's do. */
static void take_shorter(struct whatif_result *r, struct whatif_result *weaker)
{
	const uint64_t n_executed = r->n_executed;
	struct whatif_result x = *r;

	take_figures(&x, weaker);
	if (weaker->after_cyc < r->after_cyc) {
		struct whatif_result own = *r;

		*r = *weaker;
		*weaker = own;
	}
	r->low_cyc = x.low_cyc;
	r->high_cyc = x.high_cyc;
	r->n_executed = n_executed;
}

static void take_between(struct whatif_result *r, const struct whatif_result *next)
{
	r->after_cyc = r->after_cyc > next->after_cyc ? r->after_cyc : next->after_cyc;
	r->low_cyc = r->low_cyc > next->low_cyc ? r->low_cyc : next->low_cyc;
	r->high_cyc = r->high_cyc > next->high_cyc ? r->high_cyc : next->high_cyc;
}

static void settle(struct runs *x, const struct asked *a, const struct whatif_plan *p,
	struct whatif_result *out)
{
	struct whatif_result *own = &x->results[a->own];
	const bool has_answer = own->method != WHATIF_NONE;

	for (size_t i = a->first; i < a->own && has_answer; i++) {
		if (a->has_next)
			take_figures(own + 1, &x->results[i]);
		take_shorter(own, &x->results[i]);
	}
	if (a->has_next && has_answer)
		take_between(own, own + 1);
	if (has_answer && only_gains(p)) {
		own->after_cyc = lesser_of(own->after_cyc, own->before_cyc);
		own->low_cyc = lesser_of(own->low_cyc, own->before_cyc);
	}
	*out = *own;
	*own = (struct whatif_result){0};
}

bool whatif_run(const struct trace *t, const struct whatif_plan *const *plans, size_t n,
	const struct walk_options *o, struct whatif_result *out, struct incore_error *e)
{
	struct runs x = {.asked = mem_zalloc(n + 1, sizeof(*x.asked))};
	bool ok = x.asked != NULL || err_nomem(e);

	for (size_t i = 0; ok && i < n; i++)
		ok = add_plan(&x, plans[i], &x.asked[i], e);
	if (ok) {
		x.results = mem_zalloc(x.plans.n + 1, sizeof(*x.results));
		ok = x.results ? whatif_run_each(t, x.plans.v, x.plans.n, o, x.results, e)
			       : err_nomem(e);
	}
	for (size_t i = 0; ok && i < n; i++)
		settle(&x, &x.asked[i], plans[i], &out[i]);
	for (size_t i = 0; x.results && i < x.plans.n; i++)
		whatif_result_deinit(&x.results[i]);
	for (size_t i = 0; i < x.made.n; i++)
		whatif_plan_free(x.made.v[i]);
	VEC_FREE(&x.plans);
	VEC_FREE(&x.made);
	mem_free(x.asked);
	mem_free(x.results);
	return ok;
}
