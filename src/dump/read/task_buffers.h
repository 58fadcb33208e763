/* SPDX-License-Identifier: Apache-2.0 */
/* task_buffers.h: which tensors of a task share a buffer, and how large is it? Only task_args.c
 * uses it. Allocates only the lists of struct task_args. */
#pragma once

#include "dump/read/task_args.h"

/* *end: one past the last element that a view touches, counted from its buffer's start. False if
 * it, or its size in bytes, exceeds 64 bits. */
bool task_view_end(
	const struct dump_geometry *g, uint64_t start, unsigned elem_bytes, uint64_t *end);
/* Fills buffers, and the buffer of each tensor. */
bool task_buffers_find(struct task_args *a, struct incore_error *e);
