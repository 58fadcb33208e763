/* SPDX-License-Identifier: Apache-2.0 */
/* store_keep.c: incore store prune, store export: removes captures, or copies some elsewhere. */
#include "base/search.h"
#include "cli/store/store_job.h"
#include "page/say.h"

struct kept {
	const char *file;
	uint64_t captures, removed;
	bool is_dry;
};

/* --- prune --- */

static const struct option_def prune_options[] = {
	STORE_SELECT_OPTIONS,
	{OPT_KEEP, NULL, NULL, "keep the newest N of each series"},
	{OPT_BEFORE, NULL, NULL, "remove captures taken before this time"},
	{OPT_DRY_RUN_N, NULL, NULL, "only print how many captures would be removed"},
	OPTION_END,
};

static const struct column pruned_columns[] = {
	COLUMN(kept, removed, UNIT_COUNT, "captures that were removed"),
	COLUMN(kept, captures, UNIT_COUNT, "selected captures that were kept"),
	COLUMN(kept, is_dry, UNIT_NONE, "dry run: nothing was changed"),
};
static const struct record pruned_record = RECORD_OF(kept, RECORD_LINE, pruned_columns);

typedef VEC(uint64_t) number_list;

static bool is_named(const struct cli *c, uint64_t capture)
{
	uint64_t n;

	for (unsigned i = 0; i < c->n_args; i++)
		if (str_to_u64(str_of(c->args[i]), &n) && n == capture)
			return true;
	return false;
}

/* Chooses the captures to remove: those that any option or number selects. */
static bool choose(struct store_job *j, number_list *out)
{
	const char *text = cli_text(j->c, "before");
	uint64_t keep = cli_has(j->c, "keep") ? cli_count(j->c, "keep") : UINT64_MAX, n;
	int64_t before = INT64_MIN;
	size_t end = 0;

	if (text && !store_time(text, &before))
		return err_set(
			&j->c->error, INCORE_USAGE, "bad-time", "--before '%s' is no time", text);
	if (!text && keep == UINT64_MAX && !j->c->n_args)
		return err_set(&j->c->error, INCORE_USAGE, "nothing-to-do",
			"prune takes --keep, --before or numbers of captures");
	for (unsigned i = 0; i < j->c->n_args; i++)
		if (!store_number(j->c, j->c->args[i], &n))
			return false;
	for (size_t i = 0; i < j->entries.v.n; i++) {
		const struct store_entry *x = &j->entries.v.v[i];

		if (i == end)
			end = i + store_series(&j->entries, i);
		if ((end - i > keep || x->at < before || is_named(j->c, x->capture)) &&
			!VEC_PUSH(out, x->capture))
			return err_nomem(&j->c->error);
	}
	return true;
}

static bool run_prune(struct cli *c)
{
	struct store_job j;
	number_list gone = {0};
	struct kept x = {.is_dry = cli_flag(c, "dry-run")};
	bool ok = store_job_open(&j, c) && choose(&j, &gone) &&
		  (x.is_dry || store_remove(j.store, gone.v, gone.n, &c->error));

	x.removed = gone.n;
	x.captures = j.entries.v.n - gone.n;
	if (ok && c->use_json)
		ok = store_job_json(c, j.path, &pruned_record, &x);
	else if (ok)
		say(c->out, "%s %s, %s kept\n", COUNTED(x.removed, "capture"),
			x.is_dry ? "would be removed" : "removed", U64_TEXT(x.captures));
	VEC_FREE(&gone);
	store_job_close(&j);
	return ok;
}

const struct verb store_verb_prune = {
	.name = "store prune",
	.args = "[CAPTURE...]",
	.summary = "remove captures: by number, all but the newest, or old ones",
	.groups = OPTIONS_OUTPUT,
	.options = prune_options,
	.max_args = UINT32_MAX,
	.run = run_prune,
	.records = RECORDS(&pruned_record),
	.inputs = store_inputs,
};

/* --- export --- */

static const struct option_def export_options[] = {
	STORE_SELECT_OPTIONS,
	OPTION_END,
};

static const struct column exported_columns[] = {
	COLUMN(kept, file, UNIT_NONE, "path of the new store"),
	COLUMN(kept, captures, UNIT_COUNT, "captures in the new store"),
};
static const struct record exported_record = RECORD_OF(kept, RECORD_LINE, exported_columns);

static bool run_export(struct cli *c)
{
	struct store_job j;
	number_list numbers = {0};
	struct kept x = {.file = c->args[0]};
	bool ok = store_job_open(&j, c);

	for (size_t i = 0; ok && i < j.entries.v.n; i++)
		ok = VEC_PUSH(&numbers, j.entries.v.v[i].capture) || err_nomem(&c->error);
	SORT(numbers.v, numbers.n, compare_u64); /* in the order in which they were added */
	ok = ok && store_copy(j.store, x.file, numbers.v, numbers.n, &c->error);
	x.captures = numbers.n;
	if (ok && c->use_json)
		ok = store_job_json(c, j.path, &exported_record, &x);
	else if (ok)
		say(c->out, "%s: %s\n", x.file, COUNTED(x.captures, "capture"));
	VEC_FREE(&numbers);
	store_job_close(&j);
	return ok;
}

const struct verb store_verb_export = {
	.name = "store export",
	.args = "FILE",
	.summary = "some of its captures as a store of their own, also while others write",
	.groups = OPTIONS_OUTPUT,
	.options = export_options,
	.min_args = 1,
	.max_args = 1,
	.run = run_export,
	.records = RECORDS(&exported_record),
	.inputs = store_inputs,
};
