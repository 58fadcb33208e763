/* SPDX-License-Identifier: Apache-2.0 */
/* capture_roc.c: incore capture pmc, pcs and sys: the jobs of rocprofv3 besides thread traces. */
#include "capture/roc.h"
#include "verbs/capture/capture_common.h"

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
	{OPT_TRACE, NULL, "all",
		"all, runtime (without HSA), or: kernel,memory-copy,marker,hip,scratch-memory,...",
		FIELD(trace)},
	{OPT_FORMATS, NULL, NULL, "files to keep beside the database: csv,json,pftrace,otf2",
		FIELD(formats)},
	COMMON_OPTIONS};

struct roc_job { /* kept by the answer, whose texts are those of the driver */
	struct roc_request q;
	struct roc roc;
};

static void drop_roc(struct roc_job *j)
{
	roc_deinit(&j->roc);
}

static bool ask_roc(const struct request *r, struct answer *a,
	bool (*take)(struct roc *, struct incore_error *), struct incore_error *e)
{
	const char *const *app = capture_app(r, a, e);
	struct roc_job *j = ANSWER_NEW(a, roc_job, e);
	bool ok;

	if (!app || !j)
		return false;
	if (!r->n_paths)
		return capture_needs_app(r, "", e);
	j->q = *(const struct roc_request *)r->params;
	j->q.drive = capture_drive(r, app, !j->q.is_dry);
	if (!j->q.trace)
		j->q.trace = "all";
	roc_init(&j->roc, &j->q);
	if (!ANSWER_KEEP(a, j, drop_roc, e))
		return false;
	ok = take(&j->roc, e);
	ok = capture_answer(a, app,
		&(struct capture_done){.record = &roc_record,
			.data = &j->roc.answer,
			.is_empty = !j->roc.answer.runs.n,
			.is_no = ok && j->roc.is_no,
			.app_status = j->roc.app_status,
			.warnings = (const char *const *)j->roc.answer.warnings.v,
			.n_warnings = j->roc.answer.warnings.n},
		ok, e);
	if (r->is_for_people && !j->q.is_dry) /* the others have it as a list */
		for (size_t i = 0; i < j->roc.answer.refused.n; i++)
			answer_warn(a, "%s was not taken", j->roc.answer.refused.v[i]);
	return ok;
}

static bool capture_pmc_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	if (!((const struct roc_request *)r->params)->counters)
		return err_set(e, INCORE_USAGE, "missing-option",
			"capture pmc needs --counters LIST (rocprofv3 --list-avail lists them)");
	return ask_roc(r, a, roc_take_pmc, e);
}

static bool capture_pcs_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	return ask_roc(r, a, roc_take_pcs, e);
}

static bool capture_sys_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	return ask_roc(r, a, roc_take_sys, e);
}

/* --- its page --- */

static void put_roc_runs(struct page *p, const struct roc_answer *a)
{
	for (size_t i = 0; i < a->runs.n; i++) {
		const struct roc_run *t = &a->runs.v[i];

		page_line(p, "%s: %s: %s", t->run.name, t->because, t->run.outcome);
		if (t->counters)
			page_line(p, "  %s", t->counters);
	}
	if (a->method)
		page_line(p, "%s, one every %llu %s", a->method, (unsigned long long)a->interval,
			strcmp(a->method, "host_trap") == 0 ? "us" : "cycles");
}

static void put_roc_captures(struct page *p, const struct roc_answer *a)
{
	for (size_t i = 0; i < a->captures.n; i++) {
		const struct roc_capture *x = &a->captures.v[i];

		if (x->samples)
			page_line(p, "%s: %s", x->kernel ? x->kernel : "(no name)",
				COUNTED(x->samples, "sample"));
		else
			page_line(p, "%s of %s: %s", COUNTED(x->slices, "span"),
				COUNTED(x->launches, "kernel launch"), x->health);
	}
	for (size_t i = 0; i < a->captures.n; i++)
		page_line(p, "%s", a->captures.v[i].file);
}

static void capture_roc_page(const struct answer *answer, struct page *p)
{
	static const char *const columns[] = {
		"kernel", "counter", "pass", "launches", "mean", "least", "most", "sum", NULL};
	const struct roc *r = DRIVER_OF(answer, roc);
	const struct roc_answer *a = &r->answer;

	if (r->q->is_dry) {
		page_line(p, "rocprofv3 %s: %s", r->tool.version, r->tool.path);
		for (size_t i = 0; i < a->runs.n; i++)
			capture_page_plan(p, &a->runs.v[i].run);
		return;
	}
	put_roc_runs(p, a);
	put_roc_captures(p, a);
	if (!a->counters.n)
		return;
	page_records(p, &roc_counter_record, (struct rows){a->counters.v, a->counters.n}, columns);
	page_line(p, "%s", a->table);
}

#define ROC_QUESTION(NAME)                                                                         \
	.name = "capture " #NAME, .args = "-- APP [ARG...]", .max_paths = UINT32_MAX,              \
	.options = NAME##_options, .params_size = sizeof(struct roc_request),                      \
	.records = RECORDS(&roc_record), .inputs = RECORDS(&capture_app_record),                   \
	.ask = capture_##NAME##_ask, .page = capture_roc_page

const struct question question_capture_pmc = {
	ROC_QUESTION(pmc), .summary = "take counters with rocprofv3, in as many runs as they need"};
const struct question question_capture_pcs = {
	ROC_QUESTION(pcs), .summary = "take PC samples with rocprofv3, as the device offers them"};
const struct question question_capture_sys = {
	ROC_QUESTION(sys), .summary = "take the timeline around the kernels with rocprofv3"};
