/* SPDX-License-Identifier: Apache-2.0 */
/* A listing of symbols of any bytes: names are taken, one is chosen or the error says why not. */
#include <stdlib.h>

#include "replay/msprof/symbol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *const wanted[] = {"replay_entry", "k", NULL};
	struct strbuf names = {0};
	struct incore_error e = {0};
	struct symbol found = {0};
	struct symbol_lists l;
	struct arena a;

	arena_init(&a);
	symbol_names((struct str){(const char *)data, size}, &names);
	l = (struct symbol_lists){
		{names.p ? names.p : "", names.n}, {names.p ? names.p : "", names.n}};
	if (symbol_choose(&a, "fuzz", wanted, l, &found, &e) ? !found.mangled : !e.message)
		abort();
	l.demangled = (struct str){(const char *)data, size};
	if (!symbol_choose(&a, "fuzz", wanted, l, &found, &e) && !e.message)
		abort();
	incore_error_clear(&e);
	sb_free(&names);
	arena_deinit(&a);
	return 0;
}
