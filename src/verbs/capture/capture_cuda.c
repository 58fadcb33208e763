/* SPDX-License-Identifier: Apache-2.0 */
/* capture_cuda.c: incore capture cuda: PC samples of CUDA kernels. */
#include "capture/cuda.h"

#include <math.h>

#include "verbs/capture/capture_common.h"

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

static bool check_cuda(const struct request *r, struct cuda_request *q, struct incore_error *e)
{
	const struct cuda_request *given = r->params;
	bool is_serialised = !strcmp(q->mode, "serialised");

	if (!is_serialised && strcmp(q->mode, "continuous") != 0)
		return err_set(e, INCORE_USAGE, "bad-value",
			"--mode is continuous or serialised, not %s", q->mode);
	if (q->launches && !is_serialised && request_given(r, &given->mode))
		return err_set(e, INCORE_USAGE, "bad-value",
			"--launch needs --mode serialised: otherwise samples do not know their launch");
	if (q->launches)
		q->mode = "serialised";
	if (q->period != NO_COUNT &&
		(q->period < 32 || q->period > UINT64_C(1) << 31 || (q->period & (q->period - 1))))
		return err_set(e, INCORE_USAGE, "bad-value",
			"--period is a power of two from 32 to 2147483648");
	if (q->is_list && q->has_no_look)
		return err_set(e, INCORE_USAGE, "bad-value",
			"--list shows what the first look at the application finds: it has no effect with --no-look");
	return true;
}

struct cuda_job { /* kept by the answer, whose texts are those of the driver */
	struct cuda_request q;
	struct cuda cuda;
};

static void drop_cuda(struct cuda_job *j)
{
	cuda_deinit(&j->cuda);
}

static bool capture_cuda_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	const char *const *app = capture_app(r, a, e);
	struct cuda_job *j = ANSWER_NEW(a, cuda_job, e);
	bool ok;

	if (!app || !j)
		return false;
	if (!r->n_paths)
		return capture_needs_app(r, "", e);
	j->q = *(const struct cuda_request *)r->params;
	if (!check_cuda(r, &j->q, e))
		return false;
	j->q.drive = capture_drive(r, app, !j->q.is_dry);
	cuda_init(&j->cuda, &j->q);
	if (!ANSWER_KEEP(a, j, drop_cuda, e))
		return false;
	ok = cuda_take(&j->cuda, e);
	return capture_answer(a, app,
		&(struct capture_done){.record = &cuda_record,
			.data = &j->cuda.answer,
			.is_empty = !j->cuda.answer.captures.n,
			.is_no = ok && j->cuda.is_no && !j->q.is_dry,
			.app_status = j->cuda.app_status,
			.warnings = (const char *const *)j->cuda.answer.warnings.v,
			.n_warnings = j->cuda.answer.warnings.n},
		ok, e);
}

/* --- its page --- */

static void put_cuda_files(struct page *p, const struct cuda_result *a)
{
	for (size_t i = 0; i < a->captures.n; i++) {
		const struct cuda_file *f = &a->captures.v[i];

		page_line(p, "%.*s%s: %llu sample%s of %llu launch%s%s, %s", NAME_BYTES, f->kernel,
			strlen(f->kernel) > NAME_BYTES ? "..." : "", (unsigned long long)f->samples,
			plural(f->samples), (unsigned long long)f->launches,
			f->launches == 1 ? "" : "es", f->is_exact ? ", exact counts" : "",
			f->health);
		if (f->dropped)
			page_line(p, "  the sampler of GPU %llu dropped %llu samples",
				(unsigned long long)f->device, (unsigned long long)f->dropped);
	}
}

static void put_cuda_result(struct page *p, const struct cuda_result *a)
{
	if (a->period_cyc)
		page_line(p, "a sample every %llu cycles%s%s", (unsigned long long)a->period_cyc,
			a->period_because ? ": " : "", a->period_because ? a->period_because : "");
	put_cuda_files(p, a);
	if (!isnan(a->overhead))
		page_line(
			p, "overhead: %+.2f %% of kernel time, first launches apart", a->overhead);
	for (size_t i = 0; i < a->captures.n; i++)
		if (a->captures.v[i].file)
			page_line(p, "%s", a->captures.v[i].file);
}

static void put_cuda_plan(struct page *p, const struct cuda *a)
{
	struct strbuf words = {0};
	const char *command;

	process_quote(a->q->drive.app, &words);
	command = words.p ? words.p : "";
	page_line(p, "library: %s", a->answer.library);
	page_line(p, "CUPTI: %s", a->answer.cupti ? a->answer.cupti : "the application's own");
	if (!a->q->has_no_look)
		page_line(p, "look: %s", command);
	if (!a->q->is_list)
		page_line(p, "samples, %s: %s", a->q->mode, command);
	if (a->q->is_exact)
		page_line(p, "exact counts: %s", command);
	sb_free(&words);
}

static void capture_cuda_page(const struct answer *answer, struct page *p)
{
	static const char *const columns[] = {
		"launches", "total_us=total us", "mean_us=mean us", "kernel", NULL};
	const struct cuda *a = DRIVER_OF(answer, cuda);

	if (a->q->is_dry)
		put_cuda_plan(p, a);
	else if (a->q->is_list)
		page_records(p, &cuda_timing_record,
			(struct rows){a->answer.kernels.v, a->answer.kernels.n}, columns);
	else
		put_cuda_result(p, &a->answer);
}

const struct question question_capture_cuda = {
	.name = "capture cuda",
	.summary = "take PC samples of the kernels of a CUDA application, in its process",
	.args = "-- APP [ARG...]",
	.max_paths = UINT32_MAX,
	.options = cuda_options,
	.params_size = sizeof(struct cuda_request),
	.records = RECORDS(&cuda_record),
	.inputs = RECORDS(&capture_app_record),
	.ask = capture_cuda_ask,
	.page = capture_cuda_page,
};
