/* SPDX-License-Identifier: Apache-2.0 */
/*
 * validate_ask.c: incore model validate: the model against published measurements, or against the
 * times of a device. Parts: a step of a device; published measurements; the question.
 */
#include "model/engine/to_trace.h"
#include "model_lab/validate.h"
#include "page/page.h"
#include "verbs/model/build.h"

struct validate_params {
	struct build_params build;
	bool ops_only;
};

static const struct option_def options[] = {
	{OPT_PROFILE_P, NULL, NULL, "constants of the machine (default: 910b1; a5 for a5)",
		OPTION_FIELD(validate_params, build.profile)},
	{OPT_OPS_ONLY, NULL, NULL, "check only single ops, which needs no compiler",
		OPTION_FIELD(validate_params, ops_only)},
	MODEL_BUILD_OPTIONS(validate_params),
	OPTION_UNSAFE(validate_params, build.is_unsafe),
	OPTION_END,
};

/* --- a step of a device ----------------------------------------------------------------------- */

#define PROTOCOL                                                                                   \
	"kernels by name, every second one is a check row; constants may be fitted to fit rows alone"

struct device_row {
	const char *kernel, *class_name, *role, *why;
	uint64_t runs;
	double device_us, alone_us, alone_error_pct, estimate_us, error_pct, cores, others;
};
static const struct column device_columns[] = {
	COLUMN(device_row, kernel, UNIT_NONE, "name of the kernel"),
	COLUMN_AS(device_row, class_name, "class", UNIT_NONE, "cores that run the kernel",
		.words = "cube|vector|mixed"),
	COLUMN(device_row, role, UNIT_NONE, "whether constants may be fitted to the kernel",
		.words = "fit|check"),
	COLUMN(device_row, runs, UNIT_COUNT, "number of times the kernel ran on a core"),
	COLUMN_AS(device_row, device_us, "device_us", UNIT_US, "median time on the device",
		.digits = 2, .title = "device us"),
	COLUMN_AS(device_row, alone_us, "alone_us", UNIT_US, "estimate for an idle memory",
		.digits = 2, OPTIONAL, .title = "alone us"),
	COLUMN_AS(device_row, alone_error_pct, "alone_error_pct", UNIT_PERCENT,
		"error of the estimate for an idle memory", .digits = 1, OPTIONAL,
		.title = "error %"),
	COLUMN_AS(device_row, estimate_us, "estimate_us", UNIT_US,
		"estimate with the load of the step", .digits = 2, OPTIONAL,
		.title = "estimate us"),
	COLUMN_AS(device_row, error_pct, "error_pct", UNIT_PERCENT,
		"error of the estimate with the load of the step", .digits = 1, OPTIONAL,
		.title = "error %"),
	COLUMN(device_row, cores, UNIT_NONE, "number of cores that run the kernel at once",
		.digits = 1),
	COLUMN(device_row, others, UNIT_NONE, "cores of other kernels that keep the memory busy",
		.digits = 1),
	COLUMN(device_row, why, UNIT_NONE, "why there is no estimate", OPTIONAL),
};
static const struct record device_record = RECORD_OF(device_row, RECORD_LINE, device_columns);

struct error_row {
	const char *role, *class_name, *worst_name;
	uint64_t kernels;
	double alone_pct, mean_pct, worst_pct, bias_pct;
	double low, high, alone_low, alone_high;
};
static const struct column error_columns[] = {
	COLUMN(error_row, role, UNIT_NONE, "role of the kernels", .words = "fit|check|all"),
	COLUMN_AS(error_row, class_name, "class", UNIT_NONE, "class of cores that run the kernels",
		.words = "cube|vector|mixed|all"),
	COLUMN(error_row, kernels, UNIT_COUNT, "kernels with a measured time and an estimate"),
	COLUMN_AS(error_row, alone_pct, "alone_pct", UNIT_PERCENT,
		"mean absolute error without load", .digits = 1, .title = "without load %"),
	COLUMN_AS(error_row, mean_pct, "mean_pct", UNIT_PERCENT, "mean absolute error with load",
		.digits = 1, .title = "with load %"),
	COLUMN_AS(error_row, bias_pct, "bias_pct", UNIT_PERCENT, "mean signed error with load",
		.digits = 1, .title = "bias %"),
	COLUMN_AS(error_row, worst_pct, "worst_pct", UNIT_PERCENT, "largest error with load",
		.digits = 1, .title = "worst %"),
	COLUMN_AS(error_row, worst_name, "worst", UNIT_NONE,
		"kernel with the largest error with load"),
	COLUMN(error_row, low, UNIT_NONE,
		"lower end of measured / estimated time with load, for four fifths of the kernels",
		.digits = 2),
	COLUMN(error_row, high, UNIT_NONE,
		"upper end of measured / estimated time with load, for four fifths of the kernels",
		.digits = 2),
	COLUMN(error_row, alone_low, UNIT_NONE,
		"lower end of measured / estimated time without load, for 4 of 5 kernels",
		.digits = 2),
	COLUMN(error_row, alone_high, UNIT_NONE,
		"upper end of measured / estimated time without load, for 4 of 5 kernels",
		.digits = 2),
};
static const struct record error_record = RECORD_OF(error_row, RECORD_LINE, error_columns);

struct validated_build {
	const char *verb, *text, *protocol;
	struct machine_row profile;
	struct rows kernels, errors;
};
static const struct column build_columns[] = {
	MODEL_VERB(validated_build, "validate"),
	COLUMN(validated_build, text, UNIT_NONE, "what the figures rest on"),
	COLUMN(validated_build, protocol, UNIT_NONE, "how kernels are split into roles"),
	RECORD(validated_build, profile, &machine_record, "constants that the model used"),
	LIST(validated_build, kernels, &device_record,
		"kernels with the times of the device and of the model"),
	LIST(validated_build, errors, &error_record, "errors by role and class"),
};
static const struct record validated_build_record =
	RECORD_OF(validated_build, RECORD_BLOCK, build_columns);

static struct device_row device_row_of(const struct device_kernel *k)
{
	return (struct device_row){.kernel = k->k->name,
		.class_name = kernel_kind_name(device_kind_of(k->k)),
		.role = k->is_check ? "check" : "fit",
		.why = k->why,
		.runs = k->k->n_runs,
		.device_us = k->device_us,
		.alone_us = NAN,
		.alone_error_pct = NAN,
		.estimate_us = k->set ? k->estimate_us : NAN,
		.error_pct = k->set ? 100 * k->error : NAN,
		.cores = k->cores,
		.others = k->others};
}

/* Errors for every role and class that has kernels; the last row is for all. */
static size_t put_errors(const struct device_step *d, bool is_alone, struct error_row *out)
{
	static const char *const roles[] = {"fit", "check", "all"};
	size_t n = 0;

	for (int role = 0; role < 3; role++)
		for (int k = 0; k <= KERNEL_KINDS; k++) {
			struct device_error x = device_error_of(
				d, role == 2 ? -1 : role, k == KERNEL_KINDS ? -1 : k);

			if (!x.n)
				continue;
			if (is_alone) {
				out[n].alone_low = x.low;
				out[n].alone_high = x.high;
				out[n++].alone_pct = 100 * x.mean;
				continue;
			}
			out[n].role = roles[role];
			out[n].class_name =
				k == KERNEL_KINDS ? "all" : kernel_kind_name((enum kernel_kind)k);
			out[n].worst_name = x.worst_name;
			out[n].low = x.low;
			out[n].high = x.high;
			out[n].kernels = x.n;
			out[n].mean_pct = 100 * x.mean;
			out[n].worst_pct = 100 * x.worst;
			out[n++].bias_pct = 100 * x.bias;
		}
	return n;
}

static bool fill_build(
	struct model_build *b, struct validated_build *x, struct answer *a, struct incore_error *e)
{
	struct device_row *rows = ANSWER_ROWS(a, &x->kernels, b->step.kernels.n, device_row, e);
	struct error_row *errors = ANSWER_ROWS(a, &x->errors, 3 * (KERNEL_KINDS + 1), error_row, e);

	if (!rows || !errors || !device_estimate(&b->step, &b->profile, false, e))
		return false;
	put_errors(&b->step, true, errors);
	for (size_t i = 0; i < b->step.kernels.n; i++) {
		rows[i].alone_us = b->step.kernels.v[i].estimate_us;
		rows[i].alone_error_pct = 100 * b->step.kernels.v[i].error;
	}
	if (!device_estimate(&b->step, &b->profile, true, e))
		return false;
	x->errors.n = put_errors(&b->step, false, errors);
	for (size_t i = 0; i < b->step.kernels.n; i++) {
		struct device_row r = device_row_of(&b->step.kernels.v[i]);

		r.alone_us = r.why ? NAN : rows[i].alone_us;
		r.alone_error_pct = r.why ? NAN : rows[i].alone_error_pct;
		rows[i] = r;
	}
	return true;
}

static bool ask_build(const struct request *r, struct answer *a, struct incore_error *e)
{
	const struct validate_params *p = r->params;
	struct validated_build *x = ANSWER_NEW(a, validated_build, e);
	struct model_build *b = x ? model_build_new(r, &p->build, true, a, e) : NULL;

	if (!b || !fill_build(b, x, a, e) || !model_about(a, p->build.build, NULL, e))
		return false;
	x->verb = "validate";
	x->text = MODEL_TEXT;
	x->protocol = PROTOCOL;
	x->profile = machine_row_of(&b->profile);
	answer_set(a, &validated_build_record, x);
	return true;
}

static void build_page(const struct validated_build *x, struct page *p)
{
	static const char *const kernels[] = {"kernel", "class", "role", "runs", "device_us",
		"alone_us", "alone_error_pct=error %=alone_error_pct", "estimate_us", "error_pct",
		"cores", "others", NULL};
	static const char *const errors[] = {"role", "class", "kernels", "alone_pct", "mean_pct",
		"bias_pct", "worst_pct", "worst", "low", "high", NULL};
	const struct device_row *v = x->kernels.v;

	if (!p->is_csv) {
		page_line(p, "%s", x->text);
		page_line(p, "profile   %s", x->profile.name);
		page_line(p, "protocol  %s", x->protocol);
		page_gap(p);
	}
	page_main_records(p, &device_record, x->kernels, kernels);
	if (p->is_csv)
		return;
	for (size_t i = 0; i < x->kernels.n; i++)
		if (v[i].why)
			page_line(p, "no estimate of %s: %s", v[i].kernel, v[i].why);
	page_gap(p);
	page_records(p, &error_record, x->errors, errors);
}

/* --- published measurements ------------------------------------------------------------------- */

struct validated_row {
	struct validate_row r;
	double published, published_to, estimate, error_pct, gate_pct;
};
#define ROW(M, NAME, DOC, ...) COLUMN_AS(validated_row, r.M, NAME, UNIT_NONE, DOC, ##__VA_ARGS__)
static const struct column row_columns[] = {
	ROW(role, "role", "purpose of the row", .words = "FIT|CHECK|OP"),
	ROW(id, "id", "short name of the workload"),
	ROW(name, "workload", "the workload in words"),
	ROW(what, "what", "what was measured"),
	ROW(profile, "profile", "profile that the estimate uses"),
	ROW(unit, "unit", "unit of the published and the estimated values"),
	COLUMN(validated_row, published, UNIT_NONE, "value that was published", .digits = 3),
	COLUMN(validated_row, published_to, UNIT_NONE, "end of the range, if a range was published",
		.digits = 3),
	COLUMN(validated_row, estimate, UNIT_NONE, "value of the model", .digits = 3),
	COLUMN(validated_row, error_pct, UNIT_PERCENT, "how much larger the estimate is",
		.digits = 1),
	COLUMN(validated_row, gate_pct, UNIT_PERCENT, "largest error that is allowed", .digits = 1),
	ROW(is_met, "met", "the error is within the gate"),
	ROW(remark, "remark", "seen, blind, tiny, sets constants, or nothing"),
};
static const struct record row_record = RECORD_OF(validated_row, RECORD_LINE, row_columns);

static struct validated_row row_of(const struct validate_row *r)
{
	return (struct validated_row){.r = *r,
		.published = (double)r->published / 1000,
		.published_to = (double)r->published_to / 1000,
		.estimate = (double)r->estimate / 1000,
		.error_pct = (double)r->error_permille / 10,
		.gate_pct = r->gate_permille ? (double)r->gate_permille / 10 : NAN};
}

struct validate_data {
	const char *verb, *text;
	struct validate_result r;
	struct rows rows;
};
#define SUM(M, NAME, DOC) COLUMN_AS(validate_data, r.M, NAME, UNIT_COUNT, DOC)
static const struct column validate_columns[] = {
	MODEL_VERB(validate_data, "validate"),
	COLUMN(validate_data, text, UNIT_NONE, "what the figures rest on"),
	SUM(n_gates, "gates", "rows with a gate"),
	SUM(n_missed, "missed", "rows whose error exceeds their gate"),
	SUM(n_kernels, "kernels", "kernels that were timed"),
	SUM(n_ops, "ops", "ops of the kernels that were timed"),
	SUM(n_findings, "findings", "problems found in the kernels; 0 is expected"),
	LIST(validate_data, rows, &row_record, "published values and the values of the model"),
};
static const struct record validate_record =
	RECORD_OF(validate_data, RECORD_BLOCK, validate_columns);

static void drop_validated(struct validate_result *r)
{
	validate_deinit(r);
	mem_free(r);
}

static bool ask_published(const struct request *r, struct answer *a, struct incore_error *e)
{
	const struct validate_params *p = r->params;
	struct validate_options o = {.profile = p->build.profile,
		.ops_only = p->ops_only,
		.is_unsafe = p->build.is_unsafe};
	struct validate_data *x = ANSWER_NEW(a, validate_data, e);
	struct validate_result *v = mem_zalloc(1, sizeof(*v));
	struct validated_row *rows;

	if (!x || !v || !validate_run(&o, v, e)) {
		mem_free(v);
		return v ? false : err_nomem(e);
	}
	if (!ANSWER_KEEP(a, v, drop_validated, e) || !model_about(a, NULL, NULL, e))
		return false;
	rows = ANSWER_ROWS(a, &x->rows, v->rows.n, validated_row, e);
	for (size_t i = 0; rows && i < v->rows.n; i++)
		rows[i] = row_of(&v->rows.v[i]);
	x->verb = "validate";
	x->text = MODEL_TEXT;
	x->r = *v;
	a->is_no = v->n_missed || v->n_findings;
	answer_set(a, &validate_record, x);
	return rows != NULL;
}

static const char *fmt_milli(char buf[32], int64_t v)
{
	snprintf(buf, 32, "%.3f", (double)v / 1000);
	for (size_t n = strlen(buf); n > 1 && (buf[n - 1] == '0' || buf[n - 1] == '.'); n--) {
		bool is_dot = buf[n - 1] == '.';

		buf[n - 1] = 0;
		if (is_dot)
			break;
	}
	return buf;
}

static const char *published_text(char buf[80], const struct validate_row *r)
{
	char a[32], b[32];

	if (r->published == r->published_to)
		snprintf(buf, 80, "%s", fmt_milli(a, r->published));
	else
		snprintf(buf, 80, "%s-%s", fmt_milli(a, r->published),
			fmt_milli(b, r->published_to));
	return buf;
}

static void put_row(struct table *t, const struct validate_row *r, bool with_role)
{
	char published[80], estimate[32], error[32], gate[32] = "";

	snprintf(error, sizeof(error), "%+.1f", (double)r->error_permille / 10);
	if (r->gate_permille)
		snprintf(gate, sizeof(gate), "%s %u %%", r->is_met ? "within" : "MISSED",
			r->gate_permille / 10);
	if (with_role)
		table_cstr(t, validate_role_name(r->role));
	TABLE_ROW(t, CELL_TEXT(r->id), CELL_TEXT(r->name), CELL_TEXT(r->what),
		CELL_TEXT(r->profile), CELL_TEXT(published_text(published, r)),
		CELL_TEXT(fmt_milli(estimate, r->estimate)), CELL_TEXT(r->unit), CELL_TEXT(error),
		CELL_TEXT(gate));
	table_style(t, !r->gate_permille ? CELL_PLAIN : r->is_met ? CELL_GOOD : CELL_BAD);
	table_cstr(t, r->remark);
}

/* role: ROW_ROLES for all of them in one table (CSV). */
static void rows_page(const struct rows *all, enum validate_role role, struct page *p)
{
	static const char titles[] =
		"role<|id<|workload~|what<|profile<|published|estimate|unit<|error %=error_pct|gate<|remark<";
	const struct validated_row *v = all->v;
	bool with_role = role == ROW_ROLES;
	struct table *t = page_table(p, with_role ? titles : titles + strlen("role<|"));

	for (size_t i = 0; i < all->n; i++)
		if (with_role || v[i].r.role == role)
			put_row(t, &v[i].r, with_role);
}

static void published_page(const struct validate_data *x, struct page *p)
{
	static const char *const heads[ROW_ROLES] = {
		"FIT: rows that constants were fitted to",
		"CHECK: rows that set no constant; \"blind\": never looked at while fitting",
		"OP: single ops; they test the prices, not the model",
	};
	const struct validate_result *r = &x->r;

	if (p->is_csv) {
		rows_page(&x->rows, ROW_ROLES, p);
		return;
	}
	page_line(p, "%s", MODEL_TEXT);
	for (unsigned i = 0; i < ROW_ROLES; i++) {
		page_gap(p);
		page_line(p, "%s", heads[i]);
		rows_page(&x->rows, (enum validate_role)i, p);
	}
	page_gap(p);
	page_say(p, "%u gate%s, %u missed", r->n_gates, plural(r->n_gates), r->n_missed);
	if (r->n_findings)
		page_say(p, ", %llu finding%s in its own kernels",
			(unsigned long long)r->n_findings, plural(r->n_findings));
	page_line(p, "%s", "");
}

/* --- the question ----------------------------------------------------------------------------- */

static bool validate_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	const struct validate_params *p = r->params;

	return p->build.build || p->build.swimlane ? ask_build(r, a, e) : ask_published(r, a, e);
}

static void validate_page(const struct answer *a, struct page *p)
{
	if (answer_is(a, &validated_build_record))
		build_page(a->data, p);
	else
		published_page(a->data, p);
}

const struct question question_model_validate = {
	.name = "model validate",
	.args = "",
	.summary = "the model against published measurements; 1: a gate missed",
	.groups = OPTIONS_CSV,
	.options = options,
	.params_size = sizeof(struct validate_params),
	.records = RECORDS(&validate_record, &validated_build_record),
	.inputs = model_inputs,
	.ask = validate_ask,
	.page = validate_page,
};
