/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group.h: blocks of a page that belong together, for writers of documents: the lines of one
 * paragraph, the items of one list, the facts of one list of facts. Pure.
 */
#pragma once

#include "page/page.h"

struct block_group {
	const char *heading; /* right above it; NULL: none */
	const struct block *v;
	size_t n; /* 0: there is nothing below the heading */
};

/* The next group from block *at on, which moves behind it; false at the end. */
bool page_next_group(const struct page *p, size_t *at, struct block_group *out);

/* What stands in the head of an item or a fact, without blanks and marks of lists. */
struct str block_name(const struct block *b);
/* Does the block go on with the item or fact before it? */
bool block_goes_on(const struct block *b);
