/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spill.h: large blocks of memory in a file, for work whose tables grow with its input. Between
 * spill_begin() and spill_end() all blocks of SPILL_LEAST_BYTES and more that come through mem.h
 * are pages of one file that has no name. Their room on the disk is taken when they are made, so
 * that a full disk is a NULL as lack of memory is; spill_error() says which it was. mem_trim() gives
 * the pages back that are in memory once they are many; they come back at the next touch.
 * Owner: a block is whoever's mem_resize() made it, also after spill_end(). Threads: any; one spill
 * at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define SPILL_LEAST_BYTES ((size_t)64 << 10)
#define SPILL_RESIDENT_BYTES ((size_t)64 << 20) /* of the whole process */

/* Blocks shall lie in a file in this directory, made with the first block. */
void spill_begin(const char *dir);
void spill_end(void);
/* Did the file fail since spill_begin()? Then false, with the reason in the place of what *e says. */
bool spill_error(struct incore_error *e);
