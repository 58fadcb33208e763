/* SPDX-License-Identifier: Apache-2.0 */
/* demangle.h: a C++ symbol as its programmer wrote it. */
#pragma once

#include "base/arena.h"

/* In the arena; "" when the name is not mangled or too long to try; NULL on lack of memory. */
const char *demangle(const char *name, struct arena *a);
