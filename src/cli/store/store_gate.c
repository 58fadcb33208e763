/* SPDX-License-Identifier: Apache-2.0 */
/* store_gate.c: incore store gate: are the newest captures worse than what stood before? For CI. */
#include <math.h>

#include "cli/store/store_job.h"
#include "cli/text/record_table.h"
#include "cli/text/say.h"

static const struct option_def options[] = {
	STORE_SELECT_OPTIONS,
	STORE_RULE_OPTIONS,
	{0, "max", OPTION_TEXT, "PERCENT", NULL, NULL,
		"worse by more fails, whatever the noise, and without a history to tell it"},
	OPTION_END,
};

static enum cell_style style_of(const void *row, const char *column)
{
	const struct store_gate *g = row;

	return strcmp(column, "verdict") != 0	     ? CELL_PLAIN
	       : strcmp(g->verdict, "worse") == 0    ? CELL_BAD
	       : strcmp(g->verdict, "better") == 0   ? CELL_GOOD
	       : strcmp(g->verdict, "no-claim") == 0 ? CELL_DIM
						     : CELL_PLAIN;
}

static bool print(struct cli *c, const struct store_gates *x)
{
	static const char *const columns[] = {"verdict", "kernel", "arch", "evidence", "labels",
		"figure", "captures", "captures_new", "capture", "revision", "before", "after",
		"change_pct", "limit_pct", NULL};
	const struct store_gate *v = x->series.v;

	if (!record_table_print_styled(c, &store_gate_record, x->series, columns, style_of) ||
		c->use_csv)
		return !c->error.code;
	for (size_t i = 0; i < x->series.n; i++)
		if (v[i].why.command) {
			say(c->out, "\n%s, capture %llu against %llu:\n",
				v[i].series.kernel ? v[i].series.kernel : "(no name)",
				(unsigned long long)v[i].capture, (unsigned long long)v[i].from);
			store_say_why(c, &v[i].why);
		}
	return true;
}

/* A gate that lets pass because nothing was there to look at would be none. */
static bool check_any(const struct store_job *j)
{
	return j->entries.v.n ||
	       err_set(&j->c->error, INCORE_USAGE, "no-capture",
		       "%s: no capture is selected, so there is nothing to pass", j->path);
}

static bool run_gate(struct cli *c)
{
	struct store_job j;
	struct store_gates x = {.worse = 0};
	bool ok = store_job_open(&j, c) && store_job_rule(&j) && check_any(&j) &&
		  store_real(c, "max", &j.ask.most_pct) &&
		  store_gates(&j.ask, &j.entries, &x, &c->error);

	if (ok && x.no_claim)
		cli_warn(c, "%s with fewer than %u captures before the new: nothing is claimed",
			COUNTED(x.no_claim, "kernel"), HISTORY_LEAST);
	c->is_no = ok && !x.is_passed;
	if (ok)
		ok = c->use_json ? store_job_json(c, j.path, &store_gates_record, &x)
				 : print(c, &x);
	store_job_close(&j);
	return ok;
}

const struct verb store_verb_gate = {
	.name = "store gate",
	.args = "",
	.summary = "exit 1 if the newest captures are worse than those before, by more than noise",
	.groups = OPTIONS_OUTPUT | OPTIONS_CSV,
	.options = options,
	.run = run_gate,
	.records = RECORDS(&store_gates_record),
	.inputs = store_inputs,
};
