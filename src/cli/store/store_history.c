/* SPDX-License-Identifier: Apache-2.0 */
/* store_history.c: incore store history, store regressions: what changed by more than its noise. */
#include "cli/store/store_job.h"
#include "cli/text/record_table.h"
#include "cli/text/say.h"

static const struct option_def history_options[] = {
	STORE_SELECT_OPTIONS,
	STORE_RULE_OPTIONS,
	{0, "last", OPTION_TOP, "N|all", NULL, NULL,
		"captures to show of each series; 30 of them on a screen; all are looked at"},
	OPTION_END,
};

struct histories {
	struct rows series;
};
static const struct column histories_columns[] = {
	LIST(histories, series, &store_history_record,
		"captures of equal kernel, architecture, evidence and labels"),
};
static const struct record histories_record = RECORD_OF(histories, RECORD_BLOCK, histories_columns);

static bool make_histories(struct store_job *j, struct rows *out)
{
	struct store_history *v =
		arena_zalloc(&j->arena, j->entries.v.n + 1, sizeof(*v)); /* at most so many */
	size_t n = 0, at = 0;

	if (!v)
		return err_nomem(&j->c->error);
	for (; at < j->entries.v.n; n++) {
		size_t k = store_series(&j->entries, at);

		if (!store_history(&j->ask, &j->entries.v.v[at], k, &v[n], &j->c->error))
			return false;
		at += k;
	}
	*out = (struct rows){v, n};
	return true;
}

#define SCREEN_POINTS 30

/* The last ones that are wanted. */
static struct rows last_points(const struct cli *c, struct rows points)
{
	const struct store_point *v = points.v;
	const char *text = cli_text(c, "last");
	uint64_t most = !text ? (c->use_json || c->use_csv ? UINT64_MAX : SCREEN_POINTS)
			: strcmp(text, "all") == 0 ? UINT64_MAX
						   : cli_count(c, "last");

	return points.n <= most ? points : (struct rows){v + (points.n - most), (size_t)most};
}

static enum cell_style point_style(const void *row, const char *column)
{
	const struct store_point *p = row;

	return strcmp(column, "mark") != 0 || !*p->mark ? CELL_PLAIN
	       : p->off_pct > 0 || *p->mark == 'c'	? CELL_WARM
							: CELL_DIM;
}

static bool print_history(struct cli *c, const struct store_history *h)
{
	static const char *const text_columns[] = {
		"capture", "time", "revision", "code", "value=cycles", "off_pct", "mark", NULL};
	static const char *const csv_columns[] = {"kernel", "arch", "evidence", "labels", "capture",
		"time", "revision", "code", "value", "level", "off_pct", "mark", NULL};
	const struct store_change *v = h->changes.v;

	if (c->use_csv)
		return record_table_print(c, &store_point_record, h->points, csv_columns);
	store_say_series(c, &h->series);
	if (!record_table_print_styled(
		    c, &store_point_record, h->points, text_columns, point_style))
		return false;
	for (size_t i = 0; i < h->changes.n; i++) {
		say(c->out, "%s change at capture %llu: %.0f -> %.0f cycles (%+.2f %%)%s\n",
			v[i].state, (unsigned long long)v[i].capture, v[i].before, v[i].after,
			v[i].change_pct, v[i].is_same_code ? "" : ", other code");
		store_say_why(c, &v[i].why);
	}
	return true;
}

static bool run_history(struct cli *c)
{
	struct store_job j;
	struct histories x = {{0}};
	struct store_history *v;
	bool ok = store_job_open(&j, c) && store_job_rule(&j) && make_histories(&j, &x.series);

	v = (struct store_history *)x.series.v;
	for (size_t i = 0; ok && i < x.series.n; i++)
		v[i].points = last_points(c, v[i].points);
	if (ok && c->use_json)
		ok = store_job_json(c, j.path, &histories_record, &x);
	else if (ok)
		cli_page(c, 0);
	for (size_t i = 0; ok && !c->use_json && i < x.series.n; i++) {
		if (i && !c->use_csv)
			say(c->out, "\n");
		ok = print_history(c, &v[i]);
	}
	if (ok && !x.series.n && !c->use_json)
		cli_warn(c, "no capture of the store is selected");
	store_job_close(&j);
	return ok;
}

const struct verb store_verb_history = {
	.name = "store history",
	.args = "",
	.summary = "the figures of kernels over time, and where they changed",
	.groups = OPTIONS_OUTPUT | OPTIONS_CSV,
	.options = history_options,
	.run = run_history,
	.records = RECORDS(&histories_record),
	.inputs = store_inputs,
};

/* --- what got worse --- */

static const struct option_def regressions_options[] = {
	STORE_SELECT_OPTIONS,
	STORE_RULE_OPTIONS,
	{'a', "all", OPTION_FLAG, NULL, NULL, NULL, "also those that are no more"},
	OPTION_END,
};

struct regressions {
	struct rows regressions;
};
static const struct column regressions_columns[] = {
	LIST(regressions, regressions, &store_regression_record,
		"changes to the worse, series by series"),
};
static const struct record regressions_record =
	RECORD_OF(regressions, RECORD_BLOCK, regressions_columns);

static bool collect(struct store_job *j, struct rows histories, regression_list *out)
{
	const struct store_history *h = histories.v;

	for (size_t i = 0; i < histories.n; i++)
		if (!store_regressions(&h[i], &j->ask, cli_flag(j->c, "all"), out))
			return err_nomem(&j->c->error);
	return true;
}

static bool print_regressions(struct cli *c, struct rows list)
{
	static const char *const csv_columns[] = {"kernel", "arch", "evidence", "labels", "figure",
		"capture", "from", "time", "revision", "state", "is_open", "before", "after",
		"change_pct", "command", NULL};
	const struct store_regression *v = list.v;

	if (c->use_csv)
		return record_table_print(c, &store_regression_record, list, csv_columns);
	for (size_t i = 0; i < list.n; i++) {
		store_say_series(c, &v[i].series);
		say(c->out, "  %s%+.2f %%%s since capture %llu (%s, revision %s), %s%s%s\n",
			style_on(c, CELL_BAD), v[i].change.change_pct, style_off(c),
			(unsigned long long)v[i].change.capture, v[i].change.time,
			v[i].change.revision ? v[i].change.revision : "-", v[i].change.state,
			v[i].is_open ? "" : ", no more",
			v[i].change.is_same_code ? "" : ", other code");
		store_say_why(c, &v[i].change.why);
	}
	if (!list.n)
		say(c->out, "nothing got worse by more than its noise\n");
	return true;
}

static bool run_regressions(struct cli *c)
{
	struct store_job j;
	struct rows histories = {0};
	regression_list list = {0};
	bool ok = store_job_open(&j, c) && store_job_rule(&j) && make_histories(&j, &histories) &&
		  collect(&j, histories, &list);
	struct regressions x = {{list.v, list.n}};

	if (ok)
		ok = c->use_json ? store_job_json(c, j.path, &regressions_record, &x)
				 : print_regressions(c, x.regressions);
	VEC_FREE(&list);
	store_job_close(&j);
	return ok;
}

const struct verb store_verb_regressions = {
	.name = "store regressions",
	.args = "",
	.summary = "what got worse by more than its noise, and which instructions",
	.groups = OPTIONS_OUTPUT | OPTIONS_CSV,
	.options = regressions_options,
	.run = run_regressions,
	.records = RECORDS(&regressions_record),
	.inputs = store_inputs,
};
