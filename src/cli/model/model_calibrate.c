/* SPDX-License-Identifier: Apache-2.0 */
/* model_calibrate.c: incore model calibrate: constants of a profile from the user's own
 * measurements. */
#include "model/profile/calibrate.h"

#include "cli/model/model_measured.h"
#include "cli/model/model_report.h"
#include "cli/text/table.h"

static const struct option_def options[] = {
	{0, "base", OPTION_TEXT, "PROFILE", NULL, NULL, "the profile whose other values are kept"},
	{0, "ops", OPTION_TEXT, "DIR", NULL, NULL,
		"op streams: task-ID or func-ID with .opstream or .jsonl; or one file"},
	{0, "pmu", OPTION_TEXT, "FILE", NULL, NULL, "counters, one row a task"},
	{0, "trace", OPTION_TEXT, "PATH", NULL, NULL, "a simulator's trace of the kernel"},
	{0, "instr-csv", OPTION_TEXT, "FILE", NULL, NULL,
		"a simulator's table of instructions: for CUBE and FIXP alone"},
	{0, "fit", OPTION_TEXT, "KEY,...", NULL, NULL, "the constants to fit"},
	{0, "hold-out", OPTION_TEXT, "SHARE", NULL, "0.3", "share of tasks kept for checking"},
	MODEL_OPTIONS_END,
};

static bool need(struct cli *c, const char *name)
{
	return cli_text(c, name) || err_set(&c->error, INCORE_USAGE, "missing-option",
					    "model calibrate needs --%s", name);
}

static bool check_options(struct cli *c, struct calib_options *o)
{
	unsigned sources = cli_has(c, "pmu") + cli_has(c, "trace") + cli_has(c, "instr-csv");
	int64_t e4;

	if (!need(c, "base") || !need(c, "ops") || !need(c, "fit") || !need(c, "output"))
		return false;
	if (sources != 1)
		return err_set(&c->error, INCORE_USAGE, "missing-option",
			"model calibrate needs one of --pmu, --trace and --instr-csv, found %u",
			sources);
	if (!prof_number(str_of(cli_text(c, "hold-out")), &e4) || e4 < 0 || e4 > 9 * PROF_ONE / 10)
		return err_set(&c->error, INCORE_USAGE, "bad-option-value",
			"--hold-out: expected 0 to 0.9, found '%s'", cli_text(c, "hold-out"));
	o->hold_out_permille = (unsigned)(e4 * 1000 / PROF_ONE);
	return calib_parse_keys(o, cli_text(c, "fit"), &c->error);
}

static bool write_profile(
	struct cli *c, const struct calib_result *r, const struct calib_options *o)
{
	const char *path = cli_text(c, "output");
	struct out_file out = {0};
	struct str name = str_of(path_base(path));
	char *text;
	bool ok;

	if (str_ends(name, ".yaml"))
		name.n -= strlen(".yaml");
	text = mem_strndup(name.p, name.n);
	if (!text)
		return err_nomem(&c->error);
	ok = out_file_open(&out, path, &c->error) && calib_write(r, o, text, out.f, &c->error) &&
	     out_file_commit(&out, &c->error);
	out_file_abort(&out);
	mem_free(text);
	return ok;
}

static bool tell_text(struct cli *c, const struct calib_result *r)
{
	static const struct table_column columns[] = {
		{"constant", NULL, CELL_LEFT, false},
		{"pipe", NULL, CELL_LEFT, false},
		{"was", NULL, CELL_RIGHT, false},
		{"is", NULL, CELL_RIGHT, false},
		{"tasks", NULL, CELL_RIGHT, false},
		{"held out", "held_out", CELL_RIGHT, false},
		{"error %", "residual_pct", CELL_RIGHT, false},
		{"held-out error %", "held_out_pct", CELL_RIGHT, false},
		{"before %", "before_pct", CELL_RIGHT, false},
	};
	struct table t;
	bool ok;

	table_init(&t, columns, 9);
	for (unsigned i = 0; i < r->n; i++) {
		const struct calib_value *v = &r->v[i];

		table_cstr(&t, prof_key_name(v->key));
		table_cstr(&t, op_pipe_name(v->pipe));
		table_double(&t, (double)v->old_e4 / PROF_ONE, 4);
		table_double(&t, (double)v->new_e4 / PROF_ONE, 4);
		table_u64(&t, v->n_fit);
		table_u64(&t, v->n_held);
		table_double(&t, (double)v->residual_permille / 10, 1);
		table_double(&t, (double)v->held_permille / 10, 1);
		table_double(&t, (double)v->old_permille / 10, 1);
	}
	ok = table_print(&t, c) || err_nomem(&c->error);
	table_deinit(&t);
	return ok;
}

static bool tell_json(
	struct cli *c, const struct calib_result *r, const struct calib_options *o, size_t n_tasks)
{
	struct json_writer w;

	model_json_begin(c, &w, o->source, op_arch_name(o->base->arch));
	model_json_profile(&w, o->base);
	json_w_kv_cstr(&w, "file", cli_text(c, "output"));
	json_w_kv_cstr(&w, "status", prof_status_name(o->status));
	json_w_kv_u64(&w, "tasks", n_tasks);
	json_w_key(&w, "values");
	json_w_array(&w);
	for (unsigned i = 0; i < r->n; i++) {
		const struct calib_value *v = &r->v[i];

		json_w_row_object(&w);
		json_w_kv_cstr(&w, "key", prof_key_name(v->key));
		json_w_kv_cstr(&w, "pipe", op_pipe_name(v->pipe));
		json_w_kv_double(&w, "was", (double)v->old_e4 / PROF_ONE, 4);
		json_w_kv_double(&w, "is", (double)v->new_e4 / PROF_ONE, 4);
		json_w_kv_u64(&w, "fitted_tasks", v->n_fit);
		json_w_kv_u64(&w, "held_out_tasks", v->n_held);
		json_w_kv_double(&w, "residual_pct", (double)v->residual_permille / 10, 1);
		json_w_kv_double(&w, "held_out_pct", (double)v->held_permille / 10, 1);
		json_w_kv_double(&w, "before_pct", (double)v->old_permille / 10, 1);
		json_w_end(&w);
	}
	json_w_end(&w);
	json_w_end(&w);
	return cli_json_end(c, &w);
}

static int fit(struct cli *c, struct calib_options *o, const struct measured *m)
{
	struct calib_result r;
	bool ok = calib_run(m->tasks.v, m->tasks.n, o, &r, &c->error) && write_profile(c, &r, o);

	if (!ok)
		return cli_fail(c);
	if (m->n_skipped)
		cli_warn(c, "%llu of %llu rows %s no op stream in %s",
			(unsigned long long)m->n_skipped,
			(unsigned long long)(m->n_skipped + m->tasks.n),
			m->n_skipped == 1 ? "has" : "have", cli_text(c, "ops"));
	if (c->use_json)
		return tell_json(c, &r, o, m->tasks.n) ? INCORE_OK : cli_fail(c);
	if (!c->use_csv)
		fprintf(c->out, "%s: %zu task%s of %s, status %s\n\n", cli_text(c, "output"),
			m->tasks.n, plural(m->tasks.n), o->source, prof_status_name(o->status));
	return tell_text(c, &r) ? INCORE_OK : cli_fail(c);
}

static int run_model_calibrate(struct cli *c)
{
	struct calib_options o = {0};
	struct measured m;
	struct profile base;
	int status;

	measured_init(&m);
	if (!check_options(c, &o))
		return cli_fail(c);
	/* The name decides: a base for a5 has its own defaults. */
	if (!profile_load(&base, cli_text(c, "base"), ARCH_A2A3, &c->error))
		return cli_fail(c);
	o.base = &base;
	if (measured_load(c, &m, &o))
		status = fit(c, &o, &m);
	else
		status = cli_fail(c);
	measured_deinit(&m);
	profile_deinit(&base);
	return status;
}

const struct verb model_verb_calibrate = {
	.name = "model calibrate",
	.args = "",
	.summary = "fit constants of a profile to measurements of one's own",
	.groups = OPTIONS_OUTPUT | OPTIONS_CSV | OPTIONS_OWN_FILE | OPTIONS_CAPTURE,
	.options = options,
	.min_args = 0,
	.max_args = 0,
	.run = run_model_calibrate,
};
