/* SPDX-License-Identifier: Apache-2.0 */
/* dump_diff.c: incore dump diff: do two dumps hold the same values? */
#include <math.h>
#include <stdlib.h>

#include "cli/dump/dump_job.h"
#include "cli/text/table.h"
#include "dump/read/diff.h"

static const struct option_def options[] = {
	{0, "rtol", OPTION_TEXT, "X", NULL, NULL, "relative tolerance, for every dtype alike"},
	{0, "atol", OPTION_TEXT, "X", NULL, NULL, "absolute tolerance, for every dtype alike"},
	{0, "nan-differs", OPTION_FLAG, NULL, NULL, NULL, "NaN is unlike NaN"},
	{0, "no-scalars", OPTION_FLAG, NULL, NULL, NULL, "compare tensors alone"},
	{0, "all", OPTION_FLAG, NULL, NULL, NULL, "show the pairs that are the same too"},
	{0, "top", OPTION_TEXT, "N|all", NULL, "20", "how many pairs to show"},
	OPTIONS_END,
};

struct job {
	struct cli *c;
	struct dump *a, *b;
	struct dump_diff_options options;
	struct dump_diff diff;
};

/* A tolerance, or -1 where none was given: the dtype's own. */
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

static bool is_shown(const struct job *j, const struct dump_pair *p)
{
	return p->state != PAIR_SAME || cli_flag(j->c, "all");
}

static void json_pair(struct json_writer *w, const struct dump_pair *p)
{
	json_w_row_object(w);
	dump_json_hex(w, "task_id", p->task_id, 16);
	json_w_kv_u64(w, "slot", p->slot);
	json_w_kv_cstr(w, "stage", dump_stage_name(p->stage));
	json_w_key(w, "block");
	if (p->block == DUMP_NONE)
		json_w_null(w);
	else
		json_w_u64(w, p->block);
	json_w_kv_cstr(w, "state", pair_state_name(p->state));
	json_w_kv_bool(w, "identical", p->is_identical);
	json_w_key(w, "index_a");
	if (p->a == DUMP_NONE)
		json_w_null(w);
	else
		json_w_u64(w, p->a);
	json_w_key(w, "index_b");
	if (p->b == DUMP_NONE)
		json_w_null(w);
	else
		json_w_u64(w, p->b);
	json_w_kv_u64(w, "values", p->n);
	json_w_kv_u64(w, "values_differ", p->n_differ);
	json_w_key(w, "first");
	if (p->n_differ)
		json_w_u64(w, p->first);
	else
		json_w_null(w);
	json_w_key(w, "max_abs");
	json_w_sig(w, p->max_abs, 9);
	json_w_key(w, "max_rel");
	json_w_sig(w, p->max_rel, 9);
	json_w_end(w);
}

static bool print_json(struct job *j)
{
	const struct dump_diff *d = &j->diff;
	uint64_t top = cli_top(j->c), shown = 0;
	struct json_writer w;

	cli_json_head(j->c, &w);
	json_w_object(&w);
	json_w_key(&w, "dumps");
	json_w_array(&w);
	dump_json_input(&w, j->a);
	dump_json_input(&w, j->b);
	json_w_end(&w);
	json_w_end(&w);
	json_w_key(&w, "data");
	json_w_object(&w);
	json_w_kv_cstr(&w, "verb", "diff");
	json_w_kv_bool(&w, "same", !dump_diff_differs(d));
	json_w_key(&w, "pairs");
	json_w_row_object(&w);
	for (unsigned i = 0; i < 6; i++)
		json_w_kv_u64(&w, pair_state_name(i), d->n_state[i]);
	json_w_kv_u64(&w, "identical", d->n_identical);
	json_w_end(&w);
	json_w_kv_u64(&w, "values", d->n_values);
	json_w_kv_u64(&w, "values_differ", d->n_differ);
	json_w_kv_u64(&w, "tasks_both", d->n_tasks_both);
	json_w_kv_u64(&w, "tasks_only_a", d->n_tasks_only_a);
	json_w_kv_u64(&w, "tasks_only_b", d->n_tasks_only_b);
	json_w_kv_bool(&w, "nan_equals_nan", !j->options.nan_differs);
	json_w_key(&w, "rows");
	json_w_array(&w);
	for (size_t i = 0; i < d->pairs.n && shown < top; i++) {
		if (!is_shown(j, &d->pairs.v[i]))
			continue;
		shown++;
		json_pair(&w, &d->pairs.v[i]);
	}
	json_w_end(&w);
	json_w_end(&w);
	return cli_json_end(j->c, &w);
}

static void put_pair(struct job *j, struct table *t, const struct dump_pair *p)
{
	const struct dump *d = p->a != DUMP_NONE ? j->a : j->b;
	uint32_t record = p->a != DUMP_NONE ? p->a : p->b;

	dump_cell(t, arena_printf(&t->arena, "0x%016llx", (unsigned long long)p->task_id));
	dump_cell(t, arena_printf(&t->arena, "%u", p->slot));
	dump_cell(t, dump_stage_name(p->stage));
	dump_cell(t, p->block == DUMP_NONE ? "" : arena_printf(&t->arena, "%u", p->block));
	dump_cell(t, dtype_name(d->records.v[record].dtype));
	dump_cell(t, p->a == DUMP_NONE ? "-" : arena_printf(&t->arena, "%u", p->a));
	dump_cell(t, p->b == DUMP_NONE ? "-" : arena_printf(&t->arena, "%u", p->b));
	dump_cell(t, pair_state_name(p->state));
	table_u64(t, p->n_differ);
	table_u64(t, p->n);
	dump_cell(t,
		p->n_differ ? arena_printf(&t->arena, "%llu", (unsigned long long)p->first) : "");
	dump_cell(t, p->n_differ ? arena_printf(&t->arena, "%.6g", p->max_abs) : "");
	dump_cell(t, p->n_differ ? arena_printf(&t->arena, "%.6g", p->max_rel) : "");
}

static bool print_table(struct job *j)
{
	static const struct table_column columns[] = {
		{"task", "task_id", CELL_LEFT, false},
		{"arg", NULL, CELL_RIGHT, false},
		{"stage", NULL, CELL_LEFT, false},
		{"block", NULL, CELL_RIGHT, false},
		{"dtype", NULL, CELL_LEFT, false},
		{"a", "index_a", CELL_RIGHT, false},
		{"b", "index_b", CELL_RIGHT, false},
		{"state", NULL, CELL_LEFT, false},
		{"differ", "values_differ", CELL_RIGHT, false},
		{"values", NULL, CELL_RIGHT, false},
		{"first", NULL, CELL_RIGHT, false},
		{"max abs", "max_abs", CELL_RIGHT, false},
		{"max rel", "max_rel", CELL_RIGHT, false},
	};
	uint64_t top = cli_top(j->c), shown = 0, all = 0;
	struct table t;
	bool ok = true;

	table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < j->diff.pairs.n; i++) {
		if (!is_shown(j, &j->diff.pairs.v[i]))
			continue;
		if (all++ < top) {
			put_pair(j, &t, &j->diff.pairs.v[i]);
			shown++;
		}
	}
	if (shown || j->c->use_csv)
		ok = table_print(&t, j->c);
	if (shown < all && !j->c->use_csv)
		fprintf(j->c->out, "... %llu more (--top all)\n",
			(unsigned long long)(all - shown));
	table_deinit(&t);
	return ok;
}

static void print_sums(struct job *j)
{
	const struct dump_diff *d = &j->diff;
	char a[32], b[32];

	fprintf(j->c->out,
		"%s pair%s: %llu identical, %llu within tolerance, %llu differ, %llu of another kind, %llu only in A, %llu only in B, %llu not compared\n",
		fmt_u64(a, d->pairs.n), plural(d->pairs.n), (unsigned long long)d->n_identical,
		(unsigned long long)(d->n_state[PAIR_SAME] > d->n_identical
					     ? d->n_state[PAIR_SAME] - d->n_identical
					     : 0),
		(unsigned long long)d->n_state[PAIR_DIFFERS],
		(unsigned long long)d->n_state[PAIR_OTHER_KIND],
		(unsigned long long)d->n_state[PAIR_ONLY_A],
		(unsigned long long)d->n_state[PAIR_ONLY_B],
		(unsigned long long)d->n_state[PAIR_NOT_COMPARED]);
	fprintf(j->c->out, "%s: %s of %s value%s differ%s\n",
		dump_diff_differs(d)		? "different"
		: d->n_state[PAIR_NOT_COMPARED] ? "the same as far as compared"
						: "the same",
		fmt_u64(a, d->n_differ), fmt_u64(b, d->n_values), plural(d->n_values),
		d->n_differ == 1 ? "s" : "");
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

		fprintf(j->c->out, "  %-10s rtol %g, atol %g\n", dtype_name(floats[i]), t.rtol,
			t.atol);
	}
}

static bool print(struct job *j)
{
	if (j->diff.n_state[PAIR_NOT_COMPARED])
		cli_warn(j->c, "%llu pair%s could not be compared: a side has no payload",
			(unsigned long long)j->diff.n_state[PAIR_NOT_COMPARED],
			plural(j->diff.n_state[PAIR_NOT_COMPARED]));
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

static int run_dump_diff(struct cli *c)
{
	struct job j = {.c = c};
	int status = INCORE_OK;

	j.options.nan_differs = cli_flag(c, "nan-differs");
	j.options.ignore_scalars = cli_flag(c, "no-scalars");
	if (!tolerance(c, "rtol", &j.options.rtol) || !tolerance(c, "atol", &j.options.atol) ||
		!dump_cli_open(c, c->args[0], &j.a) || !dump_cli_open(c, c->args[1], &j.b) ||
		!dump_diff(j.a, j.b, &j.options, &j.diff, &c->error) || !print(&j))
		status = cli_fail(c);
	else if (dump_diff_differs(&j.diff))
		status = INCORE_NO;
	dump_diff_deinit(&j.diff);
	dump_free(j.a);
	dump_free(j.b);
	return status;
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
};
