/* SPDX-License-Identifier: Apache-2.0 */
/* capture_msprof.c: incore capture msprof: kernels of an application on an Ascend simulator or
 * device. */
#include <unistd.h>

#include "capture/msprof.h"
#include "cli/capture.h"
#include "cli/output.h"
#include "page/say.h"

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

static void print_result(struct cli *c, const struct msprof_capture *x)
{
	const struct msprof_answer *a = &x->answer;

	if (x->q->is_dry) {
		say(c->out, "CANN: %s\n", a->cann);
		if (a->soc)
			say(c->out, "chip: %s\n", a->soc);
		say(c->out, "msprof op%s --application=%s\n",
			x->q->is_on_device ? "" : " simulator", a->application);
		return;
	}
	for (size_t i = 0; i < a->captures.n; i++)
		say(c->out, "%s: %s, %s\n",
			a->captures.v[i].kernel ? a->captures.v[i].kernel : "(no name)",
			COUNTED(a->captures.v[i].tracks, "pipe"), a->captures.v[i].evidence);
	if (a->is_partial)
		say(c->out, "partial: the time of msprof was up; no total time follows\n");
	for (size_t i = 0; i < a->captures.n; i++)
		say(c->out, "%s\n", a->captures.v[i].file);
}

static bool run_msprof(struct cli *c, struct msprof_capture *x)
{
	bool ok;

	if (!x->q->is_dry)
		output_finish_on_signals();
	ok = msprof_take(x, &c->error);
	for (size_t i = 0; i < x->answer.warnings.n; i++)
		cli_warn(c, "%s", x->answer.warnings.v[i]);
	c->is_no = ok && x->is_no;
	if (!ok)
		return false;
	if (c->use_json)
		return capture_print_json(c, x->q->drive.app, &msprof_record, &x->answer);
	print_result(c, x);
	return true;
}

static bool run(struct cli *c)
{
	struct msprof_request q = {.drive = capture_drive(c)};
	const char **app = capture_app(c, msprof_options, &q);
	struct msprof_capture x;
	bool ok;

	if (!app)
		return false;
	q.drive.app = app;
	msprof_capture_init(&x, &q);
	ok = run_msprof(c, &x);
	msprof_capture_deinit(&x);
	mem_free(app);
	return ok;
}

const struct verb verb_capture_msprof = {
	.name = "capture msprof",
	.args = "-- APP [ARG...]",
	.summary = "take kernels on Ascend's simulator or device with msprof op",
	.groups = OPTIONS_OUTPUT | OPTIONS_OWN_FILE,
	.options = msprof_options,
	.max_args = UINT32_MAX,
	.run = run,
	.records = RECORDS(&msprof_record),
	.inputs = RECORDS(&capture_app_record),
};
