/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sass_search.h: which instructions can have raised a counter before an instruction is reached: a
 * backward search over the graph that ends where the counter was last known to be empty.
 *
 * Calls are followed exactly: a search that enters a function through its returns leaves it only by
 * the call it came from, and skips the function if some path through it does not empty the counter.
 * Owner: the caller's arena. May fail: only during set-up, on lack of memory.
 */
#pragma once

#include "isa/sass/sass_graph.h"

/* Scoreboards are 0 to 5. */
enum sass_count {
	SASS_COUNT_WGMMA = SASS_COUNTER_WGMMA, /* closed groups of asynchronous matrix work */
	SASS_COUNT_COPIES,		       /* LDGSTS not yet in a group */
	SASS_COUNT_MATRIX,		       /* asynchronous matrix work not yet in a group */
	SASS_COUNT_BULK,		       /* bulk copies not yet in a group */
	SASS_COUNTS
};

struct sass_searcher; /* in the arena */

struct sass_searcher *sass_searcher_new(struct arena *a, const struct sass_graph *g);

/* Fills found with at most SASS_MOST_CANDIDATES instructions, nearest first, that raised `count`
 * and can still be outstanding when `inst` waits for all but the newest `skip`. Returns their
 * number. *cut: there may be more. */
uint32_t sass_search(struct sass_searcher *s, uint32_t inst, enum sass_count count, unsigned skip,
	uint32_t *found, bool *cut);
