/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sass_graph.h: the control flow graph of code in one or more texts, for backward searches. Blocks
 * end at branches and calls. A call's block leads to the block after it ("over") only as far as the
 * called function lets a search through; the searcher decides that. Functions are sets of blocks
 * that branches connect: code that two entries share makes one function of both.
 * Owner: the caller's arena. May fail: memory.
 */
#pragma once

#include "isa/sass/sass_waits.h"

struct sass_block {
	uint32_t first, n; /* instructions */
	uint32_t function;
	bool is_call;	/* ends in a call, whose target may be unknown */
	bool is_entry;	/* target of a call */
	bool is_return; /* ends in a return */
	bool is_over;	/* follows a call: block - 1 is that call */
};

/* Lists of numbers; list i is item[first[i]] to item[first[i + 1] - 1]. */
struct sass_lists {
	const uint32_t *first, *item;
};

struct sass_graph {
	uint32_t n_inst, n_blocks;
	const struct sass_inst *inst;
	const uint64_t *address;
	const struct sass_block *block;
	const uint32_t *block_of;  /* by instruction */
	struct sass_lists before;  /* by block: blocks that branch or fall into it */
	struct sass_lists after;   /* by block: blocks it branches or falls into */
	struct sass_lists returns; /* by function: its blocks that return */
	struct sass_lists callers; /* by block that is an entry: blocks that call it */
	struct sass_lists callees; /* by block that ends in a call: the entries it calls */
	struct sass_lists sites;   /* by function: blocks that call one of its entries */
	uint32_t n_indirect;	   /* branches and calls with no known target */
};

bool sass_graph_make(struct arena *a, unsigned sm, const struct sass_text *texts, size_t n_texts,
	const struct sass_jump *jumps, size_t n_jumps, struct sass_graph *out);
