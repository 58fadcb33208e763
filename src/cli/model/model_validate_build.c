/* SPDX-License-Identifier: Apache-2.0 */
/* model_validate_build.c: incore model validate --build: the model against times of a device. */
#include "cli/draw.h"
#include "cli/model/model_build.h"
#include "cli/model/model_job.h"
#include "model/engine/to_trace.h"
#include "page/say.h"

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
	struct profile_row profile;
	struct rows kernels, errors;
};
static const struct column build_columns[] = {
	MODEL_VERB(validated_build, "validate"),
	COLUMN(validated_build, text, UNIT_NONE, "what the figures rest on"),
	COLUMN(validated_build, protocol, UNIT_NONE, "how kernels are split into roles"),
	RECORD(validated_build, profile, &profile_record, "constants that the model used"),
	LIST(validated_build, kernels, &device_record,
		"kernels with the times of the device and of the model"),
	LIST(validated_build, errors, &error_record, "errors by role and class"),
};
const struct record validate_build_record = RECORD_OF(validated_build, RECORD_BLOCK, build_columns);

static struct device_row row_of(const struct device_kernel *k)
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

static bool tell_build_text(struct cli *c, const struct validated_build *x)
{
	static const char *const kernels[] = {"kernel", "class", "role", "runs", "device_us",
		"alone_us", "alone_error_pct=error %=alone_error_pct", "estimate_us", "error_pct",
		"cores", "others", NULL};
	static const char *const errors[] = {"role", "class", "kernels", "alone_pct", "mean_pct",
		"bias_pct", "worst_pct", "worst", "low", "high", NULL};
	const struct device_row *v = x->kernels.v;

	if (c->use_csv)
		return record_table_print(c, &device_record, x->kernels, kernels);
	say(c->out, "%s\nprofile   %s\nprotocol  %s\n\n", x->text, x->profile.name, x->protocol);
	if (!record_table_print(c, &device_record, x->kernels, kernels))
		return false;
	for (size_t i = 0; i < x->kernels.n; i++)
		if (v[i].why)
			say(c->out, "no estimate of %s: %s\n", v[i].kernel, v[i].why);
	fputc('\n', c->out);
	return record_table_print(c, &error_record, x->errors, errors);
}

static bool estimate_and_tell(struct cli *c, struct model_build *b)
{
	struct device_row *rows = arena_zalloc(&b->arena, b->step.kernels.n + 1, sizeof(*rows));
	struct error_row errors[3 * (KERNEL_KINDS + 1)] = {{0}};
	struct validated_build x = {.verb = "validate",
		.text = MODEL_TEXT,
		.protocol = PROTOCOL,
		.profile = profile_row_of(&b->profile)};

	if (!rows)
		return err_nomem(&c->error);
	if (!device_estimate(&b->step, &b->profile, false, &c->error))
		return false;
	put_errors(&b->step, true, errors);
	for (size_t i = 0; i < b->step.kernels.n; i++) {
		rows[i].alone_us = b->step.kernels.v[i].estimate_us;
		rows[i].alone_error_pct = 100 * b->step.kernels.v[i].error;
	}
	if (!device_estimate(&b->step, &b->profile, true, &c->error))
		return false;
	x.errors = (struct rows){errors, put_errors(&b->step, false, errors)};
	for (size_t i = 0; i < b->step.kernels.n; i++) {
		struct device_row r = row_of(&b->step.kernels.v[i]);

		r.alone_us = r.why ? NAN : rows[i].alone_us;
		r.alone_error_pct = r.why ? NAN : rows[i].alone_error_pct;
		rows[i] = r;
	}
	x.kernels = (struct rows){rows, b->step.kernels.n};
	return c->use_json ? model_json(c, cli_text(c, "build"), NULL, &validate_build_record, &x)
			   : tell_build_text(c, &x);
}

bool model_validate_build(struct cli *c)
{
	struct model_build b;
	bool ok = model_build_open(c, cli_text(c, "profile"), true, &b) && estimate_and_tell(c, &b);

	model_build_close(&b);
	return ok;
}
