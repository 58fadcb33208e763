/* SPDX-License-Identifier: Apache-2.0 */
/* demangle.h: a C++ symbol as its programmer wrote it. */
#pragma once

#include "base/arena.h"

/* In the arena; "" if the name is not mangled or too long; NULL when out of memory. */
const char *demangle(const char *name, struct arena *a);
