/* SPDX-License-Identifier: Apache-2.0 */
/*
 * case.h: runs the program that makes a build, and finds the build that it made: the newest folder
 * with kernels in it that has changed since. The program is the user's own and runs with all rights
 * of this one. Owner: the path lives in the arena. May fail: status 6 if the program fails, 5 if it
 * cannot be started, 3 if it leaves no build.
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"

struct case_request {
	const char *script; /* *.py: for python3; else a program */
	const char *const *args;
	unsigned n_args;
	const char *output_root; /* where builds are made */
	bool (*is_cancelled)(void *ctx);
	void *cancel_ctx;
};

bool case_run(
	struct arena *a, const struct case_request *q, const char **build, struct incore_error *e);
