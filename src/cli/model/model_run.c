/* SPDX-License-Identifier: Apache-2.0 */
/* model_run.c: incore model run: makes a timed trace from a kernel's source and arguments. */
#include "cli/model/model_report.h"

static const struct option_def options[] = {
	MODEL_KERNEL_OPTIONS,
	MODEL_ARCH_OPTION,
	MODEL_TIMING_OPTIONS,
	OPTION_END,
};

static bool run_model_run(struct cli *c)
{
	struct opstream_set set;
	enum opstream_arch arch;
	bool ok;

	opstream_set_init(&set);
	ok = model_cli_arch(c, &arch) && model_cli_record(c, arch, &set) && model_cli_time(c, &set);
	opstream_set_deinit(&set);
	return ok;
}

const struct verb model_verb_run = {
	.name = "model run",
	.args = "KERNEL.cpp",
	.summary = "record and time a kernel: a trace, and what is wrong with it",
	.groups = OPTIONS_OUTPUT | OPTIONS_CSV | OPTIONS_OWN_FILE,
	.options = options,
	.min_args = 1,
	.max_args = 1,
	.run = run_model_run,
	.records = model_report_records,
	.inputs = model_inputs,
};
