/* SPDX-License-Identifier: Apache-2.0 */
/* dump_diff.c: incore dump diff: do two dumps hold the same values? */
#include <math.h>
#include <stdlib.h>

#include "cli/draw.h"
#include "cli/dump/dump_rows.h"
#include "dump/read/diff.h"
#include "page/say.h"

static const struct option_def options[] = {
	{OPT_RTOL, NULL, NULL, "relative tolerance for every dtype"},
	{OPT_ATOL, NULL, NULL, "absolute tolerance for every dtype"},
	{OPT_NAN_DIFFERS, NULL, NULL, "treat NaN as different from NaN"},
	{OPT_NO_SCALARS, NULL, NULL, "compare only tensors"},
	{OPT_ALL, NULL, NULL, "also show pairs that are equal"},
	{OPT_TOP, NULL, "20", "how many pairs to show"},
	LINKS_OPTION,
	OPTION_END,
};

struct shown_pair {
	struct dump_pair p;
	/* only in tables */
	const char *dtype;
	double max_abs, max_rel; /* NaN if nothing differs */
};

struct job {
	struct cli *c;
	struct dump *a, *b;
	struct dump_diff_options options;
	struct dump_diff diff;
	VEC(struct shown_pair) shown; /* without --all: only those that differ */
	size_t n_shown;		      /* limited by --top */
};

/* Parses a tolerance; -1 if none was given: that of the dtype is used. */
static bool tolerance(struct cli *c, const char *name, double *out)
{
	const char *text = cli_text(c, name);
	char *end;

	*out = -1;
	if (!text)
		return true;
	*out = strtod(text, &end);
	if (end != text && !*end && isfinite(*out) && *out >= 0)
		return true;
	return err_set(&c->error, INCORE_USAGE, "bad-option-value",
		"--%s: expected a number of 0 or more, found '%s'", name, text);
}

static bool choose_shown(struct job *j)
{
	uint64_t top = cli_top(j->c);

	for (size_t i = 0; i < j->diff.pairs.n; i++) {
		struct dump_pair p = j->diff.pairs.v[i];
		const struct dump *d = p.a != DUMP_NONE ? j->a : j->b;
		unsigned dtype = d->records.v[p.a != DUMP_NONE ? p.a : p.b].dtype;
		struct shown_pair x = {p, dtype_name(dtype), p.n_differ ? p.max_abs : NAN,
			p.n_differ ? p.max_rel : NAN};

		if (!p.n_differ)
			x.p.first = NO_U64;
		if ((p.state != PAIR_SAME || cli_flag(j->c, "all")) && !VEC_PUSH(&j->shown, x))
			return err_nomem(&j->c->error);
	}
	j->n_shown = j->shown.n < top ? j->shown.n : (size_t)top;
	return true;
}

/* --- JSON --- */

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

static bool print_json(struct job *j)
{
	struct diff_data x = {"diff", !dump_diff_differs(&j->diff), !j->options.nan_differs,
		j->diff, {j->shown.v, j->n_shown}};
	struct dump_input in[2];
	struct two_dumps dumps = {{in, 2}};

	dump_input_fill(&in[0], j->a);
	dump_input_fill(&in[1], j->b);
	return cli_json(j->c, &two_record, &dumps, &data_record, &x);
}

/* --- text --- */

static bool print_table(struct job *j)
{
	static const char *const columns[] = {"task_id", "slot=arg", "stage", "block", "dtype",
		"index_a", "index_b", "state", "values_differ=differ=values_differ", "values",
		"first", "shown_abs", "shown_rel", NULL};

	if ((j->n_shown || j->c->use_csv) &&
		!record_table_print(
			j->c, &shown_record, (struct rows){j->shown.v, j->n_shown}, columns))
		return false;
	if (j->n_shown < j->shown.n && !j->c->use_csv)
		say(j->c->out, "... %llu more (--top all)\n",
			(unsigned long long)(j->shown.n - j->n_shown));
	return true;
}

static void print_sums(struct job *j)
{
	const struct dump_diff *d = &j->diff;

	say(j->c->out,
		"%s: %llu identical, %llu within tolerance, %llu differ, %llu of another kind, %llu only in A, %llu only in B, %llu not compared\n",
		COUNTED(d->pairs.n, "pair"), (unsigned long long)d->n_identical,
		(unsigned long long)(d->n_state[PAIR_SAME] > d->n_identical
					     ? d->n_state[PAIR_SAME] - d->n_identical
					     : 0),
		(unsigned long long)d->n_state[PAIR_DIFFERS],
		(unsigned long long)d->n_state[PAIR_OTHER_KIND],
		(unsigned long long)d->n_state[PAIR_ONLY_A],
		(unsigned long long)d->n_state[PAIR_ONLY_B],
		(unsigned long long)d->n_state[PAIR_NOT_COMPARED]);
	say(j->c->out, "%s: %s of %s differ%s\n",
		dump_diff_differs(d)		? "different"
		: d->n_state[PAIR_NOT_COMPARED] ? "the same as far as compared"
						: "the same",
		U64_TEXT(d->n_differ), COUNTED(d->n_values, "value"), d->n_differ == 1 ? "s" : "");
}

static void explain(struct job *j)
{
	static const unsigned floats[] = {
		DTYPE_FLOAT32, DTYPE_FLOAT16, DTYPE_BFLOAT16, DTYPE_FP8E4M3FN};

	fputs("values a and b are equal when |a - b| <= atol + rtol * |b|; NaN equals NaN in the same\n"
	      "place (--nan-differs), an infinity only itself; integers, BOOL and the other types exactly\n",
		j->c->out);
	for (size_t i = 0; i < sizeof(floats) / sizeof(floats[0]); i++) {
		struct dump_tolerance t = dump_tolerance_of(floats[i]);

		say(j->c->out, "  %-10s rtol %g, atol %g\n", dtype_name(floats[i]), t.rtol, t.atol);
	}
}

/* Values that were not compared may differ: counts as a loss. */
static void tell_not_compared(struct job *j)
{
	uint64_t n = j->diff.n_state[PAIR_NOT_COMPARED];
	bool has_cut = false, has_lost = false, has_none = false;

	EACH (const struct dump_pair, p, j->diff.pairs.v, j->diff.pairs.n) {
		unsigned flags;

		if (p->state != PAIR_NOT_COMPARED)
			continue;
		flags = j->a->records.v[p->a].flags | j->b->records.v[p->b].flags;
		has_cut |= (flags & DUMP_TRUNCATED) != 0;
		has_lost |= (flags & (DUMP_OVERWRITTEN | DUMP_LOST)) != 0;
		has_none |= !(flags & (DUMP_TRUNCATED | DUMP_OVERWRITTEN | DUMP_LOST));
	}
	if (!n)
		return;
	j->c->n_losses++;
	cli_warn(j->c, "%llu pair%s could not be compared: %s%s%s%s%s", (unsigned long long)n,
		plural(n), has_none ? "a side has no payload" : "",
		has_none && (has_cut || has_lost) ? ", or " : "", has_cut ? "a payload is cut" : "",
		has_cut && has_lost ? ", or " : "",
		has_lost ? "a payload was overwritten or lost" : "");
}

static bool print(struct job *j)
{
	tell_not_compared(j);
	if (!choose_shown(j))
		return false;
	if (j->c->use_json)
		return print_json(j);
	if (!print_table(j))
		return false;
	if (j->c->use_csv)
		return true;
	print_sums(j);
	if (cli_flag(j->c, "explain"))
		explain(j);
	return true;
}

static bool run_dump_diff(struct cli *c)
{
	struct job j = {.c = c};
	bool ok;

	j.options.nan_differs = cli_flag(c, "nan-differs");
	j.options.ignore_scalars = cli_flag(c, "no-scalars");
	ok = tolerance(c, "rtol", &j.options.rtol) && tolerance(c, "atol", &j.options.atol) &&
	     dump_cli_open(c, c->args[0], &j.a) && dump_cli_open(c, c->args[1], &j.b) &&
	     dump_diff(j.a, j.b, &j.options, &j.diff, &c->error) && print(&j);
	c->is_no = ok && dump_diff_differs(&j.diff);
	VEC_FREE(&j.shown);
	dump_diff_deinit(&j.diff);
	dump_free(j.a);
	dump_free(j.b);
	return ok;
}

const struct verb dump_verb_diff = {
	.name = "dump diff",
	.args = "A B",
	.summary = "two dumps, value by value",
	.groups = OPTIONS_OUTPUT | OPTIONS_CSV,
	.options = options,
	.min_args = 2,
	.max_args = 2,
	.run = run_dump_diff,
	.records = RECORDS(&data_record),
	.inputs = RECORDS(&two_record),
};
