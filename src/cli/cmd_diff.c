/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_diff.c: incore diff A B: besides the answer, writes results of its gates as files for CI. */
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
	.options = options,
	.check = gate_may_write_diff,
	.also = gate_write_diff,
};
