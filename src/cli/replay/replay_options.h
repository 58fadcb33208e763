/* SPDX-License-Identifier: Apache-2.0 */
/* replay_options.h: options that `replay` and `profile` share, as tables and as values. */
#pragma once

#include "cli/cli.h"
#include "replay/msprof/msprof.h"
#include "replay/replay.h"

#define REPLAY_BACKEND_OPTIONS                                                                     \
	{0, "backend", OPTION_CHOICE, "NAME", "model|msprof|simpler|ptoas", "model",               \
		"backend that runs the kernel: the model (an estimate), or msprof op simulator"},  \
		{0, "cann-home", OPTION_TEXT, "DIR", NULL, NULL,                                   \
			"msprof: where CANN is installed"},                                        \
		{0, "cann-set-env", OPTION_TEXT, "FILE", NULL, NULL,                               \
			"msprof: path of CANN's set_env.sh"},                                      \
		{0, "soc-version", OPTION_TEXT, "NAME", NULL, NULL,                                \
			"msprof: the chip to simulate"},                                           \
		{0, "aicore-arch", OPTION_TEXT, "NAME", NULL, NULL,                                \
			OPTION_RARE "msprof: architecture to compile for"},                        \
		{0, "pto-isa-root", OPTION_TEXT, "DIR", NULL, NULL,                                \
			"msprof: path of the pto-isa headers"},                                    \
		{0, "msprof-timeout", OPTION_COUNT, "MINUTES", NULL, "120",                        \
			"msprof: time limit, 1 to 2880 minutes"},                                  \
		{0, "launch-count", OPTION_COUNT, "N", NULL, "1",                                  \
			"msprof: number of launches to record"},                                   \
		{0, "timeout", OPTION_COUNT, "MINUTES", NULL, NULL, OPTION_SAME "msprof-timeout"}, \
		{0, "device", OPTION_COUNT, "N", NULL, NULL,                                       \
			OPTION_RARE "msprof: device number (ACL_DEVICE_ID)"},                      \
		UNSAFE_OPTION

#define REPLAY_COMPILE_OPTIONS                                                                     \
	{'D', "define", OPTION_MANY, "NAME[=V]", NULL, NULL,                                       \
		"macro for the kernel's compiler; may be repeated"},                               \
	{                                                                                          \
		'I', "include", OPTION_MANY, "DIR", NULL, NULL,                                    \
			"folder with headers of the kernel"                                        \
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
