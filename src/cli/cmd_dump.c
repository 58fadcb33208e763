/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_dump.c: incore dump: what a run dumped. Its subcommands are questions (verbs/dump/). */
#include "cli/cli.h"

extern const struct question question_dump_ls, question_dump_show, question_dump_check,
	question_dump_diff, question_dump_export, question_dump_repair;

static const struct verb *const subs[] = {SUB_VERB("dump ls", dump_ls),
	SUB_VERB("dump show", dump_show), SUB_VERB("dump check", dump_check),
	SUB_VERB("dump diff", dump_diff), SUB_VERB("dump export", dump_export),
	SUB_VERB("dump repair", dump_repair), NULL};

const struct verb verb_dump = {
	.name = "dump",
	.args = "VERB DIR",
	.summary = "list, show, check, compare, export or repair what a run dumped",
	.subs = subs,
};
