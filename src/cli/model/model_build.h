/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_build.h: a build and one of its steps as run on a device, for the verbs that compare the
 * model with the device. Every kernel is recorded with the arguments that `incore profile` uses.
 */
#pragma once

#include "cli/cli.h"
#include "model/device/device.h"

#define MODEL_BUILD_OPTIONS                                                                        \
	{OPT_BUILD, NULL, NULL, "path of a build, or of the folder that profile left"},            \
		{OPT_SWIMLANE, NULL, NULL,                                                         \
			"times of its tasks on the device: l2_swimlane_records.json"},             \
		{OPT_DEPS, NULL, NULL,                                                             \
			"tasks and their dependencies (default: deps.json beside them)"},          \
		{OPT_VALUE, NULL, NULL, "value of a parameter, as for profile --set"},             \
	{                                                                                          \
		OPT_DATA, NULL, NULL, "file with the bytes of a tensor parameter"                  \
	}

struct model_build {
	struct swimlane swim;
	struct device_step step;
	struct profile profile;
	struct opstream_set *sets; /* one per kernel of the step */
	struct arena arena;
};

/* Reads what the options name and records every kernel; a kernel that cannot be recorded has no
 * set. needs_times: refuses --deps alone, which comes without times of a device. */
bool model_build_open(struct cli *c, const char *profile, bool needs_times, struct model_build *b);
void model_build_close(struct model_build *b);

/* incore model validate --build: prints the table of its kernels; false: c->error. */
bool model_validate_build(struct cli *c);
extern const struct record validate_build_record;
