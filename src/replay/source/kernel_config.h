/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_config.h: which source has a kernel of a build? The kernel_config.py that a compiler leaves
 * beside its kernels says so. It is Python: python3 parses it, apart from its environment and without
 * running a line of it (ast), and tells the kernels with their paths. Or, where the user says so, it
 * imports it, behind walls: a scene test may make its lists.
 * Owner: strings live in the arena. May fail: status 5 without python3, 3 where the file is no
 * Python, lists no kernels, or a path in it is made in a way that is not followed.
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"

struct config_kernel {
	int64_t func;
	const char *name, *core, *source; /* core "aic", "aiv" or "" */
};
typedef VEC(struct config_kernel) config_kernels;

enum config_way {
	CONFIG_PARSED,
	CONFIG_IMPORTED,
	CONFIG_IMPORTED_UNSAFE /* without walls */
};

/* path: the file, or the folder that it lies in. */
bool kernel_config_read(struct arena *a, const char *path, enum config_way way, config_kernels *out,
	struct incore_error *e);
/* By its name or, where that is NULL, by its id; NULL with status 2 and the kernels that there are, or
 * the sources where several are called so. */
const struct config_kernel *kernel_config_find(
	const config_kernels *all, const char *name, int64_t func, struct incore_error *e);
