/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h: options that several verbs of `incore model` take, the parameters that they are stored
 * in, and what the verbs make of them. A verb's own parameters S hold a `kernel`, a `machine`, a
 * `load` or a `build`.
 */
#pragma once

#include "answer/rows.h"
#include "model/profile/profile.h"
#include "model/record/record.h"
#include "verbs/means_options.h"

/* --- a kernel and its arguments --- */

struct model_kernel {
	const char *arg_spec, *aiv;
	struct text_list args, defines, include_dirs;
	unsigned cores; /* enum kernel_core */
	uint64_t blocks, block_num, time_limit;
	bool is_unsafe;
};

#define MODEL_KERNEL_OPTIONS(S)                                                                    \
	{OPT_ARG_SPEC, NULL, NULL, "arguments of the kernel, as JSON (incore-opstream(7))",        \
		OPTION_FIELD(S, kernel.arg_spec)},                                                 \
		{OPT_ARGS, NULL, NULL,                                                             \
			"one argument: 0=f16[128,64], 1=f32[8]:out, 4=i64:128; may be repeated",   \
			OPTION_FIELD(S, kernel.args)},                                             \
		{OPT_CORE_KIND, "auto|aic|aiv|mix", "auto",                                        \
			"cores that run the kernel; auto: as the source says",                     \
			OPTION_FIELD(S, kernel.cores)},                                            \
		{OPT_AIV, NULL, NULL, "source file for the vector cores, if it is separate",       \
			OPTION_FIELD(S, kernel.aiv)},                                              \
		{OPT_BLOCKS_B, NULL, "1", "number of blocks to record",                            \
			OPTION_FIELD(S, kernel.blocks)},                                           \
		{OPT_BLOCK_NUM, NULL, NULL,                                                        \
			"number of blocks that the kernel sees (default: --blocks)",               \
			OPTION_FIELD(S, kernel.block_num)},                                        \
		{OPT_DEFINE, NULL, NULL, "macro for the kernel's compiler; may be repeated",       \
			OPTION_FIELD(S, kernel.defines)},                                          \
		{OPT_INCLUDE, NULL, NULL, "folder with headers of the kernel; may be repeated",    \
			OPTION_FIELD(S, kernel.include_dirs)},                                     \
		{OPT_TIME_LIMIT, NULL, "60", "time limit of the kernel in seconds",                \
			OPTION_FIELD(S, kernel.time_limit)},                                       \
		OPTION_UNSAFE(S, kernel.is_unsafe)

/* --- a machine --- */

struct model_machine {
	unsigned arch;	     /* enum opstream_arch; NO_CHOICE: that of the profile, else a2a3 */
	const char *profile; /* name or file; NULL: the default of the architecture */
};

#define MODEL_ARCH_OPTION(S)                                                                       \
	{                                                                                          \
		OPT_MODEL_ARCH, MODEL_ARCHS, NULL,                                                 \
			"chip generation (default: the profile's, else a2a3)",                     \
			OPTION_FIELD(S, machine.arch)                                              \
	}

#define MODEL_PROFILE_OPTION(S)                                                                    \
	{                                                                                          \
		OPT_PROFILE_P, NULL, NULL, "constants of the machine (default: 910b1; a5 for a5)", \
			OPTION_FIELD(S, machine.profile)                                           \
	}

/* --- the load on it --- */

struct model_load {
	uint64_t active_cores;
	struct text_list cached, switches;
	bool allow_unknown;
};

#define MODEL_TIMING_OPTIONS(S)                                                                    \
	MODEL_PROFILE_OPTION(S),                                                                   \
		{OPT_ACTIVE_CORES, NULL, "1",                                                      \
			"number of cores that run it at once and share the memory",                \
			OPTION_FIELD(S, load.active_cores)},                                       \
		{OPT_CACHED, NULL, NULL, "argument that is already in L2; may be repeated",        \
			OPTION_FIELD(S, load.cached)},                                             \
		{OPT_ALLOW_UNKNOWN, NULL, NULL,                                                    \
			"time unknown ops too, with a guess that is marked",                       \
			OPTION_FIELD(S, load.allow_unknown)},                                      \
	{                                                                                          \
		OPT_SET_SWITCH, NULL, NULL, "override v_overlap or dma_serial of the profile",     \
			OPTION_FIELD(S, load.switches)                                             \
	}

/* --arch, else the architecture of --profile, else a2a3. */
bool model_arch(const struct model_machine *m, enum opstream_arch *out, struct incore_error *e);
/* Loads --profile, or the default of the architecture; one for another architecture is an error. */
bool model_profile(const struct model_machine *m, const struct text_list *switches,
	enum opstream_arch arch, struct profile *p, struct incore_error *e);
/* Compiles and runs the kernel; remarks on its arguments become warnings of the answer. */
bool model_record(const struct model_kernel *k, const char *path, enum opstream_arch arch,
	struct answer *a, struct opstream_set *out, struct incore_error *e);

/* --- rows --- */

/* What an answer is about: each may be NULL. */
bool model_about(struct answer *a, const char *path, const char *arch, struct incore_error *e);
extern const struct record *const model_inputs[];

struct stream_row { /* what a stream holds */
	const char *kernel, *core, *front_end, *args_origin;
	uint32_t block_idx, block_num;
	struct rows payload_slots, missing_slots;
	bool complete;
	uint64_t ops, forms, macs, bytes;
	uint64_t slots[2][OPSTREAM_SLOTS];
};
extern const struct record stream_record;
/* Rows of the set's streams, with its strings. */
bool model_streams(
	struct answer *a, const struct opstream_set *set, struct rows *out, struct incore_error *e);

struct machine_row {
	const char *name, *arch, *soc, *calibration, *sha256;
	double clock_mhz;
	bool v_overlap, dma_serial;
};
extern const struct record machine_record;
struct machine_row machine_row_of(const struct profile *p); /* with its strings */

#define MODEL_VERB(S, WORDS)                                                                       \
	COLUMN(S, verb, UNIT_NONE, "verb of incore model that answered", .words = WORDS)
#define MODEL_ARCHS "a2a3|a5"
#define MODEL_CORES "aic|aiv0|aiv1"
#define MODEL_PIPES "S|V|MTE1|MTE2|MTE3|M|FIX|ALL|none"
#define MODEL_STATUS "device|camodel|fit|guess"
