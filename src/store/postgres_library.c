/* SPDX-License-Identifier: Apache-2.0 */
/* postgres_library.c: loads libpq, if the system has it. */
#include "store/postgres_library.h"

#include <dlfcn.h>

#define LIBRARY "libpq.so.5"

static bool find_all(void *library, struct pq *out)
{
	bool ok = true;

#define PQ_FIND(NAME)                                                                              \
	out->NAME = (__typeof__(&NAME))(uintptr_t)dlsym(library, #NAME);                           \
	ok = ok && out->NAME;
	PQ_FUNCTIONS(PQ_FIND)
#undef PQ_FIND
	return ok;
}

const struct pq *pq_load(struct incore_error *e)
{
	static struct pq pq;
	static bool is_loaded; /* a store belongs to one thread, and the program opens one */
	void *library;

	if (is_loaded)
		return &pq;
	library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library || !find_all(library, &pq)) {
		err_set(e, INCORE_MISSING, "no-libpq",
			"a store of PostgreSQL needs " LIBRARY
			", which is not here: apt install libpq5");
		return NULL;
	}
	is_loaded = true;
	return &pq;
}
