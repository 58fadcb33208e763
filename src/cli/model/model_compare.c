/* SPDX-License-Identifier: Apache-2.0 */
/* model_compare.c: incore model compare: two traces of one kernel, per pipe and per op. */
#include "cli/model/model_compare.h"

#include "cli/ask.h"
#include "cli/draw.h"
#include "cli/model/model_job.h"
#include "page/say.h"
#include "trace/kind.h"

static const struct option_def options[] = {
	{OPT_BY, "pipe|op|task", "pipe", "what the rows are"},
	{OPT_PMU, NULL, NULL, "counters of a run to use instead of trace A"},
	OPTION_END,
};

struct side {
	struct trace *trace;
	struct pipes *pipes;
};

static bool open_side(struct cli *c, struct asked *x, const char *path, struct side *s)
{
	struct walk_options o = request_walk(&x->request, NULL);
	struct walk_result r = {0};
	bool ok;

	if (!cli_open(c, x, path, IMPORT_ALL, &s->trace))
		return false;
	if (trace_kind(s->trace) != KIND_PIPES)
		return err_set(&c->error, INCORE_BAD_INPUT, "no-pipes",
			"%s: its tracks are not pipes; model compare is for Ascend traces", path);
	s->pipes = pipes_new(s->trace, &c->error);
	ok = s->pipes && pipes_collect(s->pipes, &o, &r, &c->error);
	if (ok)
		answer_walk_notes(&x->answer, &r);
	cli_move_warnings(c, &x->answer);
	walk_result_deinit(&r);
	return ok;
}

/* Error of b relative to a, in thousandths; false if a is 0. */
static bool error_permille(const uint64_t v[2], int64_t *out)
{
	if (!v[0])
		return false;
	*out = (int64_t)(((double)v[1] - (double)v[0]) * 1000 / (double)v[0] +
			 (v[1] >= v[0] ? 0.5 : -0.5));
	return true;
}

struct compared_row {
	struct compare_row r;
	double error_pct;
	const char *error; /* the error as text with its sign, for tables */
	/* source of the rows */
	const struct compare_row *rows;
	char text[32];
};
#define BOTH(M, I, NAME, UNIT, DOC, ...)                                                           \
	COLUMN_AS(compared_row, r.M[I], NAME, UNIT, DOC, .csv = NAME, ##__VA_ARGS__)
static const struct column row_columns[] = {
	COLUMN_AS(compared_row, r.core, "core", UNIT_NONE, "core of the pipe; empty for ops"),
	COLUMN_AS(compared_row, r.name, "name", UNIT_NONE, "name of the pipe, op or task"),
	BOTH(count, 0, "count_a", UNIT_COUNT, "number of occurrences in A", .title = "n A"),
	BOTH(count, 1, "count_b", UNIT_COUNT, "number of occurrences in B", .title = "n B"),
	BOTH(cyc, 0, "cycles_a", UNIT_CYCLES, "cycles in A", .title = "cycles A"),
	BOTH(cyc, 1, "cycles_b", UNIT_CYCLES, "cycles in B", .title = "cycles B"),
	COLUMN(compared_row, error_pct, UNIT_PERCENT, "how much larger B is than A", .digits = 1),
	COLUMN(compared_row, error, UNIT_PERCENT, "how much larger B is than A", .title = "error %",
		.csv = "error_pct", .flags = COLUMN_NO_JSON | COLUMN_RIGHT),
};
static const struct record row_record = RECORD_OF(compared_row, RECORD_LINE, row_columns);

static const void *row_at(const void *v, size_t i)
{
	struct compared_row *x = (struct compared_row *)v;
	int64_t e;

	x->r = x->rows[i];
	x->error_pct = NAN;
	x->error = "-";
	if (error_permille(x->r.cyc, &e)) {
		x->error_pct = (double)e / 10;
		snprintf(x->text, sizeof(x->text), "%+.1f", x->error_pct);
		x->error = x->text;
	}
	return x;
}

static struct rows rows_of(const char *by, const struct pipe_compare *k, struct compared_row *x)
{
	bool is_pipe = strcmp(by, "pipe") == 0;

	x->rows = is_pipe ? k->pipes.v : k->ops.v;
	return (struct rows){x, is_pipe ? k->pipes.n : k->ops.n, row_at};
}

static bool put_table(struct cli *c, const struct pipe_compare *k)
{
	const char *by = cli_text(c, "by");
	bool by_op = strcmp(by, "op") == 0;
	char name[32];
	const char *const columns[] = {"core", name, "count_a", "count_b",
		by_op ? "cycles_a=latency A=cycles_a" : "cycles_a",
		by_op ? "cycles_b=latency B=cycles_b" : "cycles_b", "error", NULL};
	struct compared_row x;

	snprintf(name, sizeof(name), "name=%s", by);
	return record_table_print(c, &row_record, rows_of(by, k, &x), columns + by_op);
}

static void put_order(FILE *out, const struct pipe_compare *k)
{
	say(out, "counts     %s\norder      ", k->is_same_count ? "the same" : "different");
	if (k->is_same_order)
		fputs("the same\n", out);
	else if (k->order_lane)
		say(out, "different from instruction %s of %s\n", U64_TEXT(k->order_at),
			k->order_lane);
	else
		fputs("different\n", out);
}

static bool tell_text(struct cli *c, const struct side s[2], const struct pipe_compare *k)
{
	FILE *out = c->out;
	int64_t e;

	if (c->use_csv)
		return put_table(c, k);
	for (unsigned i = 0; i < 2; i++) {
		const struct trace *t = s[i].trace;

		say(out, "%c  %s  %s\n", 'A' + (int)i, t ? t->meta.origin : cli_text(c, "pmu"),
			t ? evidence_text(t, (char[EVIDENCE_TEXT]){0}) : "counters of a run");
	}
	say(out, "\ntotal      %s and %s", U64_TEXT(k->span_cyc[0]),
		COUNTED(k->span_cyc[1], "cycle"));
	if (error_permille(k->span_cyc, &e))
		say(out, ", %+.1f %%", (double)e / 10);
	fputc('\n', out);
	if (s[0].trace)
		put_order(out, k);
	fputc('\n', out);
	return put_table(c, k);
}

struct compare_data {
	const char *verb, *counters, *by;
	struct pipe_compare k;
	struct rows rows;
};
#define SUM(M, NAME, UNIT, DOC, ...) COLUMN_AS(compare_data, k.M, NAME, UNIT, DOC, ##__VA_ARGS__)
static const struct column data_columns[] = {
	MODEL_VERB(compare_data, "compare"),
	COLUMN(compare_data, counters, UNIT_NONE, "path of the counters that replace trace A",
		NULLABLE),
	COLUMN(compare_data, by, UNIT_NONE, "what the rows are", .words = "pipe|op|task"),
	SUM(is_same_count, "same_counts", UNIT_NONE,
		"A and B execute every instruction equally often"),
	SUM(is_same_order, "same_order", UNIT_NONE,
		"A and B execute the instructions of each pipe in the same order"),
	SUM(order_lane, "order_lane", UNIT_NONE, "first pipe where the order differs", NULLABLE),
	SUM(order_at, "order_at", UNIT_INDEX,
		"index of the first instruction of that pipe whose order differs"),
	SUM(span_cyc[0], "cycles_a", UNIT_CYCLES,
		"cycles from the first start to the last end in A"),
	SUM(span_cyc[1], "cycles_b", UNIT_CYCLES,
		"cycles from the first start to the last end in B"),
	LIST(compare_data, rows, &row_record, "pipes, ops or tasks"),
};
static const struct record data_record = RECORD_OF(compare_data, RECORD_BLOCK, data_columns);

static bool tell_json(struct cli *c, const struct side s[2], const struct pipe_compare *k)
{
	const struct trace *const traces[] = {s[0].trace, s[1].trace};
	bool has_two = s[0].trace != NULL;
	struct compared_row row;
	struct compare_data x = {"compare", cli_text(c, "pmu"), cli_text(c, "by"), *k,
		rows_of(cli_text(c, "by"), k, &row)};

	return cli_json_captures(
		c, has_two ? traces : traces + 1, has_two ? 2 : 1, &data_record, &x);
}

/* Requires one trace and --pmu, or two traces. */
static bool check_usage(struct cli *c)
{
	bool has_pmu = cli_has(c, "pmu");
	const char *by = cli_text(c, "by");

	if (c->n_args != (has_pmu ? 1 : 2))
		return err_set(&c->error, INCORE_USAGE, "bad-arguments",
			"model compare expects two traces, or one trace and --pmu");
	if (strcmp(by, has_pmu ? "op" : "task") == 0)
		return err_set(&c->error, INCORE_USAGE, "bad-option-value",
			has_pmu ? "--by op: counters do not distinguish ops"
				: "--by task: traces do not distinguish tasks; it is for --pmu");
	return true;
}

static bool compare(struct cli *c, struct asked *x, struct side s[2], struct pipe_compare *k)
{
	const char *pmu = cli_text(c, "pmu");

	if (!check_usage(c))
		return false;
	if (pmu)
		return open_side(c, x, c->args[0], &s[1]) &&
		       compare_counters(pmu, s[1].pipes, k, &c->error);
	return open_side(c, x, c->args[0], &s[0]) && open_side(c, x, c->args[1], &s[1]) &&
	       pipe_compare(s[0].pipes, s[1].pipes, k, &c->error);
}

static bool run_model_compare(struct cli *c)
{
	struct side s[2] = {{0}};
	struct pipe_compare k;
	struct asked x;
	bool ok = cli_begin(c, &x) && compare(c, &x, s, &k);

	if (ok) {
		ok = c->use_json ? tell_json(c, s, &k) : tell_text(c, s, &k);
		c->is_no = !k.is_same_count;
		pipe_compare_deinit(&k);
	}
	for (unsigned i = 0; i < 2; i++)
		pipes_free(s[i].pipes);
	cli_answered(&x);
	return ok;
}

const struct verb model_verb_compare = {
	.name = "model compare",
	.args = "[A] B",
	.summary = "set two traces of one kernel side by side",
	.groups = OPTIONS_OUTPUT | OPTIONS_CSV | OPTIONS_CAPTURE,
	.options = options,
	.min_args = 1,
	.max_args = 2,
	.run = run_model_compare,
	.records = RECORDS(&data_record),
};
