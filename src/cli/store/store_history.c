/* SPDX-License-Identifier: Apache-2.0 */
/* store_history.c: incore store history, store regressions: what changed by more than its noise. */
#include "cli/draw.h"
#include "cli/store/store_job.h"
#include "page/say.h"

static const struct option_def history_options[] = {
	STORE_SELECT_OPTIONS,
	STORE_RULE_OPTIONS,
	{OPT_LAST, NULL, NULL, "captures to show per series (30 on a screen); all are analysed"},
	OPTION_END,
};

#define SCREEN_POINTS 30

/* The last points, as many as requested. */
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
	store_say_accepted(c, h->series.accepted);
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
	struct store_histories x = {{0}};
	struct store_history *v;
	bool ok = store_job_open(&j, c) && store_job_rule(&j) &&
		  store_histories(&j.ask, &j.entries, &x, &c->error);

	v = (struct store_history *)x.series.v;
	for (size_t i = 0; ok && i < x.series.n; i++)
		v[i].points = last_points(c, v[i].points);
	if (ok && c->use_json)
		ok = store_job_json(c, j.path, &store_histories_record, &x);
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
	.records = RECORDS(&store_histories_record),
	.inputs = store_inputs,
};

/* --- what got worse --- */

static const struct option_def regressions_options[] = {
	STORE_SELECT_OPTIONS,
	STORE_RULE_OPTIONS,
	{OPT_ALL_A, NULL, NULL, "also show regressions that are over"},
	OPTION_END,
};

static bool print_regressions(struct cli *c, struct rows list)
{
	static const char *const csv_columns[] = {"kernel", "arch", "evidence", "labels", "figure",
		"kind", "capture", "from", "time", "revision", "state", "before", "after",
		"change_pct", "now", "cost", "cost_pct", "acceptance", "command", NULL};
	const struct store_regression *v = list.v;

	if (c->use_csv)
		return record_table_print(c, &store_regression_record, list, csv_columns);
	for (size_t i = 0; i < list.n; i++)
		store_say_regression(c, &v[i]);
	if (!list.n)
		say(c->out, "nothing got worse by more than its noise\n");
	return true;
}

static bool run_regressions(struct cli *c)
{
	struct store_job j;
	struct store_worse x = {{0}};
	bool ok = store_job_open(&j, c) && store_job_rule(&j) &&
		  store_worse(&j.ask, &j.entries, cli_flag(c, "all"), &x, &c->error);

	if (ok)
		ok = c->use_json ? store_job_json(c, j.path, &store_worse_record, &x)
				 : print_regressions(c, x.regressions);
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
	.records = RECORDS(&store_worse_record),
	.inputs = store_inputs,
};
