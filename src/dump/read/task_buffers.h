/* SPDX-License-Identifier: Apache-2.0 */
/* task_buffers.h: which tensors of a task share a buffer, and how large is it? Used by task_args.c
 * alone. No memory but the lists of the struct task_args. */
#pragma once

#include "dump/read/task_args.h"

/* The element behind the last one that a view touches, from its buffer's start. False where it, or
 * its bytes, leave 64 bits. */
bool task_view_end(
	const struct dump_geometry *g, uint64_t start, unsigned elem_bytes, uint64_t *end);
/* Fills buffers, and the buffer of each tensor. */
bool task_buffers_find(struct task_args *a, struct incore_error *e);
