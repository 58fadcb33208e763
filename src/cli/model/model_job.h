/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_job.h: shared by the verbs of `incore model`: options for a kernel and its arguments, the
 * profile, output of streams and findings, and the directory that is written.
 */
#pragma once

#include "answer/rows.h"
#include "cli/cli.h"
#include "model/profile/profile.h"
#include "model/record/record.h"

#define MODEL_KERNEL_OPTIONS                                                                       \
	{OPT_ARG_SPEC, NULL, NULL, "arguments of the kernel, as JSON (incore-opstream(7))"},       \
		{OPT_ARGS, NULL, NULL,                                                             \
			"one argument: 0=f16[128,64], 1=f32[8]:out, 4=i64:128; may be repeated"},  \
		{OPT_CORE_KIND, "auto|aic|aiv|mix", "auto",                                        \
			"cores that run the kernel; auto: as the source says"},                    \
		{OPT_AIV, NULL, NULL, "source file for the vector cores, if it is separate"},      \
		{OPT_BLOCKS_B, NULL, "1", "number of blocks to record"},                           \
		{OPT_BLOCK_NUM, NULL, NULL,                                                        \
			"number of blocks that the kernel sees (default: --blocks)"},              \
		{OPT_DEFINE, NULL, NULL, "macro for the kernel's compiler; may be repeated"},      \
		{OPT_INCLUDE, NULL, NULL, "folder with headers of the kernel; may be repeated"},   \
		{OPT_TIME_LIMIT, NULL, "60", "time limit of the kernel in seconds"}, UNSAFE_OPTION

#define MODEL_ARCH_OPTION                                                                          \
	{                                                                                          \
		OPT_MODEL_ARCH, "a2a3|a5", NULL,                                                   \
			"chip generation (default: the profile's, else a2a3)"                      \
	}

#define MODEL_PROFILE_OPTION                                                                       \
	{                                                                                          \
		OPT_PROFILE_P, NULL, NULL, "constants of the machine (default: 910b1; a5 for a5)"  \
	}

#define MODEL_TIMING_OPTIONS                                                                       \
	MODEL_PROFILE_OPTION,                                                                      \
		{OPT_ACTIVE_CORES, NULL, "1",                                                      \
			"number of cores that run it at once and share the memory"},               \
		{OPT_CACHED, NULL, NULL, "argument that is already in L2; may be repeated"},       \
		{OPT_ALLOW_UNKNOWN, NULL, NULL,                                                    \
			"time unknown ops too, with a guess that is marked"},                      \
	{                                                                                          \
		OPT_SET_SWITCH, NULL, NULL, "override v_overlap or dma_serial of the profile"      \
	}

extern const struct verb model_verb_run, model_verb_record, model_verb_time, model_verb_calibrate,
	model_verb_compare, model_verb_validate, model_verb_step, model_verb_ops;

#define MODEL_MAX_BLOCKS 4096
#define MODEL_COMPILE_LIMIT_S 900

/* Loads --profile, or the default of the architecture; one for another architecture is an error. */
bool model_cli_profile(struct cli *c, enum opstream_arch arch, struct profile *p);
/* --arch, else the architecture of --profile, else a2a3. */
bool model_cli_arch(struct cli *c, enum opstream_arch *out);
/* Compiles and runs c->args[0] as the options say. */
bool model_cli_record(struct cli *c, enum opstream_arch arch, struct opstream_set *out);
/* Prints the envelope with {path, arch} as input, each only if not NULL, and this data. */
bool model_json(struct cli *c, const char *path, const char *arch, const struct record *r,
	const void *data);
extern const struct record *const model_inputs[];

/* What a stream holds; a row is valid until the next one is made. */
struct stream_row {
	const struct opstream_set *set; /* the set that the rows are of */
	const char *kernel, *core, *front_end, *args_origin;
	uint32_t block_idx, block_num;
	struct rows payload_slots, missing_slots;
	bool complete;
	uint64_t ops, forms, macs, bytes;
	uint64_t slots[2][OPSTREAM_SLOTS];
};
extern const struct record stream_record;
/* Rows of the set's streams, made in *x. */
struct rows stream_rows(const struct opstream_set *set, struct stream_row *x);
bool model_text_streams(struct cli *c, const struct opstream_set *set);

struct profile_row {
	const char *name, *arch, *soc, *calibration, *sha256;
	double clock_mhz;
	bool v_overlap, dma_serial;
};
extern const struct record profile_record;
struct profile_row profile_row_of(const struct profile *p);

#define MODEL_VERB(S, WORDS)                                                                       \
	COLUMN(S, verb, UNIT_NONE, "verb of incore model that answered", .words = WORDS)
#define MODEL_ARCHS "a2a3|a5"
#define MODEL_CORES "aic|aiv0|aiv1"
#define MODEL_PIPES "S|V|MTE1|MTE2|MTE3|M|FIX|ALL|none"
#define MODEL_STATUS "device|camodel|fit|guess"
