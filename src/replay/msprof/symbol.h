/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol.h: under which name does a library export a kernel? `nm -D` lists, one `c++filt` demangles
 * all names at once. May fail: status 6 where nm or c++filt fails, 5 where it is missing, 3 where no
 * symbol fits or several do: the error lists what is there.
 */
#pragma once

#include "base/arena.h"
#include "base/str.h"

struct symbol {
	const char *mangled, *demangled;
};

/* `names` in order of preference, NULL ends; `env` as of process.h. */
bool symbol_find(struct arena *a, const char *library, const char *const *names,
	const char *const *env, struct symbol *out, struct incore_error *e);

/* Its parts. "0000000000001139 T _Z1kPf": names of type T and W, a line each. */
void symbol_names(struct str listing, struct strbuf *names);
struct symbol_lists { /* lines that belong together */
	struct str mangled, demangled;
};
bool symbol_choose(struct arena *a, const char *library, const char *const *names,
	struct symbol_lists l, struct symbol *out, struct incore_error *e);
