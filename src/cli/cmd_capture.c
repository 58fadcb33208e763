/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_capture.c: incore capture att: takes a thread trace and checks it. */
#include <unistd.h>

#include "capture/att.h"
#include "cli/capture.h"
#include "cli/draw.h"
#include "cli/output.h"
#include "page/say.h"

#define FIELD(M) OPTION_FIELD(att_request, M)

static const struct option_def att_options[] = {
	{OPT_KERNEL, NULL, NULL,
		"kernels whose name matches; default: the one that takes most time", FIELD(kernel)},
	{OPT_EXCLUDE, NULL, NULL, "leave out kernels whose name matches", FIELD(exclude)},
	{OPT_LAUNCH, NULL, NULL, "launches per kernel id, from 1: 6 or 2,5-8 (default: the second)",
		FIELD(launches)},
	{OPT_TRACED_CU, NULL, "1", "CU (WGP on RDNA) with instruction detail", FIELD(cu)},
	{OPT_SE_MASK, NULL, "0x1", "mask of shader engines", FIELD(se_mask)},
	{OPT_TRACED_SIMD, NULL, NULL, "SIMDs; gfx9: a mask; RDNA: one id", FIELD(simd)},
	{OPT_BUFFER, NULL, NULL, "buffer for all shader engines (default: from the kernel's time)",
		FIELD(buffer_mib)},
	{OPT_GPU, NULL, NULL, "indices of the GPUs to trace", FIELD(gpus)},
	{OPT_COUNTERS, NULL, NULL, "SQ counters to record in the trace (gfx9)", FIELD(counters)},
	{OPT_ACTIVITY, NULL, NULL, "activity counters to record, 1 to 16 (gfx9)", FIELD(activity)},
	{OPT_RETRIES, NULL, "4", "number of attempts after the first", FIELD(retries)},
	{OPT_TIMEOUT, NULL, "0", "time limit of each run; 0: none", FIELD(limit_s)},
	{OPT_NO_DISCOVERY, NULL, NULL, "skip the run that lists launches; needs --kernel",
		FIELD(has_no_discovery)},
	{OPT_KEEP_RAW, NULL, NULL, "keep the files of rocprofv3", FIELD(keeps_raw)},
	{OPT_LIST, NULL, NULL, "only list kernels and launches", FIELD(is_list)},
	{OPT_DRY_RUN, NULL, NULL, "print what would be done; run nothing", FIELD(is_dry)},
	{OPT_ATTACH, NULL, NULL, "trace a running process instead of APP", FIELD(attach_pid)},
	{OPT_TOOL, NULL, NULL, "path of the rocprofv3 to use", FIELD(tool)},
	{OPT_OUTPUT_FOLDER, NULL, "capture", "folder for results; new or empty", FIELD(dir)},
	OPTION_END,
};

/* app: room for all words and a NULL. */
static bool take_request(struct cli *c, const char **app, struct att_request *q)
{
	if (c->n_args)
		memcpy(app, c->args, c->n_args * sizeof(*app));
	*q = (struct att_request){.drive = capture_drive(c)};
	q->drive.app = app;
	for (const struct option_def *d = att_options; d->name; d++)
		option_store(d, cli_has(c, d->name) ? cli_text(c, d->name) : d->fallback, q);
	q->has_no_discovery |= q->attach_pid != NO_COUNT;
	if (!c->n_args == (q->attach_pid == NO_COUNT))
		return err_set(&c->error, INCORE_USAGE, "missing-argument",
			"%s needs an application, or --attach PID, and not both; usage: incore %s [options] -- APP [ARG...]",
			c->verb->name, c->verb->name);
	if (q->has_no_discovery && (!q->kernel || q->is_list))
		return err_set(&c->error, INCORE_USAGE, "missing-option",
			"without a discovery run --kernel says what to capture, and there is no list");
	return true;
}

/* --- shared by the capture verbs --- */

struct app_input {
	const char *command;
};
static const struct column app_columns[] = {
	COLUMN(app_input, command, UNIT_NONE,
		"command line of the application, quoted for a shell"),
};
const struct record capture_app_record = RECORD_OF(app_input, RECORD_BLOCK, app_columns);

struct drive capture_drive(struct cli *c)
{
	return (struct drive){.echo_fd = cli_flag(c, "verbose") ? STDERR_FILENO : 0,
		.pool = c->pool,
		.progress = c->progress,
		.is_cancelled = output_interrupted,
		.cancel_signal = output_signal};
}

const char **capture_app(struct cli *c, const struct option_def *options, void *request)
{
	const char **app = mem_zalloc(c->n_args + 1, sizeof(*app));

	if (!app) {
		err_nomem(&c->error);
		return NULL;
	}
	if (c->n_args)
		memcpy(app, c->args, c->n_args * sizeof(*app));
	for (const struct option_def *d = options; d->name; d++)
		option_store(d, cli_has(c, d->name) ? cli_text(c, d->name) : d->fallback, request);
	if (c->n_args)
		return app;
	err_set(&c->error, INCORE_USAGE, "missing-argument",
		"%s needs an application; usage: incore %s [options] -- APP [ARG...]",
		c->verb->name, c->verb->name);
	mem_free(app);
	return NULL;
}

void capture_print_plan(struct cli *c, const struct rocprof_run *t)
{
	struct str rest = str_of(t->configuration), line;

	say(c->out, "\n%s:\n", t->input);
	while (str_cut(&rest, "\n", &line) && line.n)
		say(c->out, "%.*s\n", STR_ARG(line));
	say(c->out, "$ %s\n", t->command);
}

bool capture_print_json(
	struct cli *c, const char *const *app, const struct record *r, const void *data)
{
	struct strbuf command = {0};
	bool ok;

	process_quote(app, &command);
	ok = (!command.failed || err_nomem(&c->error)) &&
	     cli_json(c, &capture_app_record, &(struct app_input){command.p ? command.p : ""}, r,
		     data);
	sb_free(&command);
	return ok;
}

/* --- what it prints --- */

static bool print_kernels(struct cli *c, const struct att_answer *a)
{
	static const char *const columns[] = {"launches", "total_us=total us", "mean_us=mean us",
		"longest_us=longest us", "share", "first_dispatch=first", "id", "name", NULL};

	return record_table_print(c, &att_kernel_record, a->kernels, columns);
}

static void print_attempt(struct cli *c, const struct att_attempt *t)
{
	say(c->out, "attempt %llu: %s\n", (unsigned long long)t->number, t->because);
	say(c->out, "  launch %s, CU %llu, SE mask 0x%llx, buffer %llu MiB: %s\n", t->launches,
		(unsigned long long)t->cu, (unsigned long long)t->se_mask,
		(unsigned long long)(t->buffer_bytes >> 20), t->run.outcome);
	for (size_t i = 0; i < t->captures.n; i++) {
		const struct att_capture *x = &t->captures.v[i];

		say(c->out, "  dispatch %lld", (long long)x->dispatch);
		if (x->launch != NO_VALUE)
			say(c->out, ", launch %lld", (long long)x->launch);
		say(c->out, " of %s: %llu wave%s, %s\n", x->kernel ? x->kernel : "(no name)",
			(unsigned long long)x->waves, plural(x->waves), x->health);
	}
}

static void print_result(struct cli *c, const struct att_answer *a)
{
	for (size_t i = 0; i < a->attempts.n; i++)
		print_attempt(c, &a->attempts.v[i]);
	for (size_t i = 0; i < a->attempts.n; i++)
		for (size_t k = 0; k < a->attempts.v[i].captures.n; k++)
			if (a->attempts.v[i].captures.v[k].file)
				say(c->out, "%s\n", a->attempts.v[i].captures.v[k].file);
	if (a->repeat)
		say(c->out, "again: %s\n", a->repeat);
}

/* Prints configurations and commands, and what would follow. */
static void print_plan(struct cli *c, const struct att *a)
{
	say(c->out, "rocprofv3 %s: %s\n", a->tool.version, a->tool.path);
	for (size_t i = a->answer.attempts.n; i-- > 0;) /* the discovery run is the last */
		capture_print_plan(c, &a->answer.attempts.v[i].run);
	if (a->q->is_list)
		return;
	say(c->out, "\nthen, up to %llu more attempts:\n", (unsigned long long)a->q->retries);
	say(c->out,
		"  records lost: the buffer times 4, up to 1536 MiB; then one shader engine; then one SIMD (gfx9)\n"
		"  no wave on the target CU: where waves ran; else SE mask 0x11111111, 0xffffffff, the next CU\n"
		"  no wave did any work: the longest launch that was not tried\n"
		"  another kernel or launch than was asked for: exit status 1\n");
}

static bool run_att(struct cli *c, struct att *a)
{
	bool ok;

	if (!a->q->is_dry)
		output_finish_on_signals();
	ok = att_take(a, &c->error);
	for (size_t i = 0; i < a->answer.warnings.n; i++)
		cli_warn(c, "%s", a->answer.warnings.v[i]);
	c->is_no = a->is_no;
	c->app_status = ok ? 0 : a->app_status;
	if (!ok && !a->answer.attempts.n)
		return false;
	if (c->use_json)
		return capture_print_json(c, a->q->drive.app, &att_record, &a->answer) && ok;
	if (a->q->is_dry)
		print_plan(c, a);
	else if (a->q->is_list)
		return print_kernels(c, &a->answer) && ok;
	else
		print_result(c, &a->answer);
	return ok;
}

static bool run(struct cli *c)
{
	const char **app = mem_zalloc(c->n_args + 1, sizeof(*app));
	struct att_request q;
	struct att a;
	bool ok;

	if (!app)
		return err_nomem(&c->error);
	if (!take_request(c, app, &q)) {
		mem_free(app);
		return false;
	}
	att_init(&a, &q);
	ok = run_att(c, &a);
	att_deinit(&a);
	mem_free(app);
	return ok;
}

static const struct verb verb_capture_att = {
	.name = "capture att",
	.args = "-- APP [ARG...]",
	.summary =
		"take a thread trace with rocprofv3, judge it, and try again as the findings say",
	.groups = OPTIONS_OUTPUT | OPTIONS_OWN_FILE,
	.options = att_options,
	.max_args = UINT32_MAX,
	.run = run,
	.records = RECORDS(&att_record),
	.inputs = RECORDS(&capture_app_record),
};

const struct verb verb_capture = {
	.name = "capture",
	.args = "KIND -- APP [ARG...]",
	.summary = "take a capture with a vendor's tool, and judge it",
	.subs = (const struct verb *const[]){&verb_capture_att, &verb_capture_pmc,
		&verb_capture_pcs, &verb_capture_sys, &verb_capture_msprof, &verb_capture_cuda,
		&verb_capture_ncu, NULL},
};
