/* SPDX-License-Identifier: Apache-2.0 */
/*
 * match.h: the paths that fit a pattern of a plan, as glob() finds them, but within a fence: of what
 * lies below the folder of the attempt no link leads out of that, else none leads out of the folder
 * that the pattern names before its first wildcard.
 * Owner: sweep_matches_free(), also after a failure. May fail: memory alone.
 */
#pragma once

#include "base/file_fence.h"

struct sweep_matches {
	char **v;
	size_t n, cap;
};

/* out: the folder of the attempt. The fence gets what was named above. */
bool sweep_match(struct sweep_matches *m, const char *pattern, const char *out,
	struct file_fence *f, struct incore_error *e);
void sweep_matches_free(struct sweep_matches *m);
