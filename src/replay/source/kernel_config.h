/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_config.h: which source belongs to a kernel of a build? The kernel_config.py that a
 * compiler leaves beside its kernels states it. python3 parses it (ast), isolated from its
 * environment and without running any of it, and lists the kernels with their paths. If the user
 * asks for it, python3 imports the file instead, behind walls: a scene test may compute its lists.
 * Owner: strings live in the arena. May fail: status 5 without python3, 3 if the file is not
 * Python, lists no kernels, or builds a path in an unsupported way.
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

/* A case of a scene test, of its list CASES. */
struct config_case {
	const char *name, *platforms; /* with blanks between */
	const char *params;	      /* "num_heads=16 head_dim=128": numbers and words */
	bool is_manual;		      /* not run unless it is named */
};
typedef VEC(struct config_case) config_cases;

enum config_way {
	CONFIG_PARSED,
	CONFIG_IMPORTED,
	CONFIG_IMPORTED_UNSAFE /* without walls */
};

/* path: the file, or the folder that contains it. */
bool kernel_config_read(struct arena *a, const char *path, enum config_way way, config_kernels *out,
	struct incore_error *e);
/* Reads the cases, too; *hidden_line: where cases are computed, which only an import shows; 0: nowhere.
 * A module may have no kernels, if it has cases. */
bool config_module_read(struct arena *a, const char *path, enum config_way way,
	config_kernels *kernels, config_cases *cases, uint32_t *hidden_line,
	struct incore_error *e);
/* The case of that name; NULL: the first. NULL with status 2 where there is none: the error lists
 * them. */
const struct config_case *config_case_find(const config_cases *all, const char *name,
	const char *path, uint32_t hidden_line, struct incore_error *e);
/* A number among the params; `none` where it is not there. */
uint64_t config_case_param(const struct config_case *c, const char *name, uint64_t none);
/* Finds a kernel by name or, if that is NULL, by id. NULL with status 2: not found (the error lists
 * the kernels) or ambiguous (it lists the sources). */
const struct config_kernel *kernel_config_find(
	const config_kernels *all, const char *name, int64_t func, struct incore_error *e);
