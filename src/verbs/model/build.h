/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build.h: a build and one of its steps as run on a device, for the verbs that compare the model
 * with the device. Every kernel is recorded with the arguments that `incore profile` uses.
 */
#pragma once

#include "model/device/device.h"
#include "verbs/model/options.h"

struct build_params {
	const char *profile; /* constants of the machine; NULL: the default */
	const char *build, *swimlane, *deps;
	struct text_list values, data;
	bool is_unsafe;
};

#define MODEL_BUILD_OPTIONS(S)                                                                     \
	{OPT_BUILD, NULL, NULL, "path of a build, or of the folder that profile left",             \
		OPTION_FIELD(S, build.build)},                                                     \
		{OPT_SWIMLANE, NULL, NULL,                                                         \
			"times of its tasks on the device: l2_swimlane_records.json",              \
			OPTION_FIELD(S, build.swimlane)},                                          \
		{OPT_DEPS, NULL, NULL,                                                             \
			"tasks and their dependencies (default: deps.json beside them)",           \
			OPTION_FIELD(S, build.deps)},                                              \
		{OPT_VALUE, NULL, NULL, "value of a parameter, as for profile --set",              \
			OPTION_FIELD(S, build.values)},                                            \
	{                                                                                          \
		OPT_DATA, NULL, NULL, "file with the bytes of a tensor parameter",                 \
			OPTION_FIELD(S, build.data)                                                \
	}

struct model_build {
	struct swimlane swim;
	struct device_step step;
	struct profile profile;
	struct opstream_set *sets; /* one per kernel of the step */
	struct arena arena;
};

/* Reads what the options name and records every kernel; a kernel that cannot be recorded has no
 * set. The answer keeps it. needs_times: refuses --deps alone, which comes without times of a
 * device. */
struct model_build *model_build_new(const struct request *r, const struct build_params *p,
	bool needs_times, struct answer *a, struct incore_error *e);
