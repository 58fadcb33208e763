/* SPDX-License-Identifier: Apache-2.0 */
/* dated.h: folders that have the time in their name. */
#pragma once

#include "base/arena.h"
#include "base/error.h"

#define DATED_STAMP 32
/* The local time: 20260102_030405; has_gap: with the '_'. */
void dated_stamp(char out[DATED_STAMP], bool has_gap);
/* Creates a directory <stem>_<time>, with a number appended if that name is taken; NULL on
 * failure. */
const char *dated_dir(struct arena *a, const char *stem, unsigned mode, struct incore_error *e);
