/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launches.h: which kernels an application launches, and when: what a discovery run left
 * (*_kernel_trace.csv, a file a process). A launch has an ordinal, counted from 1 per kernel id:
 * what kernel_iteration_range means.
 * Owner: launches_init() .. launches_deinit(). May fail: files that are no kernel trace, memory.
 */
#pragma once

#include "base/arena.h"
#include "base/vec.h"

struct seen_kernel {
	const char *name;
	uint64_t id;	  /* of its process */
	uint32_t process; /* which file it stands in */
	uint32_t launches;
	uint64_t total_ns, longest_ns;
	uint64_t first_dispatch;
};

struct launch {
	uint64_t dispatch;
	uint32_t kernel;  /* index */
	uint32_t ordinal; /* of its kernel id, 1-based */
	uint64_t ns;
};

struct launches {
	struct arena arena;
	VEC(struct seen_kernel) kernels; /* the one with most time first */
	VEC(struct launch) v;		 /* by process, then dispatch */
	uint32_t n_processes;
};

void launches_init(struct launches *l);
void launches_deinit(struct launches *l);
/* Adds what the files of a directory, and of those in it, tell. */
bool launches_read(struct launches *l, const char *dir, struct incore_error *e);
/* Sorts the kernels; ordinals are given from here on. */
bool launches_finish(struct launches *l, struct incore_error *e);
