/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_cell.c: one attempt at one task, as started by the driver and by Slurm. */
#include "cli/output.h"
#include "cli/sweep/sweep_verbs.h"
#include "sweep/shim.h"

static const struct option_def options[] = {
	{OPT_BASE, NULL, ".", "folder of the plan"},
	{OPT_TASK_NUMBER, NULL, NULL, "number of the task"},
	{OPT_ATTEMPT, NULL, "1", "number of the attempt"},
	{OPT_LIST_FILE, NULL, NULL, "file with tasks and attempts, one per line"},
	{OPT_INDEX, NULL, NULL, "line of the list, from 0"},
	OPTION_END,
};

static bool run(struct cli *c)
{
	struct sweep_shim s = {.dir = c->args[0],
		.base = cli_text(c, "base"),
		.task = cli_count(c, "task"),
		.attempt = (uint32_t)cli_count(c, "attempt"),
		.is_cancelled = output_interrupted,
		.cancel_signal = output_signal};

	if (cli_has(c, "list") != cli_has(c, "index") || cli_has(c, "list") == cli_has(c, "task") ||
		!s.attempt)
		return err_set(&c->error, INCORE_USAGE, "missing-option",
			"sweep cell needs --task N, or --list FILE with --index N");
	if (cli_has(c, "list") &&
		!sweep_shim_pick(&s, cli_text(c, "list"), cli_count(c, "index"), &c->error))
		return false;
	output_finish_on_signals();
	return sweep_shim_run(&s, &c->error);
}

const struct verb sweep_verb_cell = {
	.name = "sweep cell",
	.args = "DIR",
	.summary = "run one attempt of one task, as the driver and Slurm do",
	.groups = 0,
	.options = options,
	.min_args = 1,
	.max_args = 1,
	.run = run,
};
