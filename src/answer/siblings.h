/* SPDX-License-Identifier: Apache-2.0 */
/*
 * siblings.h: captures of the same kernel, agent and code as a given one, with what is known of
 * them without reading their waves. For check (repeats, clocks), summary and diff (noise floor).
 * Owner: the caller; siblings_deinit() frees all.
 */
#pragma once

#include "analysis/check/check.h"
#include "import/import.h"

struct siblings {
	struct capture_list beside; /* owns the captures if they had to be searched for */
	VEC(struct check_sibling) facts;
	VEC(const struct capture *) captures; /* same order, borrowed */
	struct check_context ctx;
};

/* Finds the captures in `all` that are like `self`; all NULL: searches beside its path. Fails only
 * on lack of memory: what cannot be read is left out. The cache (may be NULL) keeps what was read
 * for the next call. */
bool siblings_find(struct siblings *s, const struct capture *self, const struct capture_list *all,
	struct capture_cache *cache, struct incore_error *e);
/* Do both paths lead to one capture? */
bool siblings_is_same(const struct file_fence *f, const char *a, const char *b);
void siblings_deinit(struct siblings *s);
