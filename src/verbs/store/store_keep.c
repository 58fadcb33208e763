/* SPDX-License-Identifier: Apache-2.0 */
/* store_keep.c: incore store prune, store export: removes captures, or copies some elsewhere. */
#include "base/search.h"
#include "verbs/store/store_verbs.h"

struct kept {
	const char *file;
	uint64_t captures, removed;
	bool is_dry;
};
typedef VEC(uint64_t) number_list;

/* --- prune --- */

static const struct option_def prune_options[] = {
	STORE_SELECT_OPTIONS,
	{OPT_KEEP, NULL, NULL, "keep the newest N of each series", STORE_FIELD(keep)},
	{OPT_BEFORE, NULL, NULL, "remove captures taken before this time", STORE_FIELD(before)},
	{OPT_DRY_RUN_N, NULL, NULL, "only print how many captures would be removed",
		STORE_FIELD(is_dry)},
	OPTION_END,
};

static const struct column pruned_columns[] = {
	COLUMN(kept, removed, UNIT_COUNT, "captures that were removed"),
	COLUMN(kept, captures, UNIT_COUNT, "selected captures that were kept"),
	COLUMN(kept, is_dry, UNIT_NONE, "dry run: nothing was changed"),
};
static const struct record pruned_record = RECORD_OF(kept, RECORD_LINE, pruned_columns);

static bool is_named(const struct request *r, uint64_t capture)
{
	uint64_t n;

	for (unsigned i = 0; i < r->n_paths; i++)
		if (str_to_u64(str_of(r->paths[i]), &n) && n == capture)
			return true;
	return false;
}

/* Chooses the captures to remove: those that any option or number selects. */
static bool choose_gone(const struct store_job *j, number_list *out, struct incore_error *e)
{
	const struct request *r = j->request;
	int64_t before = INT64_MIN;
	uint64_t n;
	size_t end = 0;

	if (j->p->before && !store_time(j->p->before, &before))
		return err_set(e, INCORE_USAGE, "bad-time",
			"--before '%s': expected 2026-11-18, 2026-11-18T01:02:03Z or @SECONDS",
			j->p->before);
	if (!j->p->before && j->p->keep == NO_COUNT && !r->n_paths)
		return err_set(e, INCORE_USAGE, "nothing-to-do",
			"prune takes --keep, --before or numbers of captures");
	for (unsigned i = 0; i < r->n_paths; i++)
		if (!store_capture_number(r->paths[i], &n, e))
			return false;
	for (size_t i = 0; i < j->entries.v.n; i++) {
		const struct store_entry *x = &j->entries.v.v[i];

		if (i == end)
			end = i + store_series(&j->entries, i);
		if ((end - i > j->p->keep || x->at < before || is_named(r, x->capture)) &&
			!VEC_PUSH(out, x->capture))
			return err_nomem(e);
	}
	return true;
}

static bool prune(struct store_job *j, struct incore_error *e)
{
	struct kept *x = ANSWER_NEW(j->answer, kept, e);
	number_list gone = {0};
	bool ok = x && choose_gone(j, &gone, e) &&
		  (j->p->is_dry || store_remove(j->store, gone.v, gone.n, e));

	if (ok) {
		*x = (struct kept){.removed = gone.n,
			.captures = j->entries.v.n - gone.n,
			.is_dry = j->p->is_dry};
		answer_set(j->answer, &pruned_record, x);
	}
	VEC_FREE(&gone);
	return ok;
}

static bool store_prune_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	return store_answer(r, a, prune, e);
}

static void store_prune_page(const struct answer *a, struct page *p)
{
	const struct kept *x = a->data;

	page_line(p, "%s %s, %s kept", COUNTED(x->removed, "capture"),
		x->is_dry ? "would be removed" : "removed", U64_TEXT(x->captures));
}

const struct question question_store_prune = {
	.name = "store prune",
	.summary = "remove captures: by number, all but the newest, or old ones",
	.args = "[CAPTURE...]",
	.max_paths = UINT32_MAX,
	.options = prune_options,
	.params_size = sizeof(struct store_params),
	.records = RECORDS(&pruned_record),
	.inputs = RECORDS(&store_input_record),
	.ask = store_prune_ask,
	.page = store_prune_page,
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

static bool copy_store(struct store_job *j, struct incore_error *e)
{
	struct kept *x = ANSWER_NEW(j->answer, kept, e);
	const char *file = j->request->paths[0];
	number_list numbers = {0};
	bool ok = x != NULL;

	for (size_t i = 0; ok && i < j->entries.v.n; i++)
		ok = VEC_PUSH(&numbers, j->entries.v.v[i].capture) || err_nomem(e);
	SORT(numbers.v, numbers.n, compare_u64); /* in the order in which they were added */
	ok = ok && store_copy(j->store, file, numbers.v, numbers.n, e);
	if (ok) {
		*x = (struct kept){.file = file, .captures = numbers.n};
		answer_set(j->answer, &exported_record, x);
	}
	VEC_FREE(&numbers);
	return ok;
}

static bool store_export_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	return store_answer(r, a, copy_store, e);
}

static void store_export_page(const struct answer *a, struct page *p)
{
	const struct kept *x = a->data;

	page_line(p, "%s: %s", x->file, COUNTED(x->captures, "capture"));
}

const struct question question_store_export = {
	.name = "store export",
	.summary = "some of its captures as a store of their own, also while others write",
	.args = "FILE",
	.min_paths = 1,
	.max_paths = 1,
	.options = export_options,
	.params_size = sizeof(struct store_params),
	.records = RECORDS(&exported_record),
	.inputs = RECORDS(&store_input_record),
	.ask = store_export_ask,
	.page = store_export_page,
};
