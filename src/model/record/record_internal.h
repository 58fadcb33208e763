/* SPDX-License-Identifier: Apache-2.0 */
/* record_internal.h: what the steps of recording a kernel share: find, compile, run. */
#pragma once

#include "base/arena.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/walls.h"
#include "model/record/record.h"

/* Environment of a compilation; all on the heap. */
struct record_tools {
	struct arena arena; /* file names, also those of units */
	char *recorder_dir;
	char *cache_dir;
	char *compiler;	     /* path of the program */
	struct hash128 seed; /* of compiler and recorder: part of every key */
};

bool record_tools_find(
	struct record_tools *t, const struct record_options *o, struct incore_error *e);
void record_tools_free(struct record_tools *t);

/* One translation unit for one kind of core. */
struct record_unit {
	const char *source;
	struct file_data text;
	char sha256[65];
	enum opstream_core core;
	uint32_t first_lane, n_lanes;
	const char *program,
		*runner; /* in the cache: a library and its loader (paths in the tools' arena) */
	uint64_t compile_us;
	bool was_cached;
};

bool record_compile(struct record_unit *u, struct record_tools *t, const struct record_options *o,
	struct incore_error *e);
