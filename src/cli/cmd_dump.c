/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_dump.c: incore dump: what a run dumped. One file per subcommand: dump_<verb>.c. */
#include "cli/dump/dump_job.h"

static const struct verb *const subs[] = {&dump_verb_ls, &dump_verb_show, &dump_verb_check,
	&dump_verb_diff, &dump_verb_export, &dump_verb_repair, NULL};

const struct verb verb_dump = {
	.name = "dump",
	.args = "VERB DIR",
	.summary = "list, show, check, compare, export or repair what a run dumped",
	.subs = subs,
};
