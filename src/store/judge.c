/* SPDX-License-Identifier: Apache-2.0 */
/* judge.c: finds what is worse in a series now, since when, and at what cost. */
#include <stdlib.h>

#include "base/search.h"
#include "store/series_columns.h"

const char *const store_kinds[STORE_KINDS] = {"new", "standing", "accepted", "over"};

static const struct column regression_columns[] = {
	STORE_SERIES_COLUMNS(store_regression),
	COLUMN(store_regression, kind, UNIT_NONE,
		"new: begins among the newest captures; over: back at the level before",
		.words = "new|standing|accepted|over"),
	COLUMN(store_regression, now, UNIT_CYCLES, "level of the newest captures"),
	COLUMN(store_regression, cost, UNIT_CYCLES,
		"cycles of the newest captures above the level before the change"),
	COLUMN(store_regression, cost_pct, UNIT_PERCENT,
		"cost as a share of the level before the change", .title = "cost %",
		.csv = "cost_pct", .digits = 2),
	COLUMN(store_regression, acceptance, UNIT_INDEX,
		"number of the acceptance that covers it; 0: none"),
	PART(store_regression, change, &store_change_record),
};
const struct record store_regression_record =
	RECORD_OF(store_regression, RECORD_BLOCK, regression_columns);

static const struct column gate_columns[] = {
	STORE_SERIES_COLUMNS(store_gate),
	COLUMN(store_gate, verdict, UNIT_NONE,
		"worse: by something new; standing: since earlier captures; no-claim: fewer than "
		"four captures before",
		.words = "passed|better|worse|standing|accepted|no-claim"),
	COLUMN(store_gate, capture, UNIT_INDEX, "number of the newest capture"),
	COLUMN(store_gate, from, UNIT_INDEX,
		"number of the last capture before the new ones; 0: none"),
	COLUMN(store_gate, captures_new, UNIT_COUNT,
		"number of new captures: the newest of one revision", .title = "new",
		.csv = "captures_new"),
	COLUMN(store_gate, revision, UNIT_NONE, "revision of the new captures", NULLABLE),
	COLUMN(store_gate, before, UNIT_CYCLES, "level before the new captures", NULLABLE),
	COLUMN(store_gate, after, UNIT_CYCLES, "median of the new captures", NULLABLE),
	COLUMN(store_gate, change_pct, UNIT_PERCENT, "change as a share of the level before",
		NULLABLE, .title = "change %", .csv = "change_pct", .digits = 2),
	COLUMN(store_gate, limit_pct, UNIT_PERCENT, "a change beyond this limit is not noise",
		NULLABLE, .title = "limit %", .csv = "limit_pct", .digits = 2),
	PART(store_gate, why, &store_why_record),
};
const struct record store_gate_record = RECORD_OF(store_gate, RECORD_BLOCK, gate_columns);

static const struct column tally_columns[] = {
	COLUMN(store_tally, is_passed, UNIT_NONE, "no series fails the gate"),
	COLUMN(store_tally, worse, UNIT_COUNT, "series with a new regression"),
	COLUMN(store_tally, standing, UNIT_COUNT,
		"other series with a regression that stands since earlier captures"),
	COLUMN(store_tally, accepted, UNIT_COUNT, "other series with an accepted regression"),
	COLUMN(store_tally, no_claim, UNIT_COUNT, "series with too few captures for a verdict"),
};
const struct record store_tally_record = RECORD_OF(store_tally, RECORD_BLOCK, tally_columns);

struct judging {
	const struct store_ask *x;
	const struct store_history *h;
	const struct store_point *points;
	struct history_gate g;
	size_t n_old;	/* number of captures before the new ones */
	double now;	/* level of the newest captures */
	bool is_beyond; /* they are worse than any level in the history */
	struct store_regression *v;
	size_t n;
};

/* Counts the newest capture and those before it of the same revision. */
static size_t count_new(const struct store_point *v, size_t n_points)
{
	const char *last = n_points ? v[n_points - 1].entry.revision : NULL;
	size_t n = n_points ? 1 : 0;

	while (last && n < n_points && v[n_points - n - 1].entry.revision &&
		strcmp(v[n_points - n - 1].entry.revision, last) == 0)
		n++;
	return n;
}

static bool compare_newest(struct judging *j, struct incore_error *e)
{
	size_t n = j->h->points.n, n_new = count_new(j->points, n);
	double *v = arena_zalloc(j->x->arena, n + 1, sizeof(*v));

	if (!v)
		return err_nomem(e);
	for (size_t i = 0; i < n; i++)
		v[i] = j->points[i].value;
	j->n_old = n - n_new;
	if (!history_judge(&j->g, v, n, n_new, &j->x->history, e))
		return false;
	if (store_percent(j->g.after - j->g.before, j->g.before) > j->x->most_pct)
		j->g.verdict = GATE_WORSE;
	/* A single capture that is off does not make a level yet, but the gate judges by it. */
	j->is_beyond = j->g.verdict == GATE_WORSE &&
		       j->g.after > j->h->level + (isfinite(j->g.limit) ? j->g.limit : 0);
	j->now = j->is_beyond		       ? j->g.after
		 : j->g.verdict == GATE_BETTER ? fmin(j->h->level, j->g.after)
					       : j->h->level;
	return true;
}

/* Has the series returned, then or now, to within its noise of the level before the change? */
static bool store_judge_is_over(const struct judging *j, const struct store_change *c)
{
	double back = c->before + history_limit(&j->x->history, j->h->series.noise, c->before, 1);
	const struct store_level *v = j->h->levels.v;

	for (size_t i = 0; i < j->h->levels.n; i++)
		if (v[i].index > c->index && v[i].level <= back)
			return true;
	return j->now <= back;
}

/* Finds the last acceptance that covers this figure and level; NULL: none. Acceptances
 * whose newest capture is before `since` do not count. */
static const struct store_acceptance *store_judge_find_accepted(
	const struct judging *j, double level, const struct store_entry *since)
{
	const struct store_series *s = &j->h->series;
	const struct store_acceptance *v = s->accepted.v;

	for (size_t i = s->accepted.n; i-- > 0;) {
		double limit = history_limit(&j->x->history, s->noise, v[i].level, 2);

		if (strcmp(v[i].figure, s->figure) == 0 && level <= v[i].level + limit &&
			(v[i].until > since->at ||
				(v[i].until == since->at && v[i].capture >= since->capture)))
			return &v[i];
	}
	return NULL;
}

static void put_regression(struct judging *j, const struct store_change *c,
	const struct store_acceptance *accepted, enum store_kind is)
{
	j->v[j->n++] = (struct store_regression){.series = j->h->series,
		.change = *c,
		.is = is,
		.kind = store_kinds[is],
		.now = j->now,
		.cost = j->now - c->before,
		.cost_pct = store_percent(j->now - c->before, c->before),
		.acceptance = is == STORE_ACCEPTED ? accepted->acceptance : 0,
		.accepted = is == STORE_ACCEPTED ? accepted : NULL};
}

/* The capture with which the current level began. */
static const struct store_point *begin_of_now(const struct judging *j)
{
	const struct store_level *v = j->h->levels.v;

	return &j->points[v[j->h->levels.n - 1].index];
}

/* Is the newest captures' loss already reported by a listed change? That is a change that begins
 * among them, or, if they are not beyond its level, the one that began the current level: until
 * they came it was a single capture. */
static bool is_told(const struct judging *j)
{
	for (size_t i = 0; i < j->n; i++)
		if (j->v[i].is != STORE_OVER &&
			(j->v[i].change.index >= j->n_old ||
				(!j->is_beyond && j->v[i].change.index == begin_of_now(j)->index)))
			return true;
	return false;
}

/* Adds a regression for new captures that are worse together, while none of them is off alone. Such
 * a level can be accepted, too, although no change in the history begins with it. */
static void put_newest(struct judging *j)
{
	const struct store_entry *first = &j->points[j->n_old].entry;
	const struct store_entry *last = &j->points[j->n_old - 1].entry;
	const struct store_acceptance *accepted =
		store_judge_find_accepted(j, j->g.after, &begin_of_now(j)->entry);
	struct store_change c = {.index = j->n_old,
		.first = first,
		.last = last,
		.capture = first->capture,
		.from = last->capture,
		.at = first->at,
		.time = first->time,
		.revision = first->revision,
		.is_same_code = strcmp(first->code, last->code) == 0,
		.before = j->g.before,
		.after = j->g.after,
		.change = j->g.after - j->g.before,
		.change_pct = store_percent(j->g.after - j->g.before, j->g.before),
		.state = "unconfirmed"};

	j->now = j->g.after;
	put_regression(j, &c, accepted, accepted ? STORE_ACCEPTED : STORE_NEW);
}

static void store_judge_put_change(struct judging *j, const struct store_change *c)
{
	const struct store_acceptance *accepted = store_judge_find_accepted(j, c->after, c->first);

	put_regression(j, c, accepted,
		store_judge_is_over(j, c) ? STORE_OVER
		: accepted		  ? STORE_ACCEPTED
		: c->index >= j->n_old	  ? STORE_NEW
					  : STORE_STANDING);
}

static void find_regressions(struct judging *j)
{
	const struct store_change *c = j->h->changes.v;

	for (size_t i = 0; i < j->h->changes.n; i++)
		if (c[i].change > 0 &&
			(strcmp(c[i].state, "confirmed") == 0 || j->g.verdict == GATE_WORSE))
			store_judge_put_change(j, &c[i]);
	if (j->g.verdict == GATE_WORSE && !is_told(j))
		put_newest(j);
	SORT(j->v, j->n, store_by_kind);
}

static const char *store_judge_verdict_of(const struct judging *j)
{
	static const char *const words[] = {"no-claim", "passed", "better", "passed"};

	return !j->n || j->v->is == STORE_OVER ? words[j->g.verdict]
	       : j->v->is == STORE_NEW	       ? "worse"
					       : j->v->kind;
}

static void put_gate(const struct judging *j, struct store_gate *out)
{
	const struct history_gate *g = &j->g;
	size_t n = j->h->points.n;

	*out = (struct store_gate){.series = j->h->series,
		.verdict = store_judge_verdict_of(j),
		.before = g->before,
		.after = g->after,
		.change_pct = store_percent(g->after - g->before, g->before),
		.limit_pct = store_percent(g->limit, g->before),
		.regressions = {j->v, j->n}};
	out->series.noise = g->noise;
	out->series.noise_pct = store_percent(g->noise, g->before);
	if (!n)
		return;
	out->capture = j->points[n - 1].entry.capture;
	out->revision = j->points[n - 1].entry.revision;
	out->captures_new = n - j->n_old;
	out->from = j->n_old ? j->points[j->n_old - 1].entry.capture : 0;
}

bool store_judge(const struct store_ask *x, const struct store_entries *entries, size_t at,
	struct store_judged *out, struct incore_error *e)
{
	struct judging j = {.x = x, .h = &out->history};

	if (!store_history(x, entries, at, &out->history, e))
		return false;
	j.points = out->history.points.v;
	j.v = arena_zalloc(x->arena, out->history.changes.n + 1, sizeof(*j.v));
	if (!j.v)
		return err_nomem(e);
	if (!compare_newest(&j, e))
		return false;
	find_regressions(&j);
	put_gate(&j, &out->gate);
	return true;
}

bool store_is_worse(const struct store_gate *g)
{
	const struct store_regression *worst = g->regressions.v;

	return g->regressions.n && worst->is < STORE_ACCEPTED;
}

bool store_explain_gate(
	const struct store_ask *x, struct store_gate *g, bool is_all, struct incore_error *e)
{
	struct store_regression *v = (struct store_regression *)g->regressions.v;

	for (size_t i = 0; i < g->regressions.n; i++)
		if ((is_all || v[i].is != STORE_OVER) && !store_explain(x, &v[i].change, e))
			return false;
	if (store_is_worse(g))
		g->why = v->change.why;
	return true;
}

#define THEN_COST DOWN(cost) DOWN(cost_pct) DOWN(change.at) DOWN(change.capture)
ORDER(by_kind, struct store_regression, UP(is) THEN_COST)

static int by_end(const struct store_regression *a, const struct store_regression *b)
{
	enum store_kind x = a->is == STORE_NEW ? STORE_STANDING : a->is;
	enum store_kind y = b->is == STORE_NEW ? STORE_STANDING : b->is;

	return (x > y) - (x < y);
}
ORDER(by_cost, struct store_regression, THEN(by_end) THEN_COST)

int store_by_kind(const void *regression, const void *other)
{
	return by_kind(regression, other);
}

int store_by_cost(const void *regression, const void *other)
{
	return by_cost(regression, other);
}

void store_count(const struct store_ask *x, const struct store_gate *g, struct store_tally *t)
{
	bool is_worse = strcmp(g->verdict, "worse") == 0;
	bool is_standing = strcmp(g->verdict, "standing") == 0;

	t->worse += is_worse;
	t->standing += is_standing;
	t->accepted += strcmp(g->verdict, "accepted") == 0;
	t->no_claim += strcmp(g->verdict, "no-claim") == 0;
	t->is_passed = t->is_passed && !is_worse && (!is_standing || x->is_new_alone);
}
