/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group.h: groups of blocks that belong together, for writers of documents: the lines of one
 * paragraph, the items of one list, the facts of one list of facts. Pure functions.
 */
#pragma once

#include "page/page.h"

struct block_group {
	const char *heading; /* right above it; NULL: none */
	const struct page_block *v;
	size_t n; /* 0: there is nothing below the heading */
};

/* The next group from block *at on; moves *at behind it. False at the end. */
bool page_next_group(const struct page *p, size_t *at, struct block_group *out);

/* The head of an item or a fact, without blanks and list marks. */
struct str block_name(const struct page_block *b);
/* Does the block continue the item or fact before it? */
bool block_goes_on(const struct page_block *b);
