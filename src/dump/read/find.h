/* SPDX-License-Identifier: Apache-2.0 */
/* find.h: finds the manifest of a directory, a file, or a build directory with a dump below it. */
#pragma once

#include "base/error.h"

/* Path of the manifest on the heap, or NULL with *e filled (it says so if the dump was not
 * closed). */
char *dump_find(const char *path, struct incore_error *e);
