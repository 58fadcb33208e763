/* SPDX-License-Identifier: Apache-2.0 */
/* compare.c: incore model compare: two traces of one kernel, per pipe and per op. */
#include "model_lab/compare.h"

#include "page/page.h"
#include "trace/kind.h"
#include "verbs/model/options.h"

enum compare_by { BY_PIPE, BY_OP, BY_TASK };

struct compare_params {
	unsigned by; /* enum compare_by */
	const char *pmu;
};

static const struct option_def options[] = {
	{OPT_BY, "pipe|op|task", "pipe", "what the rows are", OPTION_FIELD(compare_params, by)},
	{OPT_PMU, NULL, NULL, "counters of a run to use instead of trace A",
		OPTION_FIELD(compare_params, pmu)},
	OPTION_END,
};

struct compare_input {
	struct trace *trace;
	struct pipes *pipes;
};

static bool open_side(const struct request *r, const char *path, struct compare_input *s,
	struct answer *a, struct incore_error *e)
{
	struct walk_options o = request_walk(r, NULL);
	struct walk_result result = {0};
	bool ok;

	if (!answer_open(a, r, path, IMPORT_ALL, &s->trace, e))
		return false;
	if (trace_kind(s->trace) != KIND_PIPES)
		return err_set(e, INCORE_BAD_INPUT, "no-pipes",
			"%s: its tracks are not pipes; model compare is for Ascend traces", path);
	s->pipes = pipes_new(s->trace, e);
	ok = s->pipes && pipes_collect(s->pipes, &o, &result, e);
	if (ok)
		answer_walk_notes(a, &result);
	walk_result_deinit(&result);
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

struct compare_data {
	const char *verb, *counters, *by;
	struct pipe_compare k;
	struct rows rows;
	struct compared_side { /* for the page */
		const char *origin, *evidence;
	} sides[2];
};
#define SUM(M, NAME, UNIT, DOC, ...) COLUMN_AS(compare_data, k.M, NAME, UNIT, DOC, ##__VA_ARGS__)
static const struct column compare_columns[] = {
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
static const struct record compare_record = RECORD_OF(compare_data, RECORD_BLOCK, compare_columns);

static bool put_rows(struct compare_data *x, unsigned by, struct answer *a, struct incore_error *e)
{
	const struct compare_row *from = by == BY_PIPE ? x->k.pipes.v : x->k.ops.v;
	size_t n = by == BY_PIPE ? x->k.pipes.n : x->k.ops.n;
	struct compared_row *v = ANSWER_ROWS(a, &x->rows, n, compared_row, e);

	for (size_t i = 0; v && i < n; i++) {
		int64_t permille;

		v[i].r = from[i];
		v[i].error_pct = NAN;
		v[i].error = "-";
		if (error_permille(from[i].cyc, &permille)) {
			v[i].error_pct = (double)permille / 10;
			snprintf(v[i].text, sizeof(v[i].text), "%+.1f", v[i].error_pct);
			v[i].error = v[i].text;
		}
	}
	return v != NULL;
}

/* Requires one trace and --pmu, or two traces. */
static bool check_usage(const struct request *r, struct incore_error *e)
{
	const struct compare_params *p = r->params;

	if (r->n_paths != (p->pmu ? 1 : 2))
		return err_set(e, INCORE_USAGE, "bad-arguments",
			"model compare expects two traces, or one trace and --pmu");
	if (p->by == (p->pmu ? BY_OP : BY_TASK))
		return err_set(e, INCORE_USAGE, "bad-option-value",
			p->pmu ? "--by op: counters do not distinguish ops"
			       : "--by task: traces do not distinguish tasks; it is for --pmu");
	return true;
}

static bool compare(const struct request *r, struct compare_input s[2], struct pipe_compare *k,
	struct answer *a, struct incore_error *e)
{
	const struct compare_params *p = r->params;

	if (p->pmu)
		return open_side(r, r->paths[0], &s[1], a, e) &&
		       compare_counters(p->pmu, s[1].pipes, k, e);
	return open_side(r, r->paths[0], &s[0], a, e) && open_side(r, r->paths[1], &s[1], a, e) &&
	       pipe_compare(s[0].pipes, s[1].pipes, k, e);
}

static bool set_compared(const struct request *r, const struct compare_input s[2],
	struct compare_data *x, struct answer *a, struct incore_error *e)
{
	static const char *const BYS[] = {"pipe", "op", "task"};
	const struct compare_params *p = r->params;

	x->verb = "compare";
	x->counters = p->pmu;
	x->by = BYS[p->by];
	for (unsigned i = 0; i < 2; i++) {
		const struct trace *t = s[i].trace;
		const char *evidence =
			t ? evidence_text(t, (char[EVIDENCE_TEXT]){0}) : "counters of a run";

		x->sides[i].origin = t ? t->meta.origin : p->pmu;
		x->sides[i].evidence = arena_strdup(&a->arena, evidence);
		if (!x->sides[i].evidence)
			return err_nomem(e);
	}
	a->is_no = !x->k.is_same_count;
	answer_set(a, &compare_record, x);
	return put_rows(x, p->by, a, e);
}

static void drop_compared(struct pipe_compare *k)
{
	pipe_compare_deinit(k);
}

static bool compare_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	struct compare_data *x = ANSWER_NEW(a, compare_data, e);
	struct compare_input s[2] = {{0}};
	bool ok = x && check_usage(r, e) && compare(r, s, &x->k, a, e) &&
		  ANSWER_KEEP(a, &x->k, drop_compared, e) && set_compared(r, s, x, a, e);

	for (unsigned i = 0; i < 2; i++)
		pipes_free(s[i].pipes);
	return ok;
}

/* --- the page --- */

static void table_page(const struct compare_data *x, struct page *p)
{
	bool by_op = strcmp(x->by, "op") == 0;
	char name[32];
	const char *const columns[] = {"core", name, "count_a", "count_b",
		by_op ? "cycles_a=latency A=cycles_a" : "cycles_a",
		by_op ? "cycles_b=latency B=cycles_b" : "cycles_b", "error", NULL};

	snprintf(name, sizeof(name), "name=%s", x->by);
	page_main_records(p, &row_record, x->rows, columns + by_op);
}

static void order_page(const struct pipe_compare *k, struct page *p)
{
	page_line(p, "counts     %s", k->is_same_count ? "the same" : "different");
	if (k->is_same_order)
		page_line(p, "order      the same");
	else if (k->order_lane)
		page_line(p, "order      different from instruction %s of %s",
			U64_TEXT(k->order_at), k->order_lane);
	else
		page_line(p, "order      different");
}

static void compare_page(const struct answer *a, struct page *p)
{
	const struct compare_data *x = a->data;
	const struct pipe_compare *k = &x->k;
	int64_t permille;

	if (p->is_csv) {
		table_page(x, p);
		return;
	}
	for (unsigned i = 0; i < 2; i++)
		page_line(p, "%c  %s  %s", 'A' + (int)i, x->sides[i].origin, x->sides[i].evidence);
	page_gap(p);
	page_say(p, "total      %s and %s", U64_TEXT(k->span_cyc[0]),
		COUNTED(k->span_cyc[1], "cycle"));
	if (error_permille(k->span_cyc, &permille))
		page_say(p, ", %+.1f %%", (double)permille / 10);
	page_line(p, "%s", "");
	if (!x->counters)
		order_page(k, p);
	page_gap(p);
	table_page(x, p);
}

const struct question question_model_compare = {
	.name = "model compare",
	.args = "[A] B",
	.summary = "set two traces of one kernel side by side",
	.groups = OPTIONS_CSV | OPTIONS_CAPTURE,
	.min_paths = 1,
	.max_paths = 2,
	.options = options,
	.params_size = sizeof(struct compare_params),
	.records = RECORDS(&compare_record),
	.ask = compare_ask,
	.page = compare_page,
};
