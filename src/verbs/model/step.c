/* SPDX-License-Identifier: Apache-2.0 */
/* step.c: incore model step: a whole step of a model on a given number of cores. */
#include "base/file.h"
#include "model/device/schedule.h"
#include "model/engine/to_trace.h"
#include "page/page.h"
#include "trace/packed.h"
#include "verbs/model/build.h"

#define PACK_LEVEL 3
#define MAX_CORES 65535

struct model_step_params {
	struct build_params build;
	uint64_t aic, aiv; /* NO_COUNT: as many as the profile says */
	const char *file;
};

static const struct option_def options[] = {
	MODEL_BUILD_OPTIONS(model_step_params),
	{OPT_PROFILE_P, NULL, NULL, "constants of the machine (default: 910b1; a5 for a5)",
		OPTION_FIELD(model_step_params, build.profile)},
	{OPT_AIC, NULL, NULL, "number of cube cores (default: the profile's)",
		OPTION_FIELD(model_step_params, aic)},
	{OPT_AIV_CORES, NULL, NULL, "number of vector cores (default: the profile's)",
		OPTION_FIELD(model_step_params, aiv)},
	OPTION_UNSAFE(model_step_params, build.is_unsafe),
	{OPT_OUTPUT, NULL, NULL, "file for the trace of the step",
		OPTION_FIELD(model_step_params, file)},
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
	struct machine_row profile;
	uint64_t aic, aiv, tasks, kernels, measured;
	struct rows spans, path;
	bool has_device; /* not printed */
};
static const struct column step_columns[] = {
	MODEL_VERB(step_data, "step"),
	COLUMN(step_data, text, UNIT_NONE, "what the figures rest on"),
	COLUMN(step_data, file, UNIT_NONE, "path of the trace that was written", NULLABLE),
	RECORD(step_data, profile, &machine_record, "constants of the machine"),
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

static bool write_trace(const char *path, const struct schedule *s, const struct device_step *d,
	const struct schedule_options *o, struct incore_error *e)
{
	struct packed_options how = {.level = PACK_LEVEL};
	struct out_file f = {0};
	struct packed_result r;
	struct trace *t = NULL;
	bool ok = schedule_to_trace(s, d, o, &t, e) && out_file_open(&f, path, e) &&
		  packed_write(t, f.f, &how, &r, e) && out_file_commit(&f, e);

	out_file_abort(&f);
	trace_free(t);
	return ok;
}

#define SPANS 5

static bool fill_step(struct step_data *x, const struct model_build *b, const struct schedule *own,
	const struct schedule *device, struct answer *a, struct incore_error *e)
{
	struct span_row *spans = ANSWER_ROWS(a, &x->spans, SPANS, span_row, e);
	struct path_row *path = ANSWER_ROWS(a, &x->path, 2 * b->swim.kernels.n + 1, path_row, e);

	if (!spans || !path)
		return false;
	spans[0] = span("makespan us", own->path.span_us, device->path.span_us);
	spans[1] = span(
		"kernels on the critical path us", own->path.kernels_us, device->path.kernels_us);
	spans[2] = span("between them us", own->path.span_us - own->path.kernels_us,
		device->path.span_us - device->path.kernels_us);
	spans[3] = span("AIC at work %", 100 * own->busy_aic, 100 * device->busy_aic);
	spans[4] = span("AIV at work %", 100 * own->busy_aiv, 100 * device->busy_aiv);
	x->path.n = put_paths(path, &b->step, &own->path, &device->path);
	x->verb = "step";
	x->text = MODEL_TEXT;
	x->profile = machine_row_of(&b->profile);
	x->tasks = b->swim.tasks.n;
	x->kernels = b->swim.kernels.n;
	x->measured = own->n_measured;
	return true;
}

static bool schedule_step(struct model_build *b, const struct schedule_options *o,
	struct step_data *x, struct answer *a, struct incore_error *e)
{
	struct schedule own = {0}, device = {0};
	bool ok = schedule_make(&own, &b->step, o, e) &&
		  (!x->has_device || schedule_recorded(&device, &b->step, e)) &&
		  fill_step(x, b, &own, &device, a, e) &&
		  (!x->file || write_trace(x->file, &own, &b->step, o, e));

	schedule_deinit(&own);
	schedule_deinit(&device);
	return ok;
}

static uint64_t core_count(uint64_t stated, const struct profile *p, enum prof_key key)
{
	return stated == NO_COUNT ? (uint32_t)(p->k[key].e4 / PROF_ONE) : stated;
}

static bool step_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	const struct model_step_params *p = r->params;
	struct step_data *x = ANSWER_NEW(a, step_data, e);
	struct model_build *b = x ? model_build_new(r, &p->build, false, a, e) : NULL;
	struct schedule_options o;

	if (!b)
		return false;
	x->aic = core_count(p->aic, &b->profile, K_AIC_CORES);
	x->aiv = core_count(p->aiv, &b->profile, K_AIV_CORES);
	if (x->aic > MAX_CORES || x->aiv > MAX_CORES)
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--aic and --aiv: expected at most %d", MAX_CORES);
	o = (struct schedule_options){
		.profile = &b->profile, .n_aic = (uint32_t)x->aic, .n_aiv = (uint32_t)x->aiv};
	x->file = p->file;
	x->has_device = b->swim.runs.n > 0;
	if (!schedule_step(b, &o, x, a, e))
		return false;
	a->is_written = x->file != NULL;
	if (!model_about(a, p->build.build, NULL, e))
		return false;
	answer_set(a, &step_record, x);
	return true;
}

static void step_page(const struct answer *a, struct page *p)
{
	static const char *const spans[] = {"what", "estimate", "device", "error_pct", NULL};
	static const char *const path[] = {
		"kernel", "class", "basis", "runs", "us", "device_runs", "device_us", NULL};
	const struct step_data *x = a->data;

	if (p->is_csv) {
		page_main_records(p, &path_record, x->path, path);
		return;
	}
	page_line(p, "%s", x->text);
	page_line(p, "profile  %s", x->profile.name);
	page_line(p, "step     %llu tasks of %llu kernels on %llu AIC and %llu AIV",
		(unsigned long long)x->tasks, (unsigned long long)x->kernels,
		(unsigned long long)x->aic, (unsigned long long)x->aiv);
	page_gap(p);
	page_records(p, &span_record, x->spans, spans);
	page_gap(p);
	page_line(p, "critical path, by kernel");
	page_main_records(p, &path_record, x->path, path);
	if (x->measured) {
		page_gap(p);
		page_line(p, "%llu kernel%s without an estimate take%s %s",
			(unsigned long long)x->measured, plural(x->measured),
			x->measured == 1 ? "s" : "",
			x->has_device
				? "what the device took"
				: "no time here: the step is longer (--swimlane has their times, --data what they read)");
	}
	if (x->file) {
		page_gap(p);
		page_line(p, "written to %s; see incore hot %s", x->file, x->file);
	}
}

const struct question question_model_step = {
	.name = "model step",
	.args = "",
	.summary = "a whole step of a model: its tasks on so many cores",
	.groups = OPTIONS_CSV,
	.options = options,
	.params_size = sizeof(struct model_step_params),
	.records = RECORDS(&step_record),
	.inputs = model_inputs,
	.ask = step_ask,
	.page = step_page,
};
