/* SPDX-License-Identifier: Apache-2.0 */
/* replay_options.h: options that `replay` and `profile` share, as tables and as values. */
#pragma once

#include "cli/cli.h"
#include "replay/msprof/msprof.h"
#include "replay/replay.h"

#define REPLAY_BACKEND_OPTIONS                                                                     \
	{OPT_BACKEND, "model|msprof|simpler|ptoas", "model",                                       \
		"backend that runs the kernel: the model (an estimate), or msprof op simulator"},  \
		{OPT_CANN_HOME, NULL, NULL, "msprof: where CANN is installed"},                    \
		{OPT_CANN_SET_ENV, NULL, NULL, "msprof: path of CANN's set_env.sh"},               \
		{OPT_SOC_VERSION, NULL, NULL, "msprof: the chip to simulate"},                     \
		{OPT_AICORE_ARCH, NULL, NULL, OPTION_RARE "msprof: architecture to compile for",   \
			.only_named = true},                                                       \
		{OPT_PTO_ISA_ROOT, NULL, NULL, "msprof: path of the pto-isa headers"},             \
		{OPT_MSPROF_TIMEOUT, NULL, "120", "msprof: time limit, 1 to 2880 minutes"},        \
		{OPT_LAUNCH_COUNT, NULL, "1", "msprof: number of launches to record"},             \
		{OPT_TIMEOUT_MINUTES, NULL, NULL, OPTION_SAME "msprof-timeout"},                   \
		{OPT_DEVICE, NULL, NULL, OPTION_RARE "msprof: device number (ACL_DEVICE_ID)",      \
			.only_named = true},                                                       \
		UNSAFE_OPTION

#define REPLAY_COMPILE_OPTIONS                                                                     \
	{OPT_DEFINE, NULL, NULL, "macro for the kernel's compiler; may be repeated"},              \
	{                                                                                          \
		OPT_INCLUDE, NULL, NULL, "folder with headers of the kernel"                       \
	}

/* Fills the options of the backend that --backend names. False: c->error. */
bool replay_backend_options(struct cli *c, struct msprof_options *out);
#define REPLAY_MAX_WORDS 256

struct replay_words { /* an option that may be repeated, as an array */
	const char *v[REPLAY_MAX_WORDS];
	unsigned n;
};
bool replay_take_words(struct cli *c, const char *name, struct replay_words *out);
/* The value of the first of the two options that is given, or NULL. */
const char *replay_either(const struct cli *c, const char *name, const char *legacy);
