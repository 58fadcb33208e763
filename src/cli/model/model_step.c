/* SPDX-License-Identifier: Apache-2.0 */
/* model_step.c: incore model step: a whole step of a model on a given number of cores. */
#include "cli/draw.h"
#include "cli/model/model_build.h"
#include "cli/model/model_job.h"
#include "model/device/schedule.h"
#include "model/engine/to_trace.h"
#include "page/say.h"
#include "trace/packed.h"

#define PACK_LEVEL 3

static const struct option_def options[] = {
	MODEL_BUILD_OPTIONS,
	MODEL_PROFILE_OPTION,
	{OPT_AIC, NULL, NULL, "number of cube cores (default: the profile's)"},
	{OPT_AIV_CORES, NULL, NULL, "number of vector cores (default: the profile's)"},
	UNSAFE_OPTION,
	OPTION_END,
};

struct path_row {
	const char *kernel, *class_name, *basis;
	uint64_t runs, device_runs;
	double us, device_us;
};
static const struct column path_columns[] = {
	COLUMN(path_row, kernel, UNIT_NONE, "name of the kernel"),
	COLUMN_AS(path_row, class_name, "class", UNIT_NONE, "cores that run the kernel",
		.words = "cube|vector|mixed"),
	COLUMN(path_row, basis, UNIT_NONE, "source of the kernel's time",
		.words = "estimate|device|none"),
	COLUMN(path_row, runs, UNIT_COUNT, "tasks of the kernel on the critical path"),
	COLUMN(path_row, us, UNIT_US, "time of the kernel's tasks on the critical path",
		.digits = 2),
	COLUMN(path_row, device_runs, UNIT_COUNT,
		"tasks of the kernel on the device's critical path", .title = "device runs"),
	COLUMN_AS(path_row, device_us, "device_us", UNIT_US,
		"time of the kernel's tasks on the device's critical path", .digits = 2,
		.title = "device us"),
};
static const struct record path_record = RECORD_OF(path_row, RECORD_LINE, path_columns);

struct span_row {
	const char *what;
	double estimate, device, error_pct;
};
static const struct column span_columns[] = {
	COLUMN(span_row, what, UNIT_NONE, "name of the figure"),
	COLUMN(span_row, estimate, UNIT_NONE, "value of the model", .digits = 2),
	COLUMN(span_row, device, UNIT_NONE, "value measured on the device", .digits = 2, OPTIONAL),
	COLUMN(span_row, error_pct, UNIT_PERCENT, "how much larger the estimate is", .digits = 1,
		OPTIONAL, .title = "error %"),
};
static const struct record span_record = RECORD_OF(span_row, RECORD_LINE, span_columns);

struct step_data {
	const char *verb, *text, *file;
	struct profile_row profile;
	uint64_t aic, aiv, tasks, kernels, measured;
	struct rows spans, path;
	bool has_device; /* not printed */
};
static const struct column step_columns[] = {
	MODEL_VERB(step_data, "step"),
	COLUMN(step_data, text, UNIT_NONE, "what the figures rest on"),
	COLUMN(step_data, file, UNIT_NONE, "path of the trace that was written", NULLABLE),
	RECORD(step_data, profile, &profile_record, "constants of the machine"),
	COLUMN(step_data, aic, UNIT_COUNT, "number of cube cores"),
	COLUMN(step_data, aiv, UNIT_COUNT, "number of vector cores"),
	COLUMN(step_data, tasks, UNIT_COUNT, "tasks in the step"),
	COLUMN(step_data, kernels, UNIT_COUNT, "kernels in the step"),
	COLUMN(step_data, measured, UNIT_COUNT,
		"kernels without an estimate: they take the device's time, or 0 if unknown"),
	LIST(step_data, spans, &span_record, "makespan, critical path and use of cores"),
	LIST(step_data, path, &path_record, "kernels on the critical path"),
};
static const struct record step_record = RECORD_OF(step_data, RECORD_BLOCK, step_columns);

static struct span_row span(const char *what, double estimate, double device)
{
	bool has = device > 0;

	return (struct span_row){
		what, estimate, has ? device : NAN, has ? 100 * (estimate / device - 1) : NAN};
}

static const struct device_kernel *find(const struct device_step *d, const struct swim_kernel *k)
{
	size_t i = 0;

	while (d->kernels.v[i].k != k)
		i++;
	return &d->kernels.v[i];
}

/* Both critical paths in one list: the estimated one, then kernels only in that of the device. */
static size_t put_paths(struct path_row *rows, const struct device_step *d,
	const struct critical_path *a, const struct critical_path *b)
{
	size_t n = 0;

	for (size_t i = 0; i < a->parts.n + b->parts.n; i++) {
		bool is_ours = i < a->parts.n;
		const struct schedule_part *p =
			is_ours ? &a->parts.v[i] : &b->parts.v[i - a->parts.n];
		size_t at = 0;

		while (at < n && strcmp(rows[at].kernel, p->kernel->name) != 0)
			at++;
		if (at == n)
			rows[n++] = (struct path_row){.kernel = p->kernel->name,
				.class_name = kernel_kind_name(device_kind_of(p->kernel)),
				.basis = find(d, p->kernel)->set ? "estimate"
					 : d->s->runs.n		 ? "device"
								 : "none"};
		*(is_ours ? &rows[at].runs : &rows[at].device_runs) = p->runs;
		*(is_ours ? &rows[at].us : &rows[at].device_us) = p->us;
	}
	return n;
}

static bool write_trace(struct cli *c, const struct schedule *s, const struct device_step *d,
	const struct schedule_options *o)
{
	struct packed_options how = {.level = PACK_LEVEL};
	struct out_file f = {0};
	struct packed_result r;
	struct trace *t = NULL;
	bool ok;

	if (!cli_text(c, "output"))
		return true;
	ok = schedule_to_trace(s, d, o, &t, &c->error) &&
	     out_file_open(&f, cli_text(c, "output"), &c->error) &&
	     packed_write(t, f.f, &how, &r, &c->error) && out_file_commit(&f, &c->error);
	out_file_abort(&f);
	trace_free(t);
	return ok;
}

static bool tell_step(struct cli *c, const struct step_data *x)
{
	static const char *const spans[] = {"what", "estimate", "device", "error_pct", NULL};
	static const char *const path[] = {
		"kernel", "class", "basis", "runs", "us", "device_runs", "device_us", NULL};

	if (c->use_json)
		return model_json(c, cli_text(c, "build"), NULL, &step_record, x);
	if (c->use_csv)
		return record_table_print(c, &path_record, x->path, path);
	say(c->out,
		"%s\nprofile  %s\nstep     %llu tasks of %llu kernels on %llu AIC and %llu AIV\n\n",
		x->text, x->profile.name, (unsigned long long)x->tasks,
		(unsigned long long)x->kernels, (unsigned long long)x->aic,
		(unsigned long long)x->aiv);
	if (!record_table_print(c, &span_record, x->spans, spans))
		return false;
	say(c->out, "\ncritical path, by kernel\n");
	if (!record_table_print(c, &path_record, x->path, path))
		return false;
	if (x->measured)
		say(c->out, "\n%llu kernel%s without an estimate take%s %s\n",
			(unsigned long long)x->measured, plural(x->measured),
			x->measured == 1 ? "s" : "",
			x->has_device
				? "what the device took"
				: "no time here: the step is longer (--swimlane has their times, --data what they read)");
	if (x->file)
		say(c->out, "\nwritten to %s; see incore hot %s\n", x->file, x->file);
	return true;
}

static bool answer(struct cli *c, struct model_build *b, const struct schedule_options *o)
{
	struct schedule own = {0}, device = {0};
	bool has_device = b->swim.runs.n > 0;
	size_t n = 2 * b->swim.kernels.n + 1;
	struct path_row *rows = arena_zalloc(&b->arena, n, sizeof(*rows));
	bool ok = rows || err_nomem(&c->error);

	ok = ok && schedule_make(&own, &b->step, o, &c->error) &&
	     (!has_device || schedule_recorded(&device, &b->step, &c->error)) &&
	     write_trace(c, &own, &b->step, o);
	if (ok) {
		struct span_row spans[] = {
			span("makespan us", own.path.span_us, device.path.span_us),
			span("kernels on the critical path us", own.path.kernels_us,
				device.path.kernels_us),
			span("between them us", own.path.span_us - own.path.kernels_us,
				device.path.span_us - device.path.kernels_us),
			span("AIC at work %", 100 * own.busy_aic, 100 * device.busy_aic),
			span("AIV at work %", 100 * own.busy_aiv, 100 * device.busy_aiv),
		};
		struct step_data x = {"step", MODEL_TEXT, cli_text(c, "output"),
			profile_row_of(&b->profile), o->n_aic, o->n_aiv, b->swim.tasks.n,
			b->swim.kernels.n, own.n_measured,
			{spans, sizeof(spans) / sizeof(spans[0])},
			{rows, put_paths(rows, &b->step, &own.path, &device.path)}, has_device};

		ok = tell_step(c, &x);
	}
	schedule_deinit(&own);
	schedule_deinit(&device);
	return ok;
}

static bool run_model_step(struct cli *c)
{
	struct model_build b;
	struct schedule_options o = {.profile = &b.profile};
	bool ok = model_build_open(c, cli_text(c, "profile"), false, &b);

	if (ok) {
		o.n_aic = cli_has(c, "aic") ? (uint32_t)cli_count(c, "aic")
					    : (uint32_t)(b.profile.k[K_AIC_CORES].e4 / PROF_ONE);
		o.n_aiv = cli_has(c, "aiv") ? (uint32_t)cli_count(c, "aiv")
					    : (uint32_t)(b.profile.k[K_AIV_CORES].e4 / PROF_ONE);
		if (o.n_aic > 65535 || o.n_aiv > 65535)
			ok = err_set(&c->error, INCORE_USAGE, "bad-option-value",
				"--aic and --aiv: expected at most 65535");
	}
	ok = ok && answer(c, &b, &o);
	model_build_close(&b);
	return ok;
}

const struct verb model_verb_step = {
	.name = "model step",
	.summary = "a whole step of a model: its tasks on so many cores",
	.groups = OPTIONS_OUTPUT | OPTIONS_CSV | OPTIONS_OWN_FILE,
	.options = options,
	.run = run_model_step,
	.records = RECORDS(&step_record),
	.inputs = model_inputs,
};
