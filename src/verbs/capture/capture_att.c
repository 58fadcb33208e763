/* SPDX-License-Identifier: Apache-2.0 */
/* capture_att.c: incore capture att: takes a thread trace and checks it. */
#include "capture/att.h"
#include "verbs/capture/capture_common.h"

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

struct att_job { /* kept by the answer, whose texts are those of the driver */
	struct att_request q;
	struct att att;
};

static void drop_att(struct att_job *j)
{
	att_deinit(&j->att);
}

static bool check_att(const struct request *r, struct att_request *q, struct incore_error *e)
{
	q->has_no_discovery |= q->attach_pid != NO_COUNT;
	if (!r->n_paths == (q->attach_pid == NO_COUNT))
		return capture_needs_app(r, ", or --attach PID, and not both", e);
	if (q->has_no_discovery && (!q->kernel || q->is_list))
		return err_set(e, INCORE_USAGE, "missing-option",
			"without a discovery run --kernel must name the kernel, and --list has nothing to show");
	return true;
}

static bool capture_att_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	const char *const *app = capture_app(r, a, e);
	struct att_job *j = ANSWER_NEW(a, att_job, e);
	bool ok;

	if (!app || !j)
		return false;
	j->q = *(const struct att_request *)r->params;
	if (!check_att(r, &j->q, e))
		return false;
	j->q.drive = capture_drive(r, app, !j->q.is_dry);
	att_init(&j->att, &j->q);
	if (!ANSWER_KEEP(a, j, drop_att, e))
		return false;
	ok = att_take(&j->att, e);
	return capture_answer(a, app,
		&(struct capture_done){.record = &att_record,
			.data = &j->att.answer,
			.is_empty = !j->att.answer.attempts.n,
			.is_no = j->att.is_no,
			.app_status = j->att.app_status,
			.warnings = j->att.answer.warnings.v,
			.n_warnings = j->att.answer.warnings.n},
		ok, e);
}

/* --- its page --- */

static void put_attempt(struct page *p, const struct att_attempt *t)
{
	page_line(p, "attempt %llu: %s", (unsigned long long)t->number, t->because);
	page_line(p, "  launch %s, CU %llu, SE mask 0x%llx, buffer %llu MiB: %s", t->launches,
		(unsigned long long)t->cu, (unsigned long long)t->se_mask,
		(unsigned long long)(t->buffer_bytes >> 20), t->run.outcome);
	for (size_t i = 0; i < t->captures.n; i++) {
		const struct att_capture *x = &t->captures.v[i];

		page_say(p, "  dispatch %lld", (long long)x->dispatch);
		if (x->launch != NO_VALUE)
			page_say(p, ", launch %lld", (long long)x->launch);
		page_line(p, " of %s: %llu wave%s, %s", x->kernel ? x->kernel : "(no name)",
			(unsigned long long)x->waves, plural(x->waves), x->health);
	}
}

static void put_att_result(struct page *p, const struct att_answer *a)
{
	for (size_t i = 0; i < a->attempts.n; i++)
		put_attempt(p, &a->attempts.v[i]);
	for (size_t i = 0; i < a->attempts.n; i++)
		for (size_t k = 0; k < a->attempts.v[i].captures.n; k++)
			if (a->attempts.v[i].captures.v[k].file)
				page_line(p, "%s", a->attempts.v[i].captures.v[k].file);
	if (a->repeat)
		page_command(p, "again: ", "%s", a->repeat);
}

/* Configurations and commands, and what would follow. */
static void put_att_plan(struct page *p, const struct att *a)
{
	page_line(p, "rocprofv3 %s: %s", a->tool.version, a->tool.path);
	for (size_t i = a->answer.attempts.n; i-- > 0;) /* the discovery run is the last */
		capture_page_plan(p, &a->answer.attempts.v[i].run);
	if (a->q->is_list)
		return;
	page_gap(p);
	page_line(p, "then, up to %llu more attempts:", (unsigned long long)a->q->retries);
	page_lines(p,
		"  records lost: the buffer times 4, up to 1536 MiB; then one shader engine; then one SIMD (gfx9)\n"
		"  no wave on the target CU: where waves ran; else SE mask 0x11111111, 0xffffffff, the next CU\n"
		"  no wave did any work: the longest launch that was not tried\n"
		"  another kernel or launch than was asked for: exit status 1\n");
}

static void capture_att_page(const struct answer *answer, struct page *p)
{
	static const char *const columns[] = {"launches", "total_us=total us", "mean_us=mean us",
		"longest_us=longest us", "share", "first_dispatch=first", "id", "name", NULL};
	const struct att *a = DRIVER_OF(answer, att);

	if (a->q->is_dry)
		put_att_plan(p, a);
	else if (a->q->is_list)
		page_records(p, &att_kernel_record, a->answer.kernels, columns);
	else
		put_att_result(p, &a->answer);
}

const struct question question_capture_att = {
	.name = "capture att",
	.summary =
		"take a thread trace with rocprofv3, judge it, and try again as the findings say",
	.args = "-- APP [ARG...]",
	.max_paths = UINT32_MAX,
	.options = att_options,
	.params_size = sizeof(struct att_request),
	.records = RECORDS(&att_record),
	.inputs = RECORDS(&capture_app_record),
	.ask = capture_att_ask,
	.page = capture_att_page,
};
