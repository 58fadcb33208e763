/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spill.h: large blocks of memory in a file, for work whose tables grow with its input. Between
 * spill_begin() and spill_end() all blocks of SPILL_LEAST_BYTES and more that mem.h allocates are
 * pages of one unnamed file. Their disk space is reserved on allocation, so that a full disk gives
 * NULL like lack of memory; spill_error() tells them apart. mem_trim() releases resident pages when
 * there are many; they are loaded again on the next access.
 * Owner: a block belongs to the caller of mem_resize(), also after spill_end(). Threads: any; one
 * spill at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define SPILL_LEAST_BYTES ((size_t)64 << 10)
#define SPILL_RESIDENT_BYTES ((size_t)64 << 20) /* of the whole process */

/* Puts blocks into a file in this directory, which is created with the first block. */
void spill_begin(const char *dir);
void spill_end(void);
/* Returns false if the file failed since spill_begin(), and replaces *e by the reason. */
bool spill_error(struct incore_error *e);
