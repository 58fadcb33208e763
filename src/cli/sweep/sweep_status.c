/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_status.c: the status of a sweep, and cancelling it. */
#include "cli/sweep/sweep_verbs.h"
#include "page/say.h"
#include "sweep/handover.h"

static const struct option_def status_options[] = {
	{OPT_CAPTURES, NULL, NULL, "print only the paths of captures of finished tasks"},
	OPTION_END,
};

static bool print_path(void *ctx, const struct sweep_capture *x, struct incore_error *e)
{
	(void)e;
	say(((struct cli *)ctx)->out, "%s\n", x->path);
	return true;
}

static bool with_sweep(struct cli *c, bool cancels)
{
	struct sweep_request q = {.dir = c->args[0]};
	struct sweep s = {0};
	bool ok = sweep_look(&s, &q, &c->error) && (!cancels || sweep_cancel(&s, &c->error)) &&
		  sweep_print(c, &s, NULL);

	sweep_close(&s);
	return ok;
}

static bool run_status(struct cli *c)
{
	if (cli_flag(c, "captures") && !c->use_json)
		return sweep_each_capture(c->args[0], print_path, c, &c->error);
	return with_sweep(c, false);
}

static bool run_cancel(struct cli *c)
{
	return with_sweep(c, true);
}

const struct verb sweep_verb_status = {
	.name = "sweep status",
	.args = "DIR",
	.summary = "what a sweep has come to, also while it runs",
	.groups = OPTIONS_OUTPUT,
	.options = status_options,
	.min_args = 1,
	.max_args = 1,
	.run = run_status,
	.records = RECORDS(&sweep_answer_record),
	.inputs = RECORDS(&sweep_input_record),
};

const struct verb sweep_verb_cancel = {
	.name = "sweep cancel",
	.args = "DIR",
	.summary = "end a sweep, its tasks, and its jobs in Slurm",
	.groups = OPTIONS_OUTPUT,
	.min_args = 1,
	.max_args = 1,
	.run = run_cancel,
	.records = RECORDS(&sweep_answer_record),
	.inputs = RECORDS(&sweep_input_record),
};
