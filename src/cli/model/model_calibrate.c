/* SPDX-License-Identifier: Apache-2.0 */
/* model_calibrate.c: incore model calibrate: constants of a profile from the user's own
 * measurements. */
#include "model/lab/calibrate.h"

#include "cli/draw.h"
#include "cli/model/model_build.h"
#include "cli/model/model_measured.h"
#include "cli/model/model_report.h"
#include "model/lab/fit.h"
#include "page/say.h"

static const struct option_def options[] = {
	{OPT_BASE_PROFILE, NULL, NULL, "profile whose other values are kept"},
	{OPT_OPS, NULL, NULL,
		"op streams: a folder with task-ID or func-ID (.opstream, .jsonl), or one file"},
	{OPT_PMU, NULL, NULL, "counters, one row per task"},
	{OPT_TRACE_PATH, NULL, NULL, "trace of the kernel from a simulator"},
	{OPT_INSTR_CSV, NULL, NULL,
		"table of instructions from a simulator: only for CUBE and FIXP"},
	{OPT_FIT, NULL, NULL, "constants to fit"},
	{OPT_HOLD_OUT, NULL, "0.3", "share of the tasks that are kept for checking"},
	MODEL_BUILD_OPTIONS,
	{OPT_FIT_HALF, NULL, NULL,
		"with --swimlane: ignore check rows (every second kernel by name)"},
	UNSAFE_OPTION,
	OPTION_END,
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

struct value_row {
	const char *key, *pipe;
	double was, is, residual_pct, held_out_pct, before_pct;
	uint32_t fitted_tasks, held_out_tasks;
};
static const struct column value_columns[] = {
	COLUMN(value_row, key, UNIT_NONE, "name of the constant", .title = "constant"),
	COLUMN(value_row, pipe, UNIT_NONE, "pipe whose times the constant was fitted to",
		.words = MODEL_PIPES),
	COLUMN(value_row, was, UNIT_NONE, "value of the constant in the base profile", .digits = 4),
	COLUMN(value_row, is, UNIT_NONE, "fitted value of the constant", .digits = 4),
	COLUMN(value_row, fitted_tasks, UNIT_COUNT, "tasks that the constant was fitted to",
		.title = "tasks"),
	COLUMN(value_row, held_out_tasks, UNIT_COUNT, "tasks that the constant was checked on",
		.title = "held out", .csv = "held_out"),
	COLUMN(value_row, residual_pct, UNIT_PERCENT, "mean error on the tasks of the fit",
		.title = "error %", .csv = "residual_pct", .digits = 1),
	COLUMN(value_row, held_out_pct, UNIT_PERCENT, "mean error on the tasks kept for checking",
		.title = "held-out error %", .csv = "held_out_pct", .digits = 1),
	COLUMN(value_row, before_pct, UNIT_PERCENT,
		"mean error of the base profile on the tasks kept for checking",
		.title = "before %", .csv = "before_pct", .digits = 1),
};
static const struct record value_record = RECORD_OF(value_row, RECORD_LINE, value_columns);

struct not_fitted_row {
	const char *key, *why;
};
static const struct column not_fitted_columns[] = {
	COLUMN(not_fitted_row, key, UNIT_NONE, "name of the constant"),
	COLUMN(not_fitted_row, why, UNIT_NONE, "why the constant was not fitted"),
};
static const struct record not_fitted_record =
	RECORD_OF(not_fitted_row, RECORD_LINE, not_fitted_columns);

struct calibrate_data {
	const char *verb, *file, *status;
	struct profile_row profile;
	uint64_t tasks;
	struct rows values, not_fitted;
};
static const struct column data_columns[] = {
	MODEL_VERB(calibrate_data, "calibrate"),
	RECORD(calibrate_data, profile, &profile_record, "the base profile"),
	COLUMN(calibrate_data, file, UNIT_NONE, "path of the profile that was written"),
	COLUMN(calibrate_data, status, UNIT_NONE, "what the values rest on",
		.words = "device|camodel"),
	COLUMN(calibrate_data, tasks, UNIT_COUNT, "tasks that were measured"),
	LIST(calibrate_data, values, &value_record, "the fitted constants"),
	LIST(calibrate_data, not_fitted, &not_fitted_record,
		"constants that the measured times do not determine; they keep their value",
		OPTIONAL),
};
static const struct record data_record = RECORD_OF(calibrate_data, RECORD_BLOCK, data_columns);

static bool tell(struct cli *c, const struct calib_result *r, const struct calib_options *o,
	size_t n_tasks, struct rows not_fitted)
{
	static const char *const columns[] = {"key", "pipe", "was", "is", "fitted_tasks",
		"held_out_tasks", "residual_pct", "held_out_pct", "before_pct", NULL};
	struct value_row rows[CALIB_KEYS];
	struct calibrate_data x = {"calibrate", cli_text(c, "output"), prof_status_name(o->status),
		profile_row_of(o->base), n_tasks, {rows, r->n}, not_fitted};

	for (unsigned i = 0; i < r->n; i++) {
		const struct calib_value *v = &r->v[i];

		rows[i] = (struct value_row){.key = prof_key_name(v->key),
			.pipe = op_pipe_name(v->pipe),
			.was = (double)v->old_e4 / PROF_ONE,
			.is = (double)v->new_e4 / PROF_ONE,
			.fitted_tasks = v->n_fit,
			.held_out_tasks = v->n_held,
			.residual_pct = (double)v->residual_permille / 10,
			.held_out_pct = (double)v->held_permille / 10,
			.before_pct = (double)v->old_permille / 10};
	}
	if (c->use_json)
		return model_json(c, o->source, op_arch_name(o->base->arch), &data_record, &x);
	if (!c->use_csv)
		say(c->out, "%s: %zu task%s of %s, status %s\n\n", x.file, n_tasks, plural(n_tasks),
			o->source, x.status);
	return record_table_print(c, &value_record, x.values, columns);
}

static bool fit(struct cli *c, struct calib_options *o, const struct measured *m)
{
	struct calib_result r;

	if (!calib_run(m->tasks.v, m->tasks.n, o, &r, &c->error) || !write_profile(c, &r, o))
		return false;
	if (m->n_skipped)
		cli_warn(c, "%llu of %llu rows %s no op stream in %s",
			(unsigned long long)m->n_skipped,
			(unsigned long long)m->n_skipped + m->tasks.n,
			m->n_skipped == 1 ? "has" : "have", cli_text(c, "ops"));
	return tell(c, &r, o, m->tasks.n, (struct rows){0});
}

/* --- from the times of a step --- */

/* The constants to fit: those named, or all that the load of a machine depends on. */
static bool take_keys(struct cli *c, enum prof_key keys[MAX_UNKNOWNS], unsigned *n)
{
	struct str rest = str_of(cli_text(c, "fit") ? cli_text(c, "fit") : ""), name;

	*n = 0;
	while (rest.n && str_cut(&rest, ",", &name)) {
		keys[*n] = prof_key_find(str_trim(name));
		if (keys[*n] == K_COUNT || *n == MAX_UNKNOWNS - 1)
			return err_set(&c->error, INCORE_USAGE, "bad-option-value",
				"--fit: '%.*s' is not a constant of a profile, or is one too many",
				STR_ARG(name));
		++*n;
	}
	if (!*n)
		*n = device_fit_keys(keys);
	return true;
}

static void put_value(const struct device_fit *f, const struct fit_value *v, struct calib_result *r)
{
	r->v[r->n++] = (struct calib_value){.key = v->key,
		.pipe = v->key >= K_HBM_BW ? OPP_MTE2 : OPP_S,
		.old_e4 = (int64_t)(v->before * PROF_ONE + 0.5),
		.new_e4 = (int64_t)(v->after * PROF_ONE + 0.5),
		.n_fit = f->after.n,
		.n_held = f->after.n, /* each is held out once */
		.residual_permille = (unsigned)(1000 * f->after.mean + 0.5),
		.held_permille = (unsigned)(1000 * f->left_out + 0.5),
		.old_permille = (unsigned)(1000 * f->before.mean + 0.5)};
}

/* Finds the residuals of kernels with the fitted constants, by kind, without and with load. */
static bool find_residuals(struct cli *c, struct model_build *b, const char *source,
	struct prof_residual out[KERNEL_KINDS])
{
	for (unsigned load = 0; load < 2; load++) {
		if (!device_estimate(&b->step, &b->profile, load == 1, &c->error))
			return false;
		for (unsigned k = 0; k < KERNEL_KINDS; k++) {
			struct device_error x = device_error_of(&b->step, -1, (int)k);

			out[k].kernels = x.n;
			out[k].source = source;
			out[k].low_e4[load] = (int64_t)(x.low * PROF_ONE + 0.5);
			out[k].high_e4[load] = (int64_t)(x.high * PROF_ONE + 0.5);
		}
	}
	return true;
}

static bool fit_step(struct cli *c, struct model_build *b, const struct profile *base)
{
	struct calib_options o = {.base = base,
		.status = STATUS_DEVICE,
		.source = path_base(cli_text(c, "swimlane"))};
	struct not_fitted_row left[MAX_UNKNOWNS];
	struct rows not_fitted = {left, 0};
	enum prof_key keys[MAX_UNKNOWNS];
	struct prof_residual residuals[KERNEL_KINDS] = {{0}};
	struct calib_result r = {0};
	struct device_fit f;
	unsigned n;

	if (!take_keys(c, keys, &n) || !device_fit_run(&b->step, &b->profile, keys, n,
					       cli_flag(c, "fit-half"), &f, &c->error))
		return false;
	EACH (const struct fit_value, v, f.v, f.n) {
		if (v->why)
			left[not_fitted.n++] =
				(struct not_fitted_row){prof_key_name(v->key), v->why};
		else
			put_value(&f, v, &r);
	}
	o.residuals = residuals;
	if (!find_residuals(c, b, o.source, residuals) || !write_profile(c, &r, &o) ||
		!tell(c, &r, &o, f.after.n, not_fitted))
		return false;
	for (size_t i = 0; i < not_fitted.n && !c->use_json && !c->use_csv; i++)
		say(c->out, "%s%s is not identifiable: %s\n", i ? "" : "\n", left[i].key,
			left[i].why);
	if (!c->use_json && !c->use_csv)
		say(c->out,
			"\nheld-out error: each kernel by a fit without it, one after the other\n");
	return true;
}

static bool calibrate_step(struct cli *c)
{
	struct model_build b;
	struct profile base;
	bool ok = need(c, "build") && need(c, "output");

	if (!ok || !profile_load(&base, cli_text(c, "base"), ARCH_A2A3, &c->error))
		return false;
	ok = model_build_open(c, cli_text(c, "base"), true, &b) && fit_step(c, &b, &base);
	model_build_close(&b);
	profile_deinit(&base);
	return ok;
}

static bool run_model_calibrate(struct cli *c)
{
	struct calib_options o = {0};
	struct measured m;
	struct profile base;
	bool ok;

	if (cli_has(c, "swimlane"))
		return calibrate_step(c);
	measured_init(&m);
	/* The name decides: a base profile for a5 has its own defaults. */
	if (!check_options(c, &o) ||
		!profile_load(&base, cli_text(c, "base"), ARCH_A2A3, &c->error))
		return false;
	o.base = &base;
	ok = measured_load(c, &m, &o) && fit(c, &o, &m);
	measured_deinit(&m);
	profile_deinit(&base);
	return ok;
}

const struct verb model_verb_calibrate = {
	.name = "model calibrate",
	.summary = "fit constants of a profile to measurements of one's own",
	.groups = OPTIONS_OUTPUT | OPTIONS_CSV | OPTIONS_OWN_FILE | OPTIONS_CAPTURE,
	.options = options,
	.run = run_model_calibrate,
	.records = RECORDS(&data_record),
	.inputs = model_inputs,
};
