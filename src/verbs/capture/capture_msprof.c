/* SPDX-License-Identifier: Apache-2.0 */
/* capture_msprof.c: incore capture msprof: kernels of an application on an Ascend simulator or
 * device. */
#include "capture/msprof.h"
#include "verbs/capture/capture_common.h"

#define FIELD(M) OPTION_FIELD(msprof_request, M)

static const struct option_def msprof_options[] = {
	{OPT_ON_DEVICE, NULL, NULL, "run on the device instead of the simulator",
		FIELD(is_on_device)},
	{OPT_KERNEL_NAME, NULL, NULL, "kernel to capture; default: msprof chooses", FIELD(kernel)},
	{OPT_LAUNCHES, NULL, "1", "number of launches, 1 to 5000", FIELD(launches)},
	{OPT_TIMEOUT_MINUTES, NULL, "120", "time limit of msprof, 1 to 2880", FIELD(minutes)},
	{OPT_TARGET, "a2a3|a5", "a2a3", "the generation of the chip", FIELD(target)},
	{OPT_SOC_VERSION, NULL, NULL, "the chip to simulate", FIELD(soc)},
	{OPT_CANN_HOME, NULL, NULL, "where CANN is installed", FIELD(home)},
	{OPT_CANN_SET_ENV, NULL, NULL, "path of CANN's set_env.sh", FIELD(set_env)},
	{OPT_KEEP_RAW, NULL, NULL, "keep the files of msprof", FIELD(keeps_raw)},
	{OPT_DRY_RUN, NULL, NULL, "print what would be done; run nothing", FIELD(is_dry)},
	{OPT_OUTPUT_FOLDER, NULL, "capture", "folder for results; new or empty", FIELD(dir)},
	OPTION_END,
};

struct msprof_job { /* kept by the answer, whose texts are those of the driver */
	struct msprof_request q;
	struct msprof_capture msprof;
};

static void drop_msprof(struct msprof_job *j)
{
	msprof_capture_deinit(&j->msprof);
}

static bool capture_msprof_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	const char *const *app = capture_app(r, a, e);
	struct msprof_job *j = ANSWER_NEW(a, msprof_job, e);
	bool ok;

	if (!app || !j)
		return false;
	if (!r->n_paths)
		return capture_needs_app(r, "", e);
	j->q = *(const struct msprof_request *)r->params;
	j->q.drive = capture_drive(r, app, !j->q.is_dry);
	msprof_capture_init(&j->msprof, &j->q);
	if (!ANSWER_KEEP(a, j, drop_msprof, e))
		return false;
	ok = msprof_take(&j->msprof, e);
	return capture_answer(a, app,
		&(struct capture_done){.record = &msprof_record,
			.data = &j->msprof.answer,
			.is_empty = true,
			.is_no = ok && j->msprof.is_no,
			.warnings = (const char *const *)j->msprof.answer.warnings.v,
			.n_warnings = j->msprof.answer.warnings.n},
		ok, e);
}

static void capture_msprof_page(const struct answer *answer, struct page *p)
{
	const struct msprof_capture *x = DRIVER_OF(answer, msprof_capture);
	const struct msprof_answer *a = &x->answer;

	if (x->q->is_dry) {
		page_line(p, "CANN: %s", a->cann);
		if (a->soc)
			page_line(p, "chip: %s", a->soc);
		page_line(p, "msprof op%s --application=%s", x->q->is_on_device ? "" : " simulator",
			a->application);
		return;
	}
	for (size_t i = 0; i < a->captures.n; i++)
		page_line(p, "%s: %s, %s",
			a->captures.v[i].kernel ? a->captures.v[i].kernel : "(no name)",
			COUNTED(a->captures.v[i].tracks, "pipe"), a->captures.v[i].evidence);
	if (a->is_partial)
		page_line(p, "partial: the time of msprof was up; no total time follows");
	for (size_t i = 0; i < a->captures.n; i++)
		page_line(p, "%s", a->captures.v[i].file);
}

const struct question question_capture_msprof = {
	.name = "capture msprof",
	.summary = "take kernels on Ascend's simulator or device with msprof op",
	.args = "-- APP [ARG...]",
	.max_paths = UINT32_MAX,
	.options = msprof_options,
	.params_size = sizeof(struct msprof_request),
	.records = RECORDS(&msprof_record),
	.inputs = RECORDS(&capture_app_record),
	.ask = capture_msprof_ask,
	.page = capture_msprof_page,
};
