/* SPDX-License-Identifier: Apache-2.0 */
/* cupti_load.c: loads the symbols of the installed CUPTI. */
#include <dlfcn.h>
#include <string.h>

#include "cuda/cupti.h"

static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
#define N_NAMES (sizeof(names) / sizeof(*names))

/* Two CUPTIs in one process conflict: if one is loaded already, it is used. */
static void *open_library(const char *path)
{
	void *h = NULL;

	for (size_t i = 0; !h && i < N_NAMES; i++)
		h = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD);
	if (!h && path && *path)
		h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; !h && i < N_NAMES; i++)
		h = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	return h;
}

/* ISO C does not convert object pointers to function pointers; POSIX guarantees that this copy
 * works. */
static bool find(void *library, const char *symbol, void *to)
{
	void *p = dlsym(library, symbol);

	memcpy(to, &p, sizeof(p));
	return p != NULL;
}

bool cupti_load(struct cupti *c, const char *path, const char **why)
{
	void *driver;

	*c = (struct cupti){.library = open_library(path)};
	if (!c->library) {
		*why = dlerror();
		return false;
	}
	c->has_sass = true;
#define FIND(FIELD, SYMBOL, PARAMS)                                                                \
	if (!find(c->library, SYMBOL, &c->FIELD)) {                                                \
		*why = SYMBOL " is not in this libcupti: CUDA 11.3 is the first that has it";      \
		return false;                                                                      \
	}
	CUPTI_FUNCTIONS(FIND)
#undef FIND
#define FIND(FIELD, SYMBOL, PARAMS) c->has_sass &= find(c->library, SYMBOL, &c->FIELD);
	CUPTI_SASS_FUNCTIONS(FIND)
#undef FIND
	driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	if (driver)
		find(driver, "cuCtxSynchronize", &c->synchronize);
	return true;
}

bool cupti_is_stand_in(const struct cupti *c)
{
	return dlsym(c->library, "incore_stand_in") != NULL;
}

const char *cupti_says(const struct cupti *c, uint32_t result)
{
	const char *text = NULL;

	return c->result_string && c->result_string(result, &text) == CUPTI_OK && text
		       ? text
		       : "an unknown result";
}
