/* SPDX-License-Identifier: Apache-2.0 */
/* store_history.c: incore store history, store regressions: what changed by more than its noise. */
#include "verbs/store/store_verbs.h"

#define SCREEN_POINTS 30u

static const struct option_def history_options[] = {
	STORE_SELECT_OPTIONS,
	STORE_RULE_OPTIONS,
	{OPT_LAST, NULL, NULL, "captures to show per series (30 on a screen); all are analysed",
		STORE_FIELD(last)},
	{OPT_CAPTURE, NULL, NULL, "only the series that this capture belongs to",
		STORE_ALL(capture)},
	{OPT_POINTS, NULL, NULL,
		OPTION_RARE "thin longer series to N captures: lows, highs, marked ones",
		STORE_FIELD(points), .only_named = true},
	{OPT_CHANGES, NULL, NULL, OPTION_RARE "only the newest N changes of each series",
		STORE_FIELD(changes), .only_named = true},
	OPTION_END,
};

/* Keeps the last rows, at most so many. */
static void keep_last(struct rows *rows, size_t size, uint64_t most)
{
	if (rows->n <= most)
		return;
	rows->v = (const char *)rows->v + (rows->n - most) * size;
	rows->n = (size_t)most;
}

/* The part of a history that the options ask for, with its changes explained. */
static bool cut_history(struct store_job *j, struct store_history *h, struct incore_error *e)
{
	const struct store_params *p = j->p;
	struct store_change *v;

	keep_last(&h->points, sizeof(struct store_point),
		p->last != NO_COUNT	    ? p->last
		: j->request->is_for_people ? SCREEN_POINTS
					    : UINT64_MAX);
	keep_last(&h->changes, sizeof(*v), p->changes);
	v = (struct store_change *)h->changes.v;
	for (size_t i = 0; i < h->changes.n; i++)
		if (!store_explain(&j->ask, &v[i], e))
			return false;
	j->about->total += h->points.n;
	return p->points == NO_COUNT ||
	       store_thin(h->points, p->points, j->ask.arena, &h->points) || err_nomem(e);
}

static bool put_histories(struct store_job *j, struct incore_error *e)
{
	const struct store_entries *x = &j->entries;
	struct store_histories *out = ANSWER_NEW(j->answer, store_histories, e);
	struct store_history *v =
		out ? ANSWER_ROWS(j->answer, &out->series, x->v.n, store_history, e) : NULL;
	size_t at = 0, end = x->v.n, n = 0;

	if (!v)
		return false;
	if (j->p->capture != NO_COUNT) {
		if (!store_series_of(x, j->p->capture, &at, &end, e))
			return false;
		end += at;
	}
	for (; at < end; at += store_series(x, at), n++)
		if (!store_history(&j->ask, x, at, &v[n], e) || !cut_history(j, &v[n], e))
			return false;
	out->series.n = n;
	answer_set(j->answer, &store_histories_record, out);
	if (!n)
		answer_warn(j->answer, "no capture of the store is selected");
	return true;
}

static bool store_history_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	return store_answer(r, a, put_histories, e);
}

static enum cell_style point_style(const void *row, const char *column)
{
	const struct store_point *p = row;

	return strcmp(column, "mark") != 0 || !*p->mark ? CELL_PLAIN
	       : p->off_pct > 0 || *p->mark == 'c'	? CELL_WARM
							: CELL_DIM;
}

static void put_history(struct page *p, const struct store_history *h)
{
	static const char *const columns[] = {
		"capture", "time", "revision", "code", "value=cycles", "off_pct", "mark", NULL};
	const struct store_change *v = h->changes.v;

	store_page_series(p, &h->series);
	store_page_accepted(p, h->series.accepted);
	page_main_records_styled(p, &store_point_record, h->points, columns, point_style);
	for (size_t i = 0; i < h->changes.n; i++) {
		page_line(p, "%s change at capture %llu: %.0f -> %.0f cycles (%+.2f %%)%s",
			v[i].state, (unsigned long long)v[i].capture, v[i].before, v[i].after,
			v[i].change_pct, v[i].is_same_code ? "" : ", other code");
		store_page_why(p, &v[i].why);
	}
}

/* The captures of all series as one table. */
static void put_points(struct page *p, struct rows series)
{
	static const char *const columns[] = {"kernel", "arch", "evidence", "labels", "capture",
		"time", "revision", "code", "value", "level", "off_pct", "mark", NULL};
	const struct store_history *h = series.v;
	struct store_point *v;
	size_t n = 0;

	for (size_t i = 0; i < series.n; i++)
		n += h[i].points.n;
	v = arena_zalloc(&p->arena, n + 1, sizeof(*v));
	if (!v) {
		p->is_failed = true;
		return;
	}
	for (size_t i = n = 0; i < series.n; n += h[i++].points.n)
		if (h[i].points.n)
			memcpy(&v[n], h[i].points.v, h[i].points.n * sizeof(*v));
	page_main_records(p, &store_point_record, (struct rows){v, n}, columns);
}

static void store_history_page(const struct answer *a, struct page *p)
{
	const struct store_histories *x = a->data;
	const struct store_history *v = x->series.v;

	p->is_long = true;
	if (p->is_csv) {
		put_points(p, x->series);
		return;
	}
	for (size_t i = 0; i < x->series.n; i++) {
		if (i)
			page_gap(p);
		put_history(p, &v[i]);
	}
}

const struct question question_store_history = {
	.name = "store history",
	.summary = "the figures of kernels over time, and where they changed",
	.args = "",
	.reach = REACH_HTTP,
	.groups = OPTIONS_CSV,
	.options = history_options,
	.params_size = sizeof(struct store_params),
	.records = RECORDS(&store_histories_record),
	.inputs = RECORDS(&store_input_record, &store_part_record),
	.ask = store_history_ask,
	.page = store_history_page,
};

/* --- what got worse --- */

static const struct option_def regressions_options[] = {
	STORE_SELECT_OPTIONS,
	STORE_RULE_OPTIONS,
	{OPT_ALL_A, NULL, NULL, "also show regressions that are over", STORE_ALL(is_all)},
	STORE_FROM_OPTION,
	OPTION_END,
};

static bool put_worse(struct store_job *j, struct incore_error *e)
{
	struct store_worse *x = ANSWER_NEW(j->answer, store_worse, e);

	if (!x || !store_worse(&j->ask, &j->entries, j->p->is_all, x, e) ||
		!store_part(j, &x->regressions, sizeof(struct store_regression), e))
		return false;
	answer_set(j->answer, &store_worse_record, x);
	return true;
}

static bool store_regressions_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	return store_answer(r, a, put_worse, e);
}

static void store_regressions_page(const struct answer *a, struct page *p)
{
	static const char *const columns[] = {"kernel", "arch", "evidence", "labels", "figure",
		"kind", "capture", "from", "time", "revision", "state", "before", "after",
		"change_pct", "now", "cost", "cost_pct", "acceptance", "command", NULL};
	const struct store_worse *x = a->data;
	const struct store_regression *v = x->regressions.v;

	if (p->is_csv) {
		page_main_records(p, &store_regression_record, x->regressions, columns);
		return;
	}
	for (size_t i = 0; i < x->regressions.n; i++)
		store_page_regression(p, &v[i]);
	if (!x->regressions.n)
		page_line(p, "nothing got worse by more than its noise");
}

const struct question question_store_regressions = {
	.name = "store regressions",
	.summary = "what got worse by more than its noise, and which instructions",
	.args = "",
	.groups = OPTIONS_TOP | OPTIONS_CSV,
	.reach = REACH_HTTP,
	.options = regressions_options,
	.params_size = sizeof(struct store_params),
	.records = RECORDS(&store_worse_record),
	.inputs = RECORDS(&store_input_record, &store_part_record),
	.ask = store_regressions_ask,
	.page = store_regressions_page,
};
