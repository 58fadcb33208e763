/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h: turns a kernel's C++ source into op streams: compiles it against the recorder's headers
 * with the host's compiler (cached by content), runs it in a child with limits, and reads what it
 * wrote. The kernel is untrusted native code: compiler and kernel run behind walls (base/walls.h,
 * recorder/runner.cpp), with bounded time and memory.
 * May fail: status 3 for a kernel that does not compile, crashes, exceeds a limit, touches outside
 * a buffer or needs a value nobody supplied; 5 if there is no compiler, or no means to confine it;
 * 6 if the system fails.
 */
#pragma once

#include "args/args.h"
#include "model/record/cores.h"
#include "model/stream/opstream.h"

struct record_options {
	const char *kernel; /* path of the source */
	const char
		*kernel_aiv; /* the source of the vector cores of a mixed kernel; NULL: `kernel` */
	const char *
		kernel_aiv1; /* the source of lane 1; NULL: as lane 0 of a mixed kernel, else none */
	uint8_t lanes; /* of one vector source: bit 0 lane 0, bit 1 lane 1; 0: both of a mix, else lane 0 */
	enum opstream_arch arch;
	enum kernel_core cores; /* KERNEL_ON_ANY: as the source says (cores.h) */
	uint32_t first_block;	/* recorded: first_block .. first_block + blocks - 1 */
	uint32_t blocks;
	uint32_t block_num;	 /* passed to the kernel; 0: equal to `blocks` */
	const struct args *args; /* NULL: none; its rows begin at its first_block */
	bool has_raw_scalars;	 /* the streams state scalars as 64 bits without a type */
	/* The source that the kernel only wraps. The path of the wrapper is then ignored, so that
	 * the same wrapper elsewhere is not compiled again. NULL: the kernel is not a wrapper. */
	const char *wrapped;
	bool is_unsafe;		  /* no walls: the kernel's code has all our rights */
	const char *recorder_dir; /* NULL: $INCORE_RECORDER, beside the program, or as installed */
	const char *cache_dir;	  /* NULL: $XDG_CACHE_HOME/incore or ~/.cache/incore */
	const char *compiler;	  /* NULL: $CXX, g++, clang++ */
	const char *const *defines; /* "NAME" or "NAME=VALUE", for -D */
	size_t n_defines;
	const char *const *include_dirs;
	size_t n_include_dirs;
	unsigned compile_limit_s, run_limit_s; /* 0: 600 and 60 */
	uint64_t memory_bytes;		       /* of the child; 0: 4 GiB */
	uint64_t max_ops;		       /* of a stream; 0: 20 million */
};

struct record_info {
	uint64_t compile_us; /* 0: taken from the cache */
	uint64_t run_us;
	bool was_cached;
	enum kernel_core cores; /* where it ran */
};

/* False, with the reason, if there is no compiler, recorder or cache. */
bool record_is_possible(const struct record_options *o, struct incore_error *e);

/* Adds the streams block by block: AIC, AIV0, AIV1, as far as they exist. A failed kernel adds
 * nothing. */
bool record_kernel(const struct record_options *o, struct opstream_set *out,
	struct record_info *info, struct incore_error *e);
