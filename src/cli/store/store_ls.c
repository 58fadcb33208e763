/* SPDX-License-Identifier: Apache-2.0 */
/* store_ls.c: incore store ls, store show: what is in a store. */
#include "cli/draw.h"
#include "cli/store/store_job.h"
#include "page/say.h"

static const struct option_def ls_options[] = {
	STORE_SELECT_OPTIONS,
	{OPT_REVISION, NULL, NULL, "only captures of this revision"},
	{OPT_SINCE, NULL, NULL, "only captures taken since this time"},
	OPTION_END,
};

struct listed {
	struct rows captures, accepted;
};
static const struct column listed_columns[] = {
	LIST(listed, captures, &store_entry_record,
		"captures by kernel, architecture, evidence, labels and time"),
	LIST(listed, accepted, &store_acceptance_record,
		"changes that were accepted in the series of these captures"),
};
static const struct record listed_record = RECORD_OF(listed, RECORD_BLOCK, listed_columns);

/* Finds the acceptances of the listed series. */
static bool find_accepted(struct store_job *j, struct rows *out)
{
	const struct store_entries *x = &j->entries;
	struct store_acceptance *v = arena_zalloc(&j->arena, x->accepted.n + 1, sizeof(*v));
	size_t n = 0;

	if (!v)
		return err_nomem(&j->c->error);
	for (size_t at = 0; at < x->v.n; at += store_series(x, at)) {
		struct rows of = store_accepted_of(&x->accepted, &x->v.v[at]);

		if (of.n)
			memcpy(&v[n], of.v, of.n * sizeof(*v));
		n += of.n;
	}
	*out = (struct rows){v, n};
	return true;
}

static bool print_listed(struct cli *c, const struct listed *x)
{
	static const char *const columns[] = {"capture", "time", "kernel", "arch", "evidence",
		"labels", "revision", "code", "duration", "cycles", NULL};

	if (!record_table_print(c, &store_entry_record, x->captures, columns) || c->use_csv)
		return !c->error.code;
	if (x->accepted.n)
		say(c->out, "\n");
	store_say_accepted_series(c, x->accepted);
	return true;
}

static bool run_ls(struct cli *c)
{
	struct store_job j;
	struct listed x;
	bool ok = store_job_open(&j, c) && find_accepted(&j, &x.accepted);

	x.captures = (struct rows){j.entries.v.v, j.entries.v.n};
	if (ok && c->use_json)
		ok = store_job_json(c, j.path, &listed_record, &x);
	else if (ok)
		ok = print_listed(c, &x);
	store_job_close(&j);
	return ok;
}

const struct verb store_verb_ls = {
	.name = "store ls",
	.args = "",
	.summary = "list its captures",
	.groups = OPTIONS_OUTPUT | OPTIONS_CSV,
	.options = ls_options,
	.run = run_ls,
	.records = RECORDS(&listed_record),
	.inputs = store_inputs,
};

/* --- one capture --- */

static const struct option_def show_options[] = {
	STORE_OPTION,
	{OPT_TOP, NULL, "10", "number of instructions to show"},
	OPTION_END,
};

static bool print_shown(struct cli *c, const struct store_card *x)
{
	static const char *const rows[] = {
		"after=cycles", "cause", "row", "isa", "waits_for", "line", NULL};
	static const char *const findings[] = {"severity", "id", "message", NULL};
	const struct store_entry *y = &x->capture;
	const char *comma = "";

	if (c->use_csv)
		return record_table_print(c, &store_mover_record, x->rows, rows);
	say(c->out, "capture %llu, %s: %s%s%s, %s%s%s\n", (unsigned long long)y->capture, y->time,
		y->kernel ? y->kernel : "(no name)", y->arch ? " on " : "", y->arch ? y->arch : "",
		y->evidence, *y->labels ? ", " : "", y->labels);
	say(c->out, "revision %s, code %s, added by incore %s\n%s\n",
		y->revision ? y->revision : "-", y->code, y->incore, y->path);
	for (unsigned i = 0; i < STORE_FIGURES; i++)
		if (y->figure[i] != NO_I64) {
			say(c->out, "%s%s %s", comma, store_figures[i],
				U64_TEXT((uint64_t)y->figure[i]));
			comma = ", ";
		}
	say(c->out, " cycles\n");
	store_say_accepted(c, x->accepted);
	say(c->out, "\n");
	if (!record_table_print(c, &store_mover_record, x->rows, rows) || !x->findings.n)
		return !c->error.code;
	say(c->out, "\n");
	return record_table_print(c, &store_finding_record, x->findings, findings);
}

static bool run_show(struct cli *c)
{
	struct store_job j = {0};
	struct store_card x = {.rows = {0}};
	uint64_t number, top = cli_top(c);
	bool ok;

	if (!store_number(c, c->args[0], &number))
		return false;
	ok = store_job_open(&j, c);
	j.ask = (struct store_ask){.store = j.store, .arena = &j.arena};
	ok = ok && store_card(&j.ask, &j.entries, number, (unsigned)(top < 100000 ? top : 100000),
			   &x, &c->error);
	if (ok)
		ok = c->use_json ? store_job_json(c, j.path, &store_card_record, &x)
				 : print_shown(c, &x);
	store_job_close(&j);
	return ok;
}

const struct verb store_verb_show = {
	.name = "store show",
	.args = "CAPTURE",
	.summary = "one capture: its identity, figures, instructions and findings",
	.groups = OPTIONS_OUTPUT | OPTIONS_CSV,
	.options = show_options,
	.min_args = 1,
	.max_args = 1,
	.run = run_show,
	.records = RECORDS(&store_card_record),
	.inputs = store_inputs,
};
