/* SPDX-License-Identifier: Apache-2.0 */
/* store_ls.c: incore store ls, show, series, files: what is in a store. */
#include "verbs/store/store_verbs.h"

static const struct option_def ls_options[] = {
	STORE_SELECT_OPTIONS,
	{OPT_REVISION, NULL, NULL, "only captures of this revision", STORE_FIELD(select.revision)},
	{OPT_SINCE, NULL, NULL, "only captures taken since this time", STORE_FIELD(select.since)},
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
static bool find_accepted(struct store_job *j, struct rows *out, struct incore_error *e)
{
	const struct store_entries *x = &j->entries;
	struct store_acceptance *v =
		ANSWER_ROWS(j->answer, out, x->accepted.n, store_acceptance, e);
	size_t n = 0;

	if (!v)
		return false;
	for (size_t at = 0; at < x->v.n; at += store_series(x, at)) {
		struct rows of = store_accepted_of(&x->accepted, &x->v.v[at]);

		if (of.n)
			memcpy(&v[n], of.v, of.n * sizeof(*v));
		n += of.n;
	}
	out->n = n;
	return true;
}

static bool put_listed(struct store_job *j, struct incore_error *e)
{
	struct listed *x = ANSWER_NEW(j->answer, listed, e);

	if (!x || !find_accepted(j, &x->accepted, e))
		return false;
	x->captures = (struct rows){j->entries.v.v, j->entries.v.n};
	answer_set(j->answer, &listed_record, x);
	return true;
}

static bool store_ls_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	return store_answer(r, a, put_listed, e);
}

static void store_ls_page(const struct answer *a, struct page *p)
{
	static const char *const columns[] = {"capture", "time", "kernel", "arch", "evidence",
		"labels", "revision", "code", "duration", "cycles", NULL};
	const struct listed *x = a->data;

	page_main_records(p, &store_entry_record, x->captures, columns);
	if (p->is_csv || !x->accepted.n)
		return;
	page_gap(p);
	store_page_accepted_series(p, x->accepted);
}

const struct question question_store_ls = {
	.name = "store ls",
	.summary = "list its captures",
	.args = "",
	.groups = OPTIONS_CSV,
	.options = ls_options,
	.params_size = sizeof(struct store_params),
	.records = RECORDS(&listed_record),
	.inputs = RECORDS(&store_input_record),
	.ask = store_ls_ask,
	.page = store_ls_page,
};

/* --- one capture --- */

#define SHOWN_ROWS 10u
#define MOST_SHOWN 100000u

static const struct option_def show_options[] = {
	STORE_OPTION,
	{OPT_TOP, NULL, "10", "number of instructions to show", STORE_ALL(top)},
	OPTION_END,
};

static bool put_card(struct store_job *j, struct incore_error *e)
{
	struct store_card *x = ANSWER_NEW(j->answer, store_card, e);
	uint64_t top = j->p->top == NO_COUNT ? SHOWN_ROWS : j->p->top, number;

	if (!x || !store_capture_number(j->request->paths[0], &number, e) ||
		!store_card(&j->ask, &j->entries, number,
			(unsigned)(top < MOST_SHOWN ? top : MOST_SHOWN), x, e))
		return false;
	answer_set(j->answer, &store_card_record, x);
	return true;
}

static bool store_show_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	return store_answer(r, a, put_card, e);
}

static void store_show_page(const struct answer *a, struct page *p)
{
	static const char *const rows[] = {
		"after=cycles", "cause", "row", "isa", "waits_for", "line", NULL};
	static const char *const findings[] = {"severity", "id", "message", NULL};
	const struct store_card *x = a->data;
	const struct store_entry *y = &x->capture;
	const char *comma = "";

	if (p->is_csv) {
		page_main_records(p, &store_mover_record, x->rows, rows);
		return;
	}
	page_line(p, "capture %llu, %s: %s%s%s, %s%s%s", (unsigned long long)y->capture, y->time,
		y->kernel ? y->kernel : "(no name)", y->arch ? " on " : "", y->arch ? y->arch : "",
		y->evidence, *y->labels ? ", " : "", y->labels);
	page_line(p, "revision %s, code %s, added by incore %s", y->revision ? y->revision : "-",
		y->code, y->incore);
	page_line(p, "%s", y->path);
	for (unsigned i = 0; i < STORE_FIGURES; i++)
		if (y->figure[i] != NO_I64) {
			page_say(p, "%s%s %s", comma, store_figures[i],
				U64_TEXT((uint64_t)y->figure[i]));
			comma = ", ";
		}
	page_line(p, " cycles");
	store_page_accepted(p, x->accepted);
	page_gap(p);
	page_main_records(p, &store_mover_record, x->rows, rows);
	if (!x->findings.n)
		return;
	page_gap(p);
	page_records(p, &store_finding_record, x->findings, findings);
}

const struct question question_store_show = {
	.name = "store show",
	.summary = "one capture: its identity, figures, instructions and findings",
	.args = "CAPTURE",
	.min_paths = 1,
	.max_paths = 1,
	.reach = REACH_HTTP,
	.groups = OPTIONS_CSV,
	.options = show_options,
	.params_size = sizeof(struct store_params),
	.records = RECORDS(&store_card_record),
	.inputs = RECORDS(&store_input_record, &store_part_record),
	.ask = store_show_ask,
	.page = store_show_page,
};

/* --- all series --- */

static const struct option_def series_options[] = {
	STORE_SELECT_OPTIONS,
	STORE_JUDGE_OPTIONS,
	STORE_FROM_OPTION,
	OPTION_END,
};

static bool put_series(struct store_job *j, struct incore_error *e)
{
	struct store_overview *x = ANSWER_NEW(j->answer, store_overview, e);

	if (!x || !store_overview(&j->ask, &j->entries, x, e) ||
		!store_part(j, &x->series, sizeof(struct store_line), e))
		return false;
	answer_set(j->answer, &store_overview_record, x);
	return true;
}

static bool store_series_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	return store_answer(r, a, put_series, e);
}

static void store_series_page(const struct answer *a, struct page *p)
{
	static const char *const columns[] = {"verdict", "kernel", "arch", "evidence", "labels",
		"figure", "captures", "capture", "time", "value=cycles", "cost", "last_pct",
		"last_at", NULL};
	const struct store_overview *x = a->data;
	const struct store_input *in = a->input;

	page_main_records(p, &store_line_record, x->series, columns);
	if (!p->is_csv)
		page_line(p, "%s of %s, the gate is %s", COUNTED(x->captures, "capture"),
			COUNTED(in->total, "kernel"), x->tally.is_passed ? "passed" : "not passed");
}

const struct question question_store_series = {
	.name = "store series",
	.summary = "its kernels in brief, each with its newest figure, the worst first",
	.args = "",
	.groups = OPTIONS_TOP | OPTIONS_CSV,
	.reach = REACH_HTTP,
	.options = series_options,
	.params_size = sizeof(struct store_params),
	.records = RECORDS(&store_overview_record),
	.inputs = RECORDS(&store_input_record, &store_part_record),
	.ask = store_series_ask,
	.page = store_series_page,
};

/* --- where captures were read from --- */

#define MOST_FILES 1000u

static const struct option_def files_options[] = {
	STORE_OPTION,
	OPTION_END,
};

static bool put_files(struct store_job *j, struct incore_error *e)
{
	struct store_files *x = ANSWER_NEW(j->answer, store_files, e);
	struct store_file *v =
		x ? ANSWER_ROWS(j->answer, &x->files, j->request->n_paths, store_file, e) : NULL;
	uint64_t number;

	if (!v)
		return false;
	for (unsigned i = 0; i < j->request->n_paths; i++)
		if (!store_capture_number(j->request->paths[i], &number, e) ||
			!store_find_file(&j->entries, number, &v[i], e))
			return false;
	answer_set(j->answer, &store_files_record, x);
	return true;
}

static bool store_files_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	return store_answer(r, a, put_files, e);
}

static void store_files_page(const struct answer *a, struct page *p)
{
	static const char *const columns[] = {"capture", "is_there=is there", "path", NULL};
	const struct store_files *x = a->data;

	page_main_records(p, &store_file_record, x->files, columns);
}

const struct question question_store_files = {
	.name = "store files",
	.summary = "where captures were read from, and whether a file is still there",
	.args = "CAPTURE...",
	.min_paths = 1,
	.max_paths = MOST_FILES,
	.reach = REACH_HTTP,
	.groups = OPTIONS_CSV,
	.options = files_options,
	.params_size = sizeof(struct store_params),
	.records = RECORDS(&store_files_record),
	.inputs = RECORDS(&store_input_record, &store_part_record),
	.ask = store_files_ask,
	.page = store_files_page,
};
