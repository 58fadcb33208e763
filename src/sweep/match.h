/* SPDX-License-Identifier: Apache-2.0 */
/*
 * match.h: the paths that match a pattern of a plan, as glob() finds them, but within a fence:
 * below the attempt's folder no link may lead out of it; elsewhere no link may lead out of the
 * folder that the pattern names before its first wildcard.
 * Owner: sweep_matches_free(), also after a failure. May fail: only on memory.
 */
#pragma once

#include "base/file_fence.h"

struct sweep_matches {
	char **v;
	size_t n, cap;
};

/* out: the folder of the attempt. *f receives the fence described above. */
bool sweep_match(struct sweep_matches *m, const char *pattern, const char *out,
	struct file_fence *f, struct incore_error *e);
void sweep_matches_free(struct sweep_matches *m);
