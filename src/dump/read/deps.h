/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deps.h: what the runtime's own deps.json says about the tasks of a dump: members, blocks, the
 * full list of tensor arguments, buffers. Joined by numeric task id and slot; the files must come
 * from one run. Owner: deps_free(). May fail: deps_read().
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "dump/read/model.h"

struct deps_arg {
	uint32_t slot;
	uint8_t role, dtype; /* dtype DTYPE_UNKNOWN: not stated (outputs) */
	bool has_tensor;
	uint64_t tensor_id;
};

struct deps_task {
	uint64_t id;
	uint32_t first_arg, n_args;
	uint32_t block_num;
	int32_t kernels[3]; /* -1: empty */
};

struct deps_tensor {
	uint64_t id, buffer_addr, buffer_numel;
	uint8_t dtype;
};

struct deps {
	char *path;
	VEC(struct deps_task) tasks;
	VEC(struct deps_arg) args;
	VEC(struct deps_tensor) tensors;
	uint64_t n_edges;
	struct u64_map by_id;	  /* task id -> index + 1 */
	struct u64_map by_tensor; /* tensor id -> index + 1 */
};

struct deps *deps_read(const void *json, size_t size, const char *path, struct incore_error *e);
void deps_free(struct deps *d);
const struct deps_task *deps_task_find(const struct deps *d, uint64_t id); /* or NULL */

/* The memory behind a tensor, according to its record or else to deps.json. */
struct record_buffer {
	uint64_t addr, size; /* bytes; 0: not known */
	bool is_from_deps;   /* the size comes from deps.json */
};

/* False: neither states it. */
bool record_buffer_of(const struct dump *d, uint32_t record, struct record_buffer *out);

/* Reads both files from the dump's directory or the one above it, if they exist; a file that cannot
 * be read is a problem, not an error. */
bool companions_read(struct dump *d, struct incore_error *e);
