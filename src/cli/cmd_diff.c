/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_diff.c: incore diff A B: the files that CI takes of its gates, beside the answer. */
#include "cli/cli.h"
#include "cli/gate/gate.h"

static const struct option_def options[] = {
	GATE_REPORT_OPTIONS,
	OPTION_END,
};

extern const struct question question_diff;
const struct verb verb_diff = {
	.name = "diff",
	.question = &question_diff,
	.groups = OPTIONS_OUTPUT | OPTIONS_CSV,
	.options = options,
	.check = gate_may_write_diff,
	.also = gate_write_diff,
};
