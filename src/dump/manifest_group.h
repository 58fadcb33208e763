/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_group.h: everything that a log says about one task: its descriptions, one per dispatch
 * and block, its records in the order of the manifest, and which descriptions lack arguments.
 * Owner: the caller's struct, reused from task to task; group_deinit() frees. One thread. May fail:
 * memory.
 */
#pragma once

#include "base/vec.h"
#include "dump/manifest_scan.h"

struct group_arg {
	uint64_t dispatch_id, off;
	uint32_t block_idx, slot;
	uint8_t stage, role;
};

struct group_task {
	struct log_task what;
	uint64_t off;
	uint32_t found; /* arguments */
	bool is_incomplete;
};

struct group {
	uint64_t task_id;
	bool has_loss;
	VEC(struct group_task) tasks; /* by dispatch, block */
	VEC(struct group_arg) args;   /* by stage, slot, block, dispatch, place in the log */
	VEC(struct group_arg) own;    /* copy of args, by dispatch, block, slot */
	VEC(uint32_t) after;	      /* slots with an after copy, ascending */
};

void group_reset(struct group *g, uint64_t task_id);
void group_deinit(struct group *g);
/* Adds a TASK, TENSOR or SCALAR record of this task. */
bool group_add(struct group *g, const struct log_record *rec, struct incore_error *e);
/* After the last add: sorts, and marks incomplete tasks (level 1 records no full argument list). */
bool group_finish(struct group *g, int level, struct incore_error *e);
/* The task description of a dispatch and block, or NULL. */
const struct group_task *group_find(
	const struct group *g, uint64_t dispatch_id, uint32_t block_idx);
