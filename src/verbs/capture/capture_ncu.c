/* SPDX-License-Identifier: Apache-2.0 */
/* capture_ncu.c: incore capture ncu: kernels under NVIDIA's Nsight Compute. */
#include "capture/ncu.h"
#include "verbs/capture/capture_common.h"

#define FIELD(M) OPTION_FIELD(ncu_request, M)

static const struct option_def ncu_options[] = {
	{OPT_KERNEL, NULL, NULL, "only kernels whose name matches; default: all", FIELD(kernel)},
	{OPT_LAUNCH_SKIP, NULL, "0", "launches to skip first", FIELD(skip)},
	{OPT_LAUNCH_COUNT, NULL, "1", "number of launches to profile; 0: all", FIELD(count)},
	{OPT_SECTIONS, NULL, NULL, "section identifiers of ncu (default: those that incore uses)",
		FIELD(sections)},
	{OPT_SET, NULL, NULL, "use a section set of ncu instead: full, basic", FIELD(set)},
	{OPT_CLOCK_CONTROL, NULL, "none", "none: leave the clock as it is; base: ncu locks it",
		FIELD(clock)},
	{OPT_CACHE_CONTROL, NULL, "all", "all: empty caches before each replay; none: leave them",
		FIELD(cache)},
	{OPT_TIMEOUT, NULL, "0", "time limit of the run; 0: none", FIELD(limit_s)},
	{OPT_KEEP_RAW, NULL, NULL, "keep the report of ncu", FIELD(keeps_raw)},
	{OPT_DRY_RUN, NULL, NULL, "print what would be done; run nothing", FIELD(is_dry)},
	{OPT_TOOL, NULL, NULL, "path of the ncu to use", FIELD(tool)},
	{OPT_OUTPUT_FOLDER, NULL, "capture", "folder for results; new or empty", FIELD(dir)},
	OPTION_END,
};

static bool check_ncu(const struct ncu_request *q, struct incore_error *e)
{
	if (strcmp(q->clock, "none") != 0 && strcmp(q->clock, "base") != 0)
		return err_set(e, INCORE_USAGE, "bad-value",
			"--clock-control is none or base, not %s", q->clock);
	if (strcmp(q->cache, "all") != 0 && strcmp(q->cache, "none") != 0)
		return err_set(e, INCORE_USAGE, "bad-value",
			"--cache-control is all or none, not %s", q->cache);
	if (q->set && q->sections)
		return err_set(
			e, INCORE_USAGE, "bad-value", "--set and --sections exclude each other");
	return true;
}

struct ncu_job { /* kept by the answer, whose texts are those of the driver */
	struct ncu_request q;
	struct ncu ncu;
};

static void drop_ncu(struct ncu_job *j)
{
	ncu_deinit(&j->ncu);
}

static bool capture_ncu_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	const char *const *app = capture_app(r, a, e);
	struct ncu_job *j = ANSWER_NEW(a, ncu_job, e);
	bool ok;

	if (!app || !j)
		return false;
	if (!r->n_paths)
		return capture_needs_app(r, "", e);
	j->q = *(const struct ncu_request *)r->params;
	if (!check_ncu(&j->q, e))
		return false;
	j->q.drive = capture_drive(r, app, !j->q.is_dry);
	ncu_init(&j->ncu, &j->q);
	if (!ANSWER_KEEP(a, j, drop_ncu, e))
		return false;
	ok = ncu_take(&j->ncu, e);
	return capture_answer(a, app,
		&(struct capture_done){.record = &ncu_record,
			.data = &j->ncu.answer,
			.is_empty = !j->ncu.answer.captures.n,
			.is_no = ok && j->ncu.is_no && !j->q.is_dry,
			.app_status = j->ncu.app_status,
			.warnings = (const char *const *)j->ncu.answer.warnings.v,
			.n_warnings = j->ncu.answer.warnings.n},
		ok, e);
}

static void put_ncu_result(struct page *p, const struct ncu_answer *a)
{
	for (size_t i = 0; i < a->captures.n; i++) {
		const struct ncu_file *f = &a->captures.v[i];

		page_line(p, "%s: %llu sample%s, %s", f->kernel, (unsigned long long)f->samples,
			plural(f->samples), f->health);
	}
	for (size_t i = 0; i < a->captures.n; i++)
		page_line(p, "%s", a->captures.v[i].file);
	if (!a->captures.n)
		page_line(p, "ncu profiled nothing; log %s", a->log);
}

static void capture_ncu_page(const struct answer *answer, struct page *p)
{
	const struct ncu *n = DRIVER_OF(answer, ncu);

	if (n->q->is_dry) {
		page_line(p, "ncu %s: %s", n->answer.version, n->answer.tool);
		page_command(p, "$ ", "%s", n->answer.command);
	} else {
		put_ncu_result(p, &n->answer);
	}
}

const struct question question_capture_ncu = {
	.name = "capture ncu",
	.summary = "profile kernels with Nsight Compute, and pack its report",
	.args = "-- APP [ARG...]",
	.max_paths = UINT32_MAX,
	.options = ncu_options,
	.params_size = sizeof(struct ncu_request),
	.records = RECORDS(&ncu_record),
	.inputs = RECORDS(&capture_app_record),
	.ask = capture_ncu_ask,
	.page = capture_ncu_page,
};
