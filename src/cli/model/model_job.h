/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_job.h: what the verbs of `incore model` share: how a kernel and its arguments are named,
 * the profile, how streams and findings are told, and the directory that is written.
 */
#ifndef CLI_MODEL_MODEL_JOB_H
#define CLI_MODEL_MODEL_JOB_H

#include "cli/cli.h"
#include "model/profile/profile.h"
#include "model/record/record.h"

#define MODEL_KERNEL_OPTIONS                                                                       \
	{0, "arg-spec", OPTION_TEXT, "FILE", NULL, NULL,                                           \
		"the kernel's arguments, as JSON (incore-opstream(7))"},                           \
		{'a', "args", OPTION_MANY, "SLOT=VALUE", NULL, NULL,                               \
			"one argument: 0=f16[128,64], 1=f32[8]:out, 4=i64:128; may be repeated"},  \
		{0, "core", OPTION_CHOICE, "KIND", "auto|aic|aiv|mix", "auto",                     \
			"which cores run it; auto: as the source says"},                           \
		{0, "aiv", OPTION_TEXT, "FILE", NULL, NULL,                                        \
			"source of the vector cores, where it is a file of its own"},              \
		{'b', "blocks", OPTION_COUNT, "N", NULL, "1", "blocks to record"},                 \
		{0, "block-num", OPTION_COUNT, "N", NULL, NULL,                                    \
			"number of blocks the kernel is told (default: --blocks)"},                \
		{'D', "define", OPTION_MANY, "NAME[=V]", NULL, NULL,                               \
			"a macro for the kernel's compiler; may be repeated"},                     \
		{'I', "include", OPTION_MANY, "DIR", NULL, NULL,                                   \
			"a folder of headers of the kernel; may be repeated"},                     \
	{                                                                                          \
		0, "time-limit", OPTION_COUNT, "S", NULL, "60", "seconds that the kernel may run"  \
	}

#define MODEL_ARCH_OPTION                                                                          \
	{                                                                                          \
		0, "arch", OPTION_CHOICE, "ARCH", "a2a3|a5", NULL,                                 \
			"generation (default: the profile's, else a2a3)"                           \
	}

#define MODEL_PROFILE_OPTION                                                                       \
	{                                                                                          \
		'p', "profile", OPTION_TEXT, "NAME|FILE", NULL, NULL,                              \
			"constants of the machine (default: 910b1; a5 for a5)"                     \
	}

#define MODEL_TIMING_OPTIONS                                                                       \
	MODEL_PROFILE_OPTION,                                                                      \
		{0, "allow-unknown", OPTION_FLAG, NULL, NULL, NULL,                                \
			"time ops that are not known, at a marked guess"},                         \
	{                                                                                          \
		0, "set", OPTION_MANY, "SWITCH=on|off", NULL, NULL,                                \
			"v_overlap or dma_serial, other than the profile has it"                   \
	}

#define MODEL_OPTIONS_END                                                                          \
	{                                                                                          \
		0, NULL, OPTION_FLAG, NULL, NULL, NULL, NULL                                       \
	}

extern const struct verb model_verb_run, model_verb_record, model_verb_time, model_verb_calibrate,
	model_verb_compare, model_verb_validate, model_verb_ops;

#define MODEL_MAX_BLOCKS 4096
#define MODEL_COMPILE_LIMIT_S 900

struct model_totals {
	uint64_t macs, bytes;
};
struct model_totals model_totals_of(const struct opstream *s);

/* Loads --profile, or the default of the architecture; one for another architecture is an error. */
bool model_cli_profile(struct cli *c, enum opstream_arch arch, struct profile *p);
/* --arch, else what --profile is for, else a2a3. */
bool model_cli_arch(struct cli *c, enum opstream_arch *out);
/* Compiles and runs c->args[0] as the options say. */
bool model_cli_record(struct cli *c, enum opstream_arch arch, struct opstream_set *out);
/* Envelope with {path, arch} as input, up to an open data object with its "verb". */
void model_json_begin(struct cli *c, struct json_writer *w, const char *path, const char *arch);
/* "streams": what each holds. */
void model_json_streams(struct json_writer *w, const struct opstream_set *set);
bool model_text_streams(struct cli *c, const struct opstream_set *set);

#endif
