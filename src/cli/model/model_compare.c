/* SPDX-License-Identifier: Apache-2.0 */
/* model_compare.c: incore model compare: two traces of one kernel, per pipe and per op. */
#include "cli/model/model_compare.h"

#include "cli/ask.h"
#include "cli/model/model_job.h"
#include "cli/text/table.h"

static const struct option_def options[] = {
	{0, "by", OPTION_CHOICE, "WHAT", "pipe|op|task", "pipe", "what the rows are"},
	{0, "pmu", OPTION_TEXT, "FILE", NULL, NULL, "counters of a run in place of the trace A"},
	MODEL_OPTIONS_END,
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
	if (!trace_has_pipes(s->trace))
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

/* b against a, in thousandths; false where a is 0. */
static bool error_permille(const uint64_t v[2], int64_t *out)
{
	if (!v[0])
		return false;
	*out = (int64_t)(((double)v[1] - (double)v[0]) * 1000 / (double)v[0] +
			 (v[1] >= v[0] ? 0.5 : -0.5));
	return true;
}

static void put_error(struct table *t, const uint64_t v[2])
{
	char buf[32];
	int64_t e;

	if (!error_permille(v, &e))
		snprintf(buf, sizeof(buf), "-");
	else
		snprintf(buf, sizeof(buf), "%+.1f", (double)e / 10);
	table_cstr(t, buf);
}

static const char *rows_of(
	const struct cli *c, const struct pipe_compare *k, const struct compare_row **v, size_t *n)
{
	const char *by = cli_text(c, "by");
	bool is_pipe = strcmp(by, "pipe") == 0;

	*v = is_pipe ? k->pipes.v : k->ops.v;
	*n = is_pipe ? k->pipes.n : k->ops.n;
	return by;
}

static bool put_table(struct cli *c, const struct pipe_compare *k)
{
	const struct compare_row *v;
	size_t n;
	const char *what = rows_of(c, k, &v, &n);
	bool by_op = strcmp(what, "op") == 0;
	const struct table_column columns[] = {
		{"core", NULL, CELL_LEFT, false},
		{what, NULL, CELL_LEFT, false},
		{"n A", "count_a", CELL_RIGHT, false},
		{"n B", "count_b", CELL_RIGHT, false},
		{by_op ? "latency A" : "cycles A", "cycles_a", CELL_RIGHT, false},
		{by_op ? "latency B" : "cycles B", "cycles_b", CELL_RIGHT, false},
		{"error %", "error_pct", CELL_RIGHT, false},
	};
	struct table t;
	bool ok;

	table_init(&t, columns + by_op, 7 - by_op);
	for (size_t i = 0; i < n; i++) {
		if (!by_op)
			table_cstr(&t, v[i].core);
		table_cstr(&t, v[i].name);
		table_u64(&t, v[i].count[0]);
		table_u64(&t, v[i].count[1]);
		table_u64(&t, v[i].cyc[0]);
		table_u64(&t, v[i].cyc[1]);
		put_error(&t, v[i].cyc);
	}
	ok = table_print(&t, c) || err_nomem(&c->error);
	table_deinit(&t);
	return ok;
}

static void put_order(FILE *out, const struct pipe_compare *k)
{
	char a[32];

	fprintf(out, "counts     %s\norder      ", k->is_same_count ? "the same" : "different");
	if (k->is_same_order)
		fputs("the same\n", out);
	else if (k->order_lane)
		fprintf(out, "different from instruction %s of %s\n", fmt_u64(a, k->order_at),
			k->order_lane);
	else
		fputs("different\n", out);
}

static bool tell_text(struct cli *c, const struct side s[2], const struct pipe_compare *k)
{
	FILE *out = c->out;
	char a[32], b[32];
	int64_t e;

	if (c->use_csv)
		return put_table(c, k);
	for (unsigned i = 0; i < 2; i++) {
		const struct trace *t = s[i].trace;

		fprintf(out, "%c  %s  %s\n", 'A' + (int)i, t ? t->meta.origin : cli_text(c, "pmu"),
			t ? evidence_text(t, (char[EVIDENCE_TEXT]){0}) : "counters of a run");
	}
	fprintf(out, "\ntotal      %s and %s cycle%s", fmt_u64(a, k->span_cyc[0]),
		fmt_u64(b, k->span_cyc[1]), plural(k->span_cyc[1]));
	if (error_permille(k->span_cyc, &e))
		fprintf(out, ", %+.1f %%", (double)e / 10);
	fputc('\n', out);
	if (s[0].trace)
		put_order(out, k);
	fputc('\n', out);
	return put_table(c, k);
}

static bool tell_json(struct cli *c, const struct side s[2], const struct pipe_compare *k)
{
	const struct trace *const traces[] = {s[0].trace, s[1].trace};
	bool has_two = s[0].trace != NULL;
	const struct compare_row *v;
	size_t n;
	const char *what = rows_of(c, k, &v, &n);
	struct json_writer w;
	int64_t e;

	cli_json_begin(c, &w, has_two ? traces : traces + 1, has_two ? 2 : 1);
	json_w_object(&w);
	json_w_kv_cstr(&w, "verb", "compare");
	json_w_kv_cstr(&w, "counters", cli_text(c, "pmu"));
	json_w_kv_cstr(&w, "by", what);
	json_w_kv_bool(&w, "same_counts", k->is_same_count);
	json_w_kv_bool(&w, "same_order", k->is_same_order);
	json_w_kv_cstr(&w, "order_lane", k->order_lane);
	json_w_kv_u64(&w, "order_at", k->order_at);
	json_w_kv_u64(&w, "cycles_a", k->span_cyc[0]);
	json_w_kv_u64(&w, "cycles_b", k->span_cyc[1]);
	json_w_key(&w, "rows");
	json_w_array(&w);
	for (size_t i = 0; i < n; i++) {
		json_w_row_object(&w);
		json_w_kv_cstr(&w, "core", v[i].core);
		json_w_kv_cstr(&w, "name", v[i].name);
		json_w_kv_u64(&w, "count_a", v[i].count[0]);
		json_w_kv_u64(&w, "count_b", v[i].count[1]);
		json_w_kv_u64(&w, "cycles_a", v[i].cyc[0]);
		json_w_kv_u64(&w, "cycles_b", v[i].cyc[1]);
		json_w_key(&w, "error_pct");
		if (error_permille(v[i].cyc, &e))
			json_w_double(&w, (double)e / 10, 1);
		else
			json_w_null(&w);
		json_w_end(&w);
	}
	json_w_end(&w);
	json_w_end(&w);
	return cli_json_end(c, &w);
}

/* One trace and --pmu, or two traces. */
static bool check_usage(struct cli *c)
{
	bool has_pmu = cli_has(c, "pmu");
	const char *by = cli_text(c, "by");

	if (c->n_args != (has_pmu ? 1 : 2))
		return err_set(&c->error, INCORE_USAGE, "bad-arguments",
			"model compare wants two traces, or one trace and --pmu");
	if (strcmp(by, has_pmu ? "op" : "task") == 0)
		return err_set(&c->error, INCORE_USAGE, "bad-option-value",
			has_pmu ? "--by op: counters know no ops"
				: "--by task: traces know no tasks; it is for --pmu");
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

static int run_model_compare(struct cli *c)
{
	struct side s[2] = {{0}};
	struct pipe_compare k;
	struct asked x;
	int status;

	if (!cli_begin(c, &x) || !compare(c, &x, s, &k)) {
		status = cli_fail(c);
	} else {
		bool ok = c->use_json ? tell_json(c, s, &k) : tell_text(c, s, &k);

		status = !ok ? cli_fail(c) : k.is_same_count ? INCORE_OK : INCORE_NO;
		pipe_compare_deinit(&k);
	}
	for (unsigned i = 0; i < 2; i++)
		pipes_free(s[i].pipes);
	cli_answered(&x);
	return status;
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
};
