/* SPDX-License-Identifier: Apache-2.0 */
/* capture_roc.c: incore capture pmc, pcs and sys: the jobs of rocprofv3 besides thread traces. */
#include <unistd.h>

#include "capture/roc.h"
#include "cli/capture.h"
#include "cli/draw.h"
#include "cli/output.h"
#include "page/say.h"

#define FIELD(M) OPTION_FIELD(roc_request, M)

/* clang-format off */
#define KERNEL_OPTIONS \
	{OPT_KERNEL, NULL, NULL, "only kernels whose name matches; default: all", FIELD(kernel)}, \
	{OPT_EXCLUDE, NULL, NULL, "leave out kernels whose name matches", FIELD(exclude)}
#define COMMON_OPTIONS \
	{OPT_TIMEOUT, NULL, "0", "time limit of each run; 0: none", FIELD(limit_s)}, \
	{OPT_KEEP_RAW, NULL, NULL, "keep the files of rocprofv3", FIELD(keeps_raw)}, \
	{OPT_DRY_RUN, NULL, NULL, "print what would be done; run nothing", FIELD(is_dry)}, \
	{OPT_TOOL, NULL, NULL, "path of the rocprofv3 to use", FIELD(tool)}, \
	{OPT_OUTPUT_FOLDER, NULL, "capture", "folder for results; new or empty", FIELD(dir)}, \
	OPTION_END
/* clang-format on */

static const struct option_def pmc_options[] = {
	{OPT_COUNTERS, NULL, NULL, "counters and metrics, separated by commas", FIELD(counters)},
	KERNEL_OPTIONS, COMMON_OPTIONS};
static const struct option_def pcs_options[] = {
	{OPT_METHOD, NULL, NULL, "how samples are taken (default: what is available)",
		FIELD(method)},
	{OPT_INTERVAL, NULL, NULL,
		"cycles, a power of two; host_trap: microseconds (default: shorter until some come)",
		FIELD(interval)},
	{OPT_RETRIES, NULL, "4", "number of attempts after the first", FIELD(retries)},
	KERNEL_OPTIONS, COMMON_OPTIONS};
static const struct option_def sys_options[] = {
	{OPT_TRACE, NULL, "all", "calls of all libraries, or without HSA and the compiler's own",
		FIELD(trace)},
	COMMON_OPTIONS};

/* --- output --- */

static void print_plan(struct cli *c, const struct roc *r)
{
	say(c->out, "rocprofv3 %s: %s\n", r->tool.version, r->tool.path);
	for (size_t i = 0; i < r->answer.runs.n; i++)
		capture_print_plan(c, &r->answer.runs.v[i].run);
}

static void print_runs(struct cli *c, const struct roc_answer *a)
{
	for (size_t i = 0; i < a->runs.n; i++) {
		const struct roc_run *t = &a->runs.v[i];

		say(c->out, "%s: %s: %s\n", t->run.name, t->because, t->run.outcome);
		if (t->counters)
			say(c->out, "  %s\n", t->counters);
	}
	if (a->method)
		say(c->out, "%s, one every %llu %s\n", a->method, (unsigned long long)a->interval,
			strcmp(a->method, "host_trap") == 0 ? "us" : "cycles");
}

static void print_captures(struct cli *c, const struct roc_answer *a)
{
	for (size_t i = 0; i < a->captures.n; i++) {
		const struct roc_capture *x = &a->captures.v[i];

		if (x->samples)
			say(c->out, "%s: %s\n", x->kernel ? x->kernel : "(no name)",
				COUNTED(x->samples, "sample"));
		else
			say(c->out, "%s of %s: %s\n", COUNTED(x->slices, "span"),
				COUNTED(x->launches, "kernel launch"), x->health);
	}
	for (size_t i = 0; i < a->captures.n; i++)
		say(c->out, "%s\n", a->captures.v[i].file);
}

static bool print_counters(struct cli *c, const struct roc_answer *a)
{
	static const char *const columns[] = {
		"kernel", "counter", "pass", "launches", "mean", "least", "most", "sum", NULL};

	for (size_t i = 0; i < a->refused.n; i++)
		cli_warn(c, "%s was not taken", a->refused.v[i]);
	if (!a->counters.n)
		return true;
	if (!record_table_print(
		    c, &roc_counter_record, (struct rows){a->counters.v, a->counters.n}, columns))
		return false;
	say(c->out, "%s\n", a->table);
	return true;
}

static bool run_roc(struct cli *c, struct roc *r, bool (*take)(struct roc *, struct incore_error *))
{
	bool ok;

	if (!r->q->is_dry)
		output_finish_on_signals();
	ok = take(r, &c->error);
	for (size_t i = 0; i < r->answer.warnings.n; i++)
		cli_warn(c, "%s", r->answer.warnings.v[i]);
	c->is_no = ok && r->is_no;
	c->app_status = ok ? 0 : r->app_status;
	if (!ok && !r->answer.runs.n)
		return false;
	if (c->use_json)
		return capture_print_json(c, r->q->drive.app, &roc_record, &r->answer) && ok;
	if (r->q->is_dry) {
		print_plan(c, r);
		return ok;
	}
	print_runs(c, &r->answer);
	print_captures(c, &r->answer);
	return print_counters(c, &r->answer) && ok;
}

static bool run_with(struct cli *c, const struct option_def *options,
	bool (*take)(struct roc *, struct incore_error *))
{
	struct roc_request q = {.interval = NO_COUNT, .trace = "all", .drive = capture_drive(c)};
	const char **app = capture_app(c, options, &q);
	struct roc r;
	bool ok;

	if (!app)
		return false;
	q.drive.app = app;
	roc_init(&r, &q);
	ok = run_roc(c, &r, take);
	roc_deinit(&r);
	mem_free(app);
	return ok;
}

static bool run_pmc(struct cli *c)
{
	if (!cli_has(c, "counters"))
		return err_set(&c->error, INCORE_USAGE, "missing-option",
			"capture pmc needs --counters LIST (rocprofv3 --list-avail lists them)");
	return run_with(c, pmc_options, roc_take_pmc);
}

static bool run_pcs(struct cli *c)
{
	return run_with(c, pcs_options, roc_take_pcs);
}

static bool run_sys(struct cli *c)
{
	return run_with(c, sys_options, roc_take_sys);
}

#define CAPTURE_VERB                                                                               \
	.args = "-- APP [ARG...]", .groups = OPTIONS_OUTPUT | OPTIONS_OWN_FILE,                    \
	.max_args = UINT32_MAX, .records = RECORDS(&roc_record),                                   \
	.inputs = RECORDS(&capture_app_record)

const struct verb verb_capture_pmc = {.name = "capture pmc",
	.summary = "take counters with rocprofv3, in as many runs as they need",
	.options = pmc_options,
	.run = run_pmc,
	CAPTURE_VERB};
const struct verb verb_capture_pcs = {.name = "capture pcs",
	.summary = "take PC samples with rocprofv3, as the device offers them",
	.options = pcs_options,
	.run = run_pcs,
	CAPTURE_VERB};
const struct verb verb_capture_sys = {.name = "capture sys",
	.summary = "take the timeline around the kernels with rocprofv3",
	.options = sys_options,
	.run = run_sys,
	CAPTURE_VERB};
