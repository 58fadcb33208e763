/* SPDX-License-Identifier: Apache-2.0 */
/* find.h: where is the manifest? Of a directory, a file, or a build directory with a dump below. */
#pragma once

#include "base/error.h"

/* Path of the manifest on the heap, or NULL with *e filled (an unclosed dump is named as such). */
char *dump_find(const char *path, struct incore_error *e);
