/* SPDX-License-Identifier: Apache-2.0 */
/*
 * means_options.h: options of verbs that compile and run a kernel, stored in the `q.means` of their
 * parameters S (replay/means.h).
 */
#pragma once

#include "answer/request.h"
#include "replay/means.h"

/* For every verb that runs code of a kernel. */
#define OPTION_UNSAFE(S, M)                                                                        \
	{                                                                                          \
		OPT_UNSAFE_NATIVE, NULL, NULL,                                                     \
			OPTION_RISK "no sandbox around a kernel and its compiler",                 \
			OPTION_FIELD(S, M), .only_named = true                                     \
	}

#define MEANS_COMPILE_OPTIONS(S)                                                                   \
	{OPT_DEFINE, NULL, NULL, "macro for the kernel's compiler; may be repeated",               \
		OPTION_FIELD(S, q.means.defines)},                                                 \
	{                                                                                          \
		OPT_INCLUDE, NULL, NULL, "folder with headers of the kernel",                      \
			OPTION_FIELD(S, q.means.include_dirs)                                      \
	}

#define MEANS_BACKEND_OPTIONS(S)                                                                   \
	{OPT_BACKEND, REPLAY_BACKENDS, "model",                                                    \
		"backend that runs the kernel: the model (an estimate), or msprof op simulator",   \
		OPTION_FIELD(S, q.means.backend)},                                                 \
		{OPT_CANN_HOME, NULL, NULL, "msprof: where CANN is installed",                     \
			OPTION_FIELD(S, q.means.msprof.cann.home)},                                \
		{OPT_CANN_SET_ENV, NULL, NULL, "msprof: path of CANN's set_env.sh",                \
			OPTION_FIELD(S, q.means.msprof.cann.set_env)},                             \
		{OPT_SOC_VERSION, NULL, NULL, "msprof: the chip to simulate",                      \
			OPTION_FIELD(S, q.means.msprof.cann.soc)},                                 \
		{OPT_AICORE_ARCH, NULL, NULL, OPTION_RARE "msprof: architecture to compile for",   \
			OPTION_FIELD(S, q.means.msprof.cann.arch), .only_named = true},            \
		{OPT_PTO_ISA_ROOT, NULL, NULL, "msprof: path of the pto-isa headers",              \
			OPTION_FIELD(S, q.means.msprof.cann.pto_isa)},                             \
		{OPT_MSPROF_TIMEOUT, NULL, "120", "msprof: time limit, 1 to 2880 minutes",         \
			OPTION_FIELD(S, q.means.msprof.timeout_minutes)},                          \
		{OPT_LAUNCH_COUNT, NULL, "1", "msprof: number of launches to record",              \
			OPTION_FIELD(S, q.means.msprof.launch_count)},                             \
		{OPT_TIMEOUT_MINUTES, .alias_of = "msprof-timeout"},                               \
		{OPT_DEVICE, NULL, NULL, OPTION_RARE "msprof: device number (ACL_DEVICE_ID)",      \
			OPTION_FIELD(S, q.means.msprof.device), .only_named = true},               \
		{OPT_NO_SOURCES, NULL, NULL,                                                       \
			OPTION_RARE "model: no sources in visualize_data.bin",                     \
			OPTION_FIELD(S, q.means.no_sources), .only_named = true},                  \
		OPTION_UNSAFE(S, q.means.is_unsafe)
