/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discover.h: which kernels does a build hold? <build>/ptoas (its .cpp files) and those of every
 * level below next_levels; without these, any ptoas folder below that was not made by an earlier
 * profiler run.
 * A kernel's name is its file's stem; one of a nested level carries the levels in front, so that
 * ranks with equal stems stay apart. Owner: strings live in the arena. May fail: reading folders;
 * the error for a build without kernels (status 3) lists the searched places.
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"

struct build_kernel {
	const char *name;   /* "k", "next_levels.0.k" */
	const char *stem;   /* "k" */
	const char *source; /* path */
};

typedef VEC(struct build_kernel) build_kernels; /* by path */

bool discover_kernels(
	struct arena *a, const char *build, build_kernels *out, struct incore_error *e);
