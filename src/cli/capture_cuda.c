/* SPDX-License-Identifier: Apache-2.0 */
/* capture_cuda.c: incore capture cuda: PC samples of CUDA kernels. */
#include <math.h>
#include <unistd.h>

#include "capture/cuda.h"
#include "cli/capture.h"
#include "cli/draw.h"
#include "cli/output.h"
#include "page/say.h"

#define FIELD(M) OPTION_FIELD(cuda_request, M)
#define NAME_BYTES 100 /* of a kernel name in a line of text: names of templates have thousands */

static const struct option_def cuda_options[] = {
	{OPT_KERNEL, NULL, NULL, "only kernels whose name matches; default: all", FIELD(kernel)},
	{OPT_EXCLUDE, NULL, NULL, "leave out kernels whose name matches", FIELD(exclude)},
	{OPT_LAUNCH, NULL, NULL,
		"launches of each kernel, from 1: 6 or 2,5-8; needs --mode serialised",
		FIELD(launches)},
	{OPT_MODE, NULL, "continuous", "run kernels as usual, or one at a time", FIELD(mode)},
	{OPT_PERIOD, NULL, NULL,
		"distance of samples: a power of two from 32 (default: from the first run)",
		FIELD(period)},
	{OPT_AFTER, NULL, "0", "start sampling this long after CUDA began", FIELD(after_ms)},
	{OPT_FOR, NULL, "0", "sample for this long; 0: to the end", FIELD(for_ms)},
	{OPT_EXACT, NULL, NULL, "run once more to count the executions of each instruction",
		FIELD(is_exact)},
	{OPT_NO_LOOK, NULL, NULL, "skip the first run without the sampler; no overhead is reported",
		FIELD(has_no_look)},
	{OPT_TIMEOUT, NULL, "0", "time limit of each run; 0: none", FIELD(limit_s)},
	{OPT_KEEP_RAW, NULL, NULL, "keep the logs of the processes", FIELD(keeps_raw)},
	{OPT_LIST, NULL, NULL, "only list kernels and their times", FIELD(is_list)},
	{OPT_DRY_RUN, NULL, NULL, "print what would be done; run nothing", FIELD(is_dry)},
	{OPT_CUPTI, NULL, NULL, "path of libcupti.so, if none is loaded", FIELD(cupti)},
	{OPT_OUTPUT_FOLDER, NULL, "capture", "folder for results; new or empty", FIELD(dir)},
	OPTION_END,
};

static bool check_request(struct cli *c, struct cuda_request *q)
{
	bool is_serialised = !strcmp(q->mode, "serialised");

	if (!is_serialised && strcmp(q->mode, "continuous") != 0)
		return err_set(&c->error, INCORE_USAGE, "bad-value",
			"--mode is continuous or serialised, not %s", q->mode);
	if (q->launches && !is_serialised && cli_has(c, "mode"))
		return err_set(&c->error, INCORE_USAGE, "bad-value",
			"--launch needs --mode serialised: otherwise samples do not know their launch");
	if (q->launches)
		q->mode = "serialised";
	if (q->period != NO_COUNT &&
		(q->period < 32 || q->period > UINT64_C(1) << 31 || (q->period & (q->period - 1))))
		return err_set(&c->error, INCORE_USAGE, "bad-value",
			"--period is a power of two from 32 to 2147483648");
	if (q->is_list && q->has_no_look)
		return err_set(&c->error, INCORE_USAGE, "bad-value",
			"--list is what the look finds: not with --no-look");
	return true;
}

static void print_kernels(struct cli *c, const struct cuda_result *a)
{
	for (size_t i = 0; i < a->captures.n; i++) {
		const struct cuda_file *f = &a->captures.v[i];

		say(c->out, "%.*s%s: %llu sample%s of %llu launch%s%s, %s\n", NAME_BYTES, f->kernel,
			strlen(f->kernel) > NAME_BYTES ? "..." : "", (unsigned long long)f->samples,
			plural(f->samples), (unsigned long long)f->launches,
			f->launches == 1 ? "" : "es", f->is_exact ? ", exact counts" : "",
			f->health);
		if (f->dropped)
			say(c->out, "  the sampler of GPU %llu dropped %llu samples\n",
				(unsigned long long)f->device, (unsigned long long)f->dropped);
	}
}

static void print_result(struct cli *c, const struct cuda_result *a)
{
	if (a->period_cyc)
		say(c->out, "a sample every %llu cycles%s%s\n", (unsigned long long)a->period_cyc,
			a->period_because ? ": " : "", a->period_because ? a->period_because : "");
	print_kernels(c, a);
	if (!isnan(a->overhead))
		say(c->out, "overhead: %+.2f %% of kernel time, first launches apart\n",
			a->overhead);
	for (size_t i = 0; i < a->captures.n; i++)
		if (a->captures.v[i].file)
			say(c->out, "%s\n", a->captures.v[i].file);
}

static void print_plan(struct cli *c, const struct cuda *a)
{
	struct strbuf command = {0};

	process_quote(a->q->drive.app, &command);
	say(c->out, "library: %s\nCUPTI: %s\n", a->answer.library,
		a->answer.cupti ? a->answer.cupti : "the application's own");
	if (!a->q->has_no_look)
		say(c->out, "look: %s\n", command.p ? command.p : "");
	if (!a->q->is_list)
		say(c->out, "samples, %s: %s\n", a->q->mode, command.p ? command.p : "");
	if (a->q->is_exact)
		say(c->out, "exact counts: %s\n", command.p ? command.p : "");
	sb_free(&command);
}

static bool print_times(struct cli *c, const struct cuda_result *a)
{
	static const char *const columns[] = {
		"launches", "total_us=total us", "mean_us=mean us", "kernel", NULL};

	return record_table_print(
		c, &cuda_timing_record, (struct rows){a->kernels.v, a->kernels.n}, columns);
}

static bool run_cuda(struct cli *c, struct cuda *a)
{
	bool ok;

	if (!a->q->is_dry)
		output_finish_on_signals();
	ok = cuda_take(a, &c->error);
	for (size_t i = 0; i < a->answer.warnings.n; i++)
		cli_warn(c, "%s", a->answer.warnings.v[i]);
	c->is_no = a->is_no && ok && !a->q->is_dry;
	c->app_status = ok ? 0 : a->app_status;
	if (!ok && !a->answer.captures.n)
		return false;
	if (c->use_json)
		return capture_print_json(c, a->q->drive.app, &cuda_record, &a->answer) && ok;
	if (a->q->is_dry)
		print_plan(c, a);
	else if (a->q->is_list)
		return print_times(c, &a->answer) && ok;
	else
		print_result(c, &a->answer);
	return ok;
}

static bool run(struct cli *c)
{
	struct cuda_request q = {.drive = capture_drive(c)};
	const char **app = capture_app(c, cuda_options, &q);
	struct cuda a;
	bool ok = app != NULL;

	q.drive.app = app;
	if (ok && check_request(c, &q)) {
		cuda_init(&a, &q);
		ok = run_cuda(c, &a);
		cuda_deinit(&a);
	} else {
		ok = false;
	}
	mem_free(app);
	return ok;
}

const struct verb verb_capture_cuda = {
	.name = "capture cuda",
	.args = "-- APP [ARG...]",
	.summary = "take PC samples of the kernels of a CUDA application, in its process",
	.groups = OPTIONS_OUTPUT | OPTIONS_OWN_FILE,
	.options = cuda_options,
	.max_args = UINT32_MAX,
	.run = run,
	.records = RECORDS(&cuda_record),
	.inputs = RECORDS(&capture_app_record),
};
