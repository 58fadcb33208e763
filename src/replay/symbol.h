/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol.h: under which name does a library export a kernel? `nm -D` lists, one `c++filt` demangles
 * all names at once. May fail: status 6 where nm or c++filt fails, 5 where it is missing, 3 where no
 * symbol or several fit: the error lists the candidates.
 */
#ifndef REPLAY_SYMBOL_H
#define REPLAY_SYMBOL_H

#include "base/arena.h"
#include "base/str.h"

struct symbol {
	const char *mangled, *demangled;
};

/* `names` in order of preference, NULL ends; `env` as of process.h. */
bool symbol_find(struct arena *a, const char *library, const char *const *names,
	const char *const *env, struct symbol *out, struct incore_error *e);

#endif
