/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_sweep.c: incore sweep: a plan of many runs. One file per subcommand: sweep/sweep_<verb>.c. */
#include "cli/sweep/sweep_verbs.h"

const struct verb verb_sweep = {
	.name = "sweep",
	.args = "PLAN",
	.summary = "run a plan of many captures over devices or Slurm",
	.subs = (const struct verb *const[]){&sweep_verb_run, &sweep_verb_status,
		&sweep_verb_cancel, &sweep_verb_cell, NULL},
	.otherwise = &sweep_verb_run,
};
