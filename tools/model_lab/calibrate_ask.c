/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate_ask.c: incore model calibrate: constants of a profile from the user's own
 * measurements. */
#include "base/file.h"
#include "model_lab/calibrate.h"
#include "model_lab/fit.h"
#include "model_lab/measured.h"
#include "page/page.h"

static const struct option_def options[] = {
	{OPT_BASE_PROFILE, NULL, NULL, "profile whose other values are kept",
		OPTION_FIELD(calibrate_params, build.profile)},
	{OPT_OPS, NULL, NULL,
		"op streams: a folder with task-ID or func-ID (.opstream, .jsonl), or one file",
		OPTION_FIELD(calibrate_params, ops)},
	{OPT_PMU, NULL, NULL, "counters, one row per task", OPTION_FIELD(calibrate_params, pmu)},
	{OPT_TRACE_PATH, NULL, NULL, "trace of the kernel from a simulator",
		OPTION_FIELD(calibrate_params, trace)},
	{OPT_INSTR_CSV, NULL, NULL,
		"table of instructions from a simulator: only for CUBE and FIXP",
		OPTION_FIELD(calibrate_params, instr_csv)},
	{OPT_FIT, NULL, NULL, "constants to fit", OPTION_FIELD(calibrate_params, fit)},
	{OPT_HOLD_OUT, NULL, "0.3", "share of the tasks that are kept for checking",
		OPTION_FIELD(calibrate_params, hold_out)},
	MODEL_BUILD_OPTIONS(calibrate_params),
	{OPT_FIT_HALF, NULL, NULL,
		"with --swimlane: ignore check rows (every second kernel by name)",
		OPTION_FIELD(calibrate_params, fit_half)},
	OPTION_UNSAFE(calibrate_params, build.is_unsafe),
	{OPT_OUTPUT, NULL, NULL, "file for the profile", OPTION_FIELD(calibrate_params, file)},
	OPTION_END,
};

static bool need(const char *value, const char *name, struct incore_error *e)
{
	return value ||
	       err_set(e, INCORE_USAGE, "missing-option", "model calibrate needs --%s", name);
}

static bool check_options(
	const struct calibrate_params *p, struct calib_options *o, struct incore_error *e)
{
	unsigned sources = (p->pmu != NULL) + (p->trace != NULL) + (p->instr_csv != NULL);
	int64_t e4;

	if (!need(p->build.profile, "base", e) || !need(p->ops, "ops", e) ||
		!need(p->fit, "fit", e) || !need(p->file, "output", e))
		return false;
	if (sources != 1)
		return err_set(e, INCORE_USAGE, "missing-option",
			"model calibrate needs one of --pmu, --trace and --instr-csv, found %u",
			sources);
	if (!prof_number(str_of(p->hold_out), &e4) || e4 < 0 || e4 > 9 * PROF_ONE / 10)
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--hold-out: expected 0 to 0.9, found '%s'", p->hold_out);
	o->hold_out_permille = (unsigned)(e4 * 1000 / PROF_ONE);
	return calib_parse_keys(o, p->fit, e);
}

static bool write_profile(const char *path, const struct calib_result *r,
	const struct calib_options *o, struct incore_error *e)
{
	struct out_file out = {0};
	struct str name = str_of(path_base(path));
	char *text;
	bool ok;

	if (str_ends(name, ".yaml"))
		name.n -= strlen(".yaml");
	text = mem_strndup(name.p, name.n);
	if (!text)
		return err_nomem(e);
	ok = out_file_open(&out, path, e) && calib_write(r, o, text, out.f, e) &&
	     out_file_commit(&out, e);
	out_file_abort(&out);
	mem_free(text);
	return ok;
}

/* --- the answer --- */

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
	struct machine_row profile;
	uint64_t tasks;
	struct rows values, not_fitted;
	/* For the page. */
	const char *source;
	bool is_step; /* fitted to the times of a step */
};
static const struct column calibrate_columns[] = {
	MODEL_VERB(calibrate_data, "calibrate"),
	RECORD(calibrate_data, profile, &machine_record, "the base profile"),
	COLUMN(calibrate_data, file, UNIT_NONE, "path of the profile that was written"),
	COLUMN(calibrate_data, status, UNIT_NONE, "what the values rest on",
		.words = "device|camodel"),
	COLUMN(calibrate_data, tasks, UNIT_COUNT, "tasks that were measured"),
	LIST(calibrate_data, values, &value_record, "the fitted constants"),
	LIST(calibrate_data, not_fitted, &not_fitted_record,
		"constants that the measured times do not determine; they keep their value",
		OPTIONAL),
};
static const struct record calibrate_record =
	RECORD_OF(calibrate_data, RECORD_BLOCK, calibrate_columns);

static bool set_calibrated(struct calibrate_data *x, const struct calib_result *r,
	const struct calib_options *o, struct answer *a, struct incore_error *e)
{
	struct value_row *rows = ANSWER_ROWS(a, &x->values, r->n, value_row, e);

	for (unsigned i = 0; rows && i < r->n; i++) {
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
	if (!rows || !model_about(a, o->source, op_arch_name(o->base->arch), e))
		return false;
	x->verb = "calibrate";
	x->status = prof_status_name(o->status);
	x->profile = machine_row_of(o->base);
	x->source = o->source;
	answer_set(a, &calibrate_record, x);
	return true;
}

/* --- from measurements of tasks --- */

static bool fit_tasks(const struct request *r, struct calib_options *o, struct measured *m,
	struct answer *a, struct incore_error *e)
{
	const struct calibrate_params *p = r->params;
	struct calibrate_data *x = ANSWER_NEW(a, calibrate_data, e);
	struct calib_result result;

	if (!x || !measured_load(r, a, m, o, e) ||
		!calib_run(m->tasks.v, m->tasks.n, o, &result, e) ||
		!write_profile(p->file, &result, o, e))
		return false;
	if (m->n_skipped)
		answer_warn(a, "%llu of %llu rows %s no op stream in %s",
			(unsigned long long)m->n_skipped,
			(unsigned long long)m->n_skipped + m->tasks.n,
			m->n_skipped == 1 ? "has" : "have", p->ops);
	x->file = p->file;
	x->tasks = m->tasks.n;
	return set_calibrated(x, &result, o, a, e);
}

/* --- from the times of a step --- */

/* The constants to fit: those named, or all that the load of a machine depends on. */
static bool take_keys(
	const char *list, enum prof_key keys[MAX_UNKNOWNS], unsigned *n, struct incore_error *e)
{
	struct str rest = str_of(list ? list : ""), name;

	*n = 0;
	while (rest.n && str_cut(&rest, ",", &name)) {
		keys[*n] = prof_key_find(str_trim(name));
		if (keys[*n] == K_COUNT || *n == MAX_UNKNOWNS - 1)
			return err_set(e, INCORE_USAGE, "bad-option-value",
				"--fit: '%.*s' is not a constant of a profile, or is one too many",
				STR_ARG(name));
		++*n;
	}
	if (!*n)
		*n = device_fit_keys(keys);
	return true;
}

static void put_fit_value(
	const struct device_fit *f, const struct fit_value *v, struct calib_result *r)
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
static bool find_residuals(struct model_build *b, const char *source,
	struct prof_residual out[KERNEL_KINDS], struct incore_error *e)
{
	for (unsigned load = 0; load < 2; load++) {
		if (!device_estimate(&b->step, &b->profile, load == 1, e))
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

/* Sorts the fitted constants from those that the times do not determine. */
static bool take_fit(const struct device_fit *f, struct calib_result *r, struct calibrate_data *x,
	struct answer *a, struct incore_error *e)
{
	struct not_fitted_row *left = ANSWER_ROWS(a, &x->not_fitted, f->n, not_fitted_row, e);

	if (!left)
		return false;
	x->not_fitted.n = 0;
	EACH (const struct fit_value, v, f->v, f->n) {
		if (v->why)
			left[x->not_fitted.n++] =
				(struct not_fitted_row){prof_key_name(v->key), v->why};
		else
			put_fit_value(f, v, r);
	}
	return true;
}

static bool fit_step(const struct calibrate_params *p, struct model_build *b,
	const struct profile *base, struct answer *a, struct incore_error *e)
{
	struct calib_options o = {
		.base = base, .status = STATUS_DEVICE, .source = path_base(p->build.swimlane)};
	struct calibrate_data *x = ANSWER_NEW(a, calibrate_data, e);
	enum prof_key keys[MAX_UNKNOWNS];
	struct prof_residual residuals[KERNEL_KINDS] = {{0}};
	struct calib_result r = {0};
	struct device_fit f;
	unsigned n;

	if (!x || !take_keys(p->fit, keys, &n, e) ||
		!device_fit_run(&b->step, &b->profile, keys, n, p->fit_half, &f, e) ||
		!take_fit(&f, &r, x, a, e))
		return false;
	o.residuals = residuals;
	x->file = p->file;
	x->tasks = f.after.n;
	x->is_step = true;
	return find_residuals(b, o.source, residuals, e) && write_profile(p->file, &r, &o, e) &&
	       set_calibrated(x, &r, &o, a, e);
}

/* --- the question --- */

struct calibration { /* kept by the answer, which has strings of it */
	struct profile base;
	struct measured measured;
};

static void drop_calibration(struct calibration *k)
{
	measured_deinit(&k->measured);
	profile_deinit(&k->base);
	mem_free(k);
}

static bool calibrate_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	const struct calibrate_params *p = r->params;
	struct calibration *k = mem_zalloc(1, sizeof(*k));
	struct calib_options o = {.base = &k->base};
	struct model_build *b;

	if (!k)
		return err_nomem(e);
	/* The name decides: a base profile for a5 has its own defaults. */
	if (!ANSWER_KEEP(a, k, drop_calibration, e) ||
		(!p->build.swimlane && !check_options(p, &o, e)) ||
		(p->build.swimlane &&
			(!need(p->build.build, "build", e) || !need(p->file, "output", e))) ||
		!profile_load(&k->base, p->build.profile, ARCH_A2A3, e))
		return false;
	if (!p->build.swimlane)
		return fit_tasks(r, &o, &k->measured, a, e);
	b = model_build_new(r, &p->build, true, a, e);
	return b && fit_step(p, b, &k->base, a, e);
}

static void calibrate_page(const struct answer *a, struct page *p)
{
	static const char *const columns[] = {"key", "pipe", "was", "is", "fitted_tasks",
		"held_out_tasks", "residual_pct", "held_out_pct", "before_pct", NULL};
	const struct calibrate_data *x = a->data;
	const struct not_fitted_row *left = x->not_fitted.v;

	if (!p->is_csv) {
		page_line(p, "%s: %zu task%s of %s, status %s", x->file, (size_t)x->tasks,
			plural(x->tasks), x->source, x->status);
		page_gap(p);
	}
	page_main_records(p, &value_record, x->values, columns);
	if (p->is_csv || !x->is_step)
		return;
	if (x->not_fitted.n)
		page_gap(p);
	for (size_t i = 0; i < x->not_fitted.n; i++)
		page_line(p, "%s is not identifiable: %s", left[i].key, left[i].why);
	page_gap(p);
	page_line(p, "held-out error: each kernel by a fit without it, one after the other");
}

const struct question question_model_calibrate = {
	.name = "model calibrate",
	.args = "",
	.summary = "fit constants of a profile to measurements of one's own",
	.groups = OPTIONS_CSV | OPTIONS_CAPTURE,
	.options = options,
	.params_size = sizeof(struct calibrate_params),
	.records = RECORDS(&calibrate_record),
	.inputs = model_inputs,
	.ask = calibrate_ask,
	.page = calibrate_page,
};
