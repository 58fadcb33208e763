/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime.h: a very small task runtime. Tasks have arguments, depend on earlier tasks and are run
 * by worker threads; each dispatch is dumped: inputs and scalars before it, outputs after it.
 * "Device memory" is one pool with its own addresses, so that a dump does not depend on where the
 * process lies. Owner: runtime_deinit() frees all.
 */
#ifndef PAGED_RUNTIME_H
#define PAGED_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

#include "incore/dump.h"

#define MAX_TENSORS 8
#define MAX_SCALARS 2
#define MAX_DEPS 2
#define MAX_TASKS 512
#define DEVICE_BASE UINT64_C(0x100000000)
#define TASK_RING 2 /* scope depth: the upper half of a task id */

struct buffer {
	uint8_t *p;
	uint64_t addr, bytes;
};

struct tensor {
	struct buffer buf;
	uint8_t role, dtype, rank;
	uint64_t start; /* elements */
	uint64_t shape[2], strides[2];
};

struct task;
typedef void (*kernel_fn)(const struct task *t);

struct task {
	const char *name;
	uint16_t func_id;
	uint8_t core_type;
	kernel_fn run;
	struct tensor tensors[MAX_TENSORS];
	uint64_t scalars[MAX_SCALARS];
	uint32_t n_tensors, n_scalars;
	uint32_t deps[MAX_DEPS], n_deps;
	bool is_started, is_done;
};

struct runtime {
	uint8_t *pool;
	uint64_t pool_bytes, used;
	struct task *tasks; /* [MAX_TASKS] */
	uint32_t n_tasks;
	struct incore_dump *dump; /* NULL: none */
};

bool runtime_init(struct runtime *rt, uint64_t pool_bytes);
void runtime_deinit(struct runtime *rt);
/* 1024-byte pieces; what is in them is whatever was there. */
struct buffer runtime_alloc(struct runtime *rt, uint64_t bytes);
/* A task to fill in; NULL when there are too many. Its number is its place. */
struct task *runtime_submit(struct runtime *rt, const char *name);
void task_after(struct task *t, uint32_t dep);
struct tensor *task_tensor(struct task *t, struct buffer buf, uint8_t role, uint8_t dtype);
/* Start of a tensor's data. */
void *task_data(const struct task *t, unsigned slot);
/* Runs all tasks; 0 or the errno of a dump that failed. */
int runtime_run(struct runtime *rt, unsigned n_threads);

#endif
