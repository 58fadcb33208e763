/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launches.h: which kernels an application launches, and when: read from the files of a discovery
 * run (*_kernel_trace.csv, one per process). A launch has an ordinal, counted from 1 per kernel id,
 * as in kernel_iteration_range.
 * Owner: launches_init() .. launches_deinit(). May fail: on files that are not kernel traces, on
 * memory.
 */
#pragma once

#include "base/arena.h"
#include "base/vec.h"

struct seen_kernel { /* of one process and id */
	const char *name;
	uint64_t id, process, launches, first_dispatch;
	uint64_t total_ns, longest_ns;
	double total_us, mean_us, longest_us, share; /* share: percent of the time of all */
	bool is_chosen;				     /* set by the caller */
	uint32_t index;				     /* private */
};

struct launch {
	uint64_t process, dispatch, ns;
	uint32_t kernel;  /* index */
	uint32_t ordinal; /* of its kernel id, 1-based */
};

struct launches {
	struct arena arena;
	VEC(struct seen_kernel) kernels; /* longest total time first */
	VEC(struct launch) v;		 /* by process, then dispatch */
	uint64_t n_processes;
};

void launches_init(struct launches *l);
void launches_deinit(struct launches *l);
/* Reads the files of a directory and its subdirectories. Call it once. */
bool launches_read(struct launches *l, const char *dir, struct incore_error *e);
