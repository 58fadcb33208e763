/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol.h: under which name does a library export a kernel? `nm -D` lists the names, one `c++filt`
 * demangles them all. May fail: status 6 if nm or c++filt fails, 5 if it is missing, 3 if no symbol
 * or several fit: the error lists the symbols.
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

/* Parts of symbol_find(). From lines like "0000000000001139 T _Z1kPf" this takes the names of types
 * T and W, one per line. */
void symbol_names(struct str listing, struct strbuf *names);
struct symbol_lists { /* lines that belong together */
	struct str mangled, demangled;
};
bool symbol_choose(struct arena *a, const char *library, const char *const *names,
	struct symbol_lists l, struct symbol *out, struct incore_error *e);
