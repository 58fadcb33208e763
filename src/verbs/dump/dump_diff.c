/* SPDX-License-Identifier: Apache-2.0 */
/* dump_diff.c: do two dumps hold the same values? */
#include <math.h>
#include <stdlib.h>

#include "dump/read/diff.h"
#include "verbs/dump/dump_rows.h"

struct dump_diff_params {
	const char *rtol, *atol;
	bool nan_differs, no_scalars, all, follow_links;
	uint64_t top;
};
#define DIFF_FIELD(M) OPTION_FIELD(dump_diff_params, M)
static const struct option_def options[] = {
	{OPT_RTOL, NULL, NULL, "relative tolerance for every dtype", DIFF_FIELD(rtol)},
	{OPT_ATOL, NULL, NULL, "absolute tolerance for every dtype", DIFF_FIELD(atol)},
	{OPT_NAN_DIFFERS, NULL, NULL, "treat NaN as different from NaN", DIFF_FIELD(nan_differs)},
	{OPT_NO_SCALARS, NULL, NULL, "compare only tensors", DIFF_FIELD(no_scalars)},
	{OPT_ALL, NULL, NULL, "also show pairs that are equal", DIFF_FIELD(all)},
	{OPT_TOP, NULL, "20", "how many pairs to show", DIFF_FIELD(top)},
	OPTION_LINKS(dump_diff_params, follow_links),
	OPTION_END,
};

struct shown_pair {
	struct dump_pair p;
	/* only in tables */
	const char *dtype;
	double max_abs, max_rel; /* NaN if nothing differs */
};

/* Parses a tolerance; -1 if none was given: that of the dtype is used. */
static bool take_tolerance(const char *name, const char *text, double *out, struct incore_error *e)
{
	char *end;

	*out = -1;
	if (!text)
		return true;
	*out = strtod(text, &end);
	if (end != text && !*end && isfinite(*out) && *out >= 0)
		return true;
	return err_set(e, INCORE_USAGE, "bad-option-value",
		"--%s: expected a number of 0 or more, found '%s'", name, text);
}

static const struct column pair_columns[] = {
	DUMP_TASK_ID(dump_pair),
	COLUMN(dump_pair, slot, UNIT_INDEX, "number of the argument"),
	COLUMN(dump_pair, stage, UNIT_NONE, "whether it was copied before or after the task",
		.words = DUMP_STAGES),
	COLUMN(dump_pair, block, UNIT_INDEX, "number of the block that copied the record",
		.flags = COLUMN_NULLABLE | COLUMN_BLANK),
	COLUMN(dump_pair, state, UNIT_NONE, "how the records of A and B compare",
		.words = DUMP_PAIR_STATES),
	COLUMN_AS(dump_pair, is_identical, "identical", UNIT_NONE, "A and B are equal bit by bit"),
	COLUMN_AS(dump_pair, a, "index_a", UNIT_INDEX, "index of the record in A", .title = "a",
		.csv = "index_a", .flags = COLUMN_NULLABLE | COLUMN_DASH),
	COLUMN_AS(dump_pair, b, "index_b", UNIT_INDEX, "index of the record in B", .title = "b",
		.csv = "index_b", .flags = COLUMN_NULLABLE | COLUMN_DASH),
	COLUMN_AS(dump_pair, n, "values", UNIT_COUNT, "values compared"),
	COLUMN_AS(dump_pair, n_differ, "values_differ", UNIT_COUNT, "values that differ"),
	COLUMN(dump_pair, first, UNIT_INDEX, "index of the first element that differs",
		.flags = COLUMN_NULLABLE | COLUMN_BLANK),
	COLUMN(dump_pair, max_abs, UNIT_NONE, "largest absolute difference of finite values",
		.digits = -9),
	COLUMN(dump_pair, max_rel, UNIT_NONE, "largest relative difference of finite values",
		.digits = -9),
};
static const struct record pair_record = RECORD_OF(dump_pair, RECORD_LINE, pair_columns);
static const struct column shown_columns[] = {
	PART(shown_pair, p, &pair_record),
	COLUMN(shown_pair, dtype, UNIT_NONE, "type of the elements", NO_JSON),
	COLUMN_AS(shown_pair, max_abs, "shown_abs", UNIT_NONE, "max_abs of the pair if it differs",
		.title = "max abs", .csv = "max_abs", .digits = -6,
		.flags = COLUMN_NO_JSON | COLUMN_BLANK),
	COLUMN_AS(shown_pair, max_rel, "shown_rel", UNIT_NONE, "max_rel of the pair if it differs",
		.title = "max rel", .csv = "max_rel", .digits = -6,
		.flags = COLUMN_NO_JSON | COLUMN_BLANK),
};
static const struct record shown_record = RECORD_OF(shown_pair, RECORD_LINE, shown_columns);

static const struct column states_columns[] = {
	COLUMN_AS(dump_diff, n_state[PAIR_SAME], "same", UNIT_COUNT,
		"pairs that are equal within tolerance"),
	COLUMN_AS(dump_diff, n_state[PAIR_DIFFERS], "differs", UNIT_COUNT,
		"pairs whose values differ"),
	COLUMN_AS(dump_diff, n_state[PAIR_OTHER_KIND], "other-kind", UNIT_COUNT,
		"pairs that differ in role, kind, type or shape"),
	COLUMN_AS(dump_diff, n_state[PAIR_ONLY_A], "only-a", UNIT_COUNT,
		"records that are only in A"),
	COLUMN_AS(dump_diff, n_state[PAIR_ONLY_B], "only-b", UNIT_COUNT,
		"records that are only in B"),
	COLUMN_AS(dump_diff, n_state[PAIR_NOT_COMPARED], "not-compared", UNIT_COUNT,
		"pairs without payload on one side"),
	COLUMN_AS(
		dump_diff, n_identical, "identical", UNIT_COUNT, "pairs that are equal bit by bit"),
};
static const struct record states_record = RECORD_OF(dump_diff, RECORD_LINE, states_columns);

struct diff_data {
	const char *verb;
	bool same, nan_equals_nan;
	struct dump_diff d;
	struct rows rows;
	uint64_t n_pairs; /* that may be shown, with --all equal ones too */
};
#define SUM(M, NAME, DOC) COLUMN_AS(diff_data, d.M, NAME, UNIT_COUNT, DOC)
static const struct column data_columns[] = {
	DUMP_VERB(diff_data, "diff"),
	COLUMN(diff_data, same, UNIT_NONE, "A and B do not differ"),
	COLUMN_HELD(diff_data, d, "pairs", COLUMN_RECORD, &states_record,
		"number of pairs by result of the comparison"),
	SUM(n_values, "values", "values compared"),
	SUM(n_differ, "values_differ", "values that differ"),
	SUM(n_tasks_both, "tasks_both", "tasks that are in both dumps"),
	SUM(n_tasks_only_a, "tasks_only_a", "tasks that are only in A"),
	SUM(n_tasks_only_b, "tasks_only_b", "tasks that are only in B"),
	COLUMN(diff_data, nan_equals_nan, UNIT_NONE, "NaN equals NaN at the same place"),
	LIST(diff_data, rows, &shown_record, "the compared pairs"),
};
static const struct record data_record = RECORD_OF(diff_data, RECORD_BLOCK, data_columns);

struct two_dumps {
	struct rows dumps;
};
static const struct column two_columns[] = {
	LIST(two_dumps, dumps, &dump_input_record, "the two dumps, A and B", .digits = 2),
};
static const struct record two_record = RECORD_OF(two_dumps, RECORD_BLOCK, two_columns);

static void page_explanation(struct page *p)
{
	static const unsigned floats[] = {
		DTYPE_FLOAT32, DTYPE_FLOAT16, DTYPE_BFLOAT16, DTYPE_FP8E4M3FN};

	page_lines(p,
		"values a and b are equal when |a - b| <= atol + rtol * |b|; NaN equals NaN in the same\n"
		"place (--nan-differs), an infinity only itself; integers, BOOL and the other types exactly\n");
	for (size_t i = 0; i < sizeof(floats) / sizeof(floats[0]); i++) {
		struct dump_tolerance t = dump_tolerance_of(floats[i]);

		page_line(p, "  %-10s rtol %g, atol %g", dtype_name(floats[i]), t.rtol, t.atol);
	}
}

static void page_pair_sums(struct page *p, const struct dump_diff *d)
{
	page_line(p,
		"%s: %llu identical, %llu within tolerance, %llu differ, %llu of another kind, %llu only in A, %llu only in B, %llu not compared",
		COUNTED(d->pairs.n, "pair"), (unsigned long long)d->n_identical,
		(unsigned long long)(d->n_state[PAIR_SAME] > d->n_identical
					     ? d->n_state[PAIR_SAME] - d->n_identical
					     : 0),
		(unsigned long long)d->n_state[PAIR_DIFFERS],
		(unsigned long long)d->n_state[PAIR_OTHER_KIND],
		(unsigned long long)d->n_state[PAIR_ONLY_A],
		(unsigned long long)d->n_state[PAIR_ONLY_B],
		(unsigned long long)d->n_state[PAIR_NOT_COMPARED]);
	page_line(p, "%s: %s of %s differ%s",
		dump_diff_differs(d)		? "different"
		: d->n_state[PAIR_NOT_COMPARED] ? "the same as far as compared"
						: "the same",
		U64_TEXT(d->n_differ), COUNTED(d->n_values, "value"), d->n_differ == 1 ? "s" : "");
}

static void dump_diff_page(const struct answer *a, struct page *p)
{
	static const char *const columns[] = {"task_id", "slot=arg", "stage", "block", "dtype",
		"index_a", "index_b", "state", "values_differ=differ=values_differ", "values",
		"first", "shown_abs", "shown_rel", NULL};
	const struct diff_data *x = a->data;

	if (x->rows.n || p->is_csv)
		page_main_records(p, &shown_record, x->rows, columns);
	if (p->is_csv)
		return;
	if (x->rows.n < x->n_pairs)
		page_line(p, "... %llu more (--top all)",
			(unsigned long long)(x->n_pairs - x->rows.n));
	page_pair_sums(p, &x->d);
	if (p->explains)
		page_explanation(p);
}

/* Values that were not compared may differ: counts as a loss. */
static void warn_not_compared(struct answer *answer, const struct dump *a, const struct dump *b,
	const struct dump_diff *diff)
{
	uint64_t n = diff->n_state[PAIR_NOT_COMPARED];
	bool has_cut = false, has_lost = false, has_none = false;

	EACH (const struct dump_pair, p, diff->pairs.v, diff->pairs.n) {
		unsigned flags;

		if (p->state != PAIR_NOT_COMPARED)
			continue;
		flags = a->records.v[p->a].flags | b->records.v[p->b].flags;
		has_cut |= (flags & DUMP_TRUNCATED) != 0;
		has_lost |= (flags & (DUMP_OVERWRITTEN | DUMP_LOST)) != 0;
		has_none |= !(flags & (DUMP_TRUNCATED | DUMP_OVERWRITTEN | DUMP_LOST));
	}
	if (!n)
		return;
	answer->n_losses++;
	answer_warn(answer, "%llu pair%s could not be compared: %s%s%s%s%s", (unsigned long long)n,
		plural(n), has_none ? "a side has no payload" : "",
		has_none && (has_cut || has_lost) ? ", or " : "", has_cut ? "a payload is cut" : "",
		has_cut && has_lost ? ", or " : "",
		has_lost ? "a payload was overwritten or lost" : "");
}

static bool put_pairs(struct answer *answer, const struct dump *a, const struct dump *b,
	struct diff_data *x, const struct dump_diff_params *o, struct incore_error *e)
{
	const struct dump_diff *diff = &x->d;
	size_t most = o->all ? diff->pairs.n : diff->pairs.n - diff->n_state[PAIR_SAME];
	struct shown_pair *v;

	x->n_pairs = most;
	most = most < o->top ? most : (size_t)o->top;
	v = ANSWER_ROWS(answer, &x->rows, most, shown_pair, e);
	if (!v)
		return false;
	for (size_t i = 0, n = 0; n < most; i++) {
		struct dump_pair p = diff->pairs.v[i];
		const struct dump *d = p.a != DUMP_NONE ? a : b;
		unsigned dtype = d->records.v[p.a != DUMP_NONE ? p.a : p.b].dtype;

		if (p.state == PAIR_SAME && !o->all)
			continue;
		if (!p.n_differ)
			p.first = NO_U64;
		v[n++] = (struct shown_pair){p, dtype_name(dtype), p.n_differ ? p.max_abs : NAN,
			p.n_differ ? p.max_rel : NAN};
	}
	return true;
}

static bool put_two(
	struct answer *answer, const struct dump *a, const struct dump *b, struct incore_error *e)
{
	struct two_dumps *two = ANSWER_NEW(answer, two_dumps, e);
	struct dump_input *in = two ? ANSWER_ROWS(answer, &two->dumps, 2, dump_input, e) : NULL;

	if (!in)
		return false;
	dump_input_fill(&in[0], a);
	dump_input_fill(&in[1], b);
	answer_about(answer, &two_record, two);
	return true;
}

static void drop_diff(struct diff_data *x)
{
	dump_diff_deinit(&x->d);
	mem_free(x);
}

static bool dump_diff_ask(const struct request *r, struct answer *answer, struct incore_error *e)
{
	const struct dump_diff_params *o = r->params;
	struct dump_diff_options how = {
		.nan_differs = o->nan_differs, .ignore_scalars = o->no_scalars};
	const struct dump_source source = {.layout = NO_CHOICE, .follow_links = o->follow_links};
	struct diff_data *x = mem_zalloc(1, sizeof(*x));
	struct dump *a, *b;

	if (!x)
		return err_nomem(e);
	if (!ANSWER_KEEP(answer, x, drop_diff, e) ||
		!take_tolerance("rtol", o->rtol, &how.rtol, e) ||
		!take_tolerance("atol", o->atol, &how.atol, e) ||
		!dump_ask_open(answer, r->paths[0], &source, &a, e) ||
		!dump_ask_open(answer, r->paths[1], &source, &b, e) ||
		!dump_diff(a, b, &how, &x->d, e))
		return false;
	warn_not_compared(answer, a, b, &x->d);
	x->verb = "diff";
	x->same = !dump_diff_differs(&x->d);
	x->nan_equals_nan = !o->nan_differs;
	answer->is_no = !x->same;
	answer_set(answer, &data_record, x);
	return put_pairs(answer, a, b, x, o, e) && put_two(answer, a, b, e);
}

const struct question question_dump_diff = {
	.name = "dump diff",
	.summary = "two dumps, value by value",
	.args = "A B",
	.min_paths = 2,
	.max_paths = 2,
	.groups = OPTIONS_CSV,
	.options = options,
	.params_size = sizeof(struct dump_diff_params),
	.records = RECORDS(&data_record),
	.inputs = RECORDS(&two_record),
	.ask = dump_diff_ask,
	.page = dump_diff_page,
};
