/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfg.h: the static control-flow graph of the code table: basic blocks, dominators, natural loops
 * and their nesting. A backward jump is neither necessary nor sufficient for a loop (compilers
 * rotate them), so loops come from dominators alone.
 *
 * Rows are taken in the order of (code object, address); a second row at the same address is a
 * duplicate of the first. Symbols and rows after a hole in the addresses are entries; if jumps go
 * to unknown places, blocks that nothing else reaches are entries too. s_setpc has no static
 * successor; a call is assumed to return. Odd addresses give odd graphs, never a failure.
 *
 * Owner: the caller; cfg_deinit() frees all. May fail: cfg_build(), on lack of memory; it then
 * holds nothing. Read-only once built.
 */
#pragma once

#include "base/arena.h"
#include "trace/trace.h"

#define NO_BLOCK UINT32_MAX
#define NO_LOOP UINT32_MAX

enum cfg_edge { CFG_FALL, CFG_JUMP, CFG_EDGES };

struct cfg_block {
	uint32_t first, n;	      /* rows g->rows[first .. first + n) */
	uint32_t succ[CFG_EDGES];     /* NO_BLOCK: no such edge; never equal to each other */
	uint32_t first_pred, n_preds; /* into g->preds */
	uint32_t idom;		      /* immediate dominator; NO_BLOCK: has none, or is
					 unreachable */
	uint32_t dom_in,
		dom_out; /* preorder interval in the dominator tree; in > out: unreachable */
	uint32_t loop;	 /* innermost loop it is in, or NO_LOOP */
	bool is_entry;
};

struct cfg_loop {
	uint32_t header; /* block */
	uint32_t parent; /* enclosing loop, or NO_LOOP */
	uint32_t depth;	 /* 1: outermost */
	uint32_t latch;	 /* block with the back edge; the lowest of several */
	uint32_t n_latches;
	uint32_t n_blocks, n_rows; /* of the body, inner loops included */
	uint32_t enter, leave;	   /* preorder interval in the loop tree */
	bool is_innermost;
};

struct cfg {
	struct arena arena;
	const struct trace *trace;
	uint32_t n_rows;
	code_idx *rows;	    /* instruction rows by (code object, address), without duplicates */
	uint32_t *block_of; /* by code_idx; NO_BLOCK for labels; a duplicate has the block of its
			       first */
	code_idx *target;   /* by code_idx: row a branch jumps to, or NO_CODE */
	uint32_t n_blocks;
	struct cfg_block *blocks; /* in row order */
	uint32_t n_preds;
	uint32_t *preds;
	uint32_t n_loops;
	struct cfg_loop *loops;	  /* by header row order */
	uint32_t *loop_of_header; /* by block: the loop it heads, or NO_LOOP */
	uint32_t *loop_at;	  /* by code_idx: the loop whose passes begin there, or NO_LOOP */
	bool is_irreducible;	  /* some cycle has two entries: it is not in loops */
	uint32_t n_indirect;	  /* jumps without a static target */
	uint32_t n_wild;	  /* branches to an address without a row */
	uint32_t n_duplicates;	  /* rows at the same address as an earlier one */
};

bool cfg_build(struct cfg *g, const struct trace *t, struct incore_error *e);
void cfg_deinit(struct cfg *g);

static inline bool cfg_loop_holds(const struct cfg *g, uint32_t loop, uint32_t inner)
{
	return inner != NO_LOOP && g->loops[inner].enter >= g->loops[loop].enter &&
	       g->loops[inner].leave <= g->loops[loop].leave;
}

/* Is the block in the body of the loop? */
static inline bool cfg_loop_has(const struct cfg *g, uint32_t loop, uint32_t block)
{
	return block != NO_BLOCK && cfg_loop_holds(g, loop, g->blocks[block].loop);
}

static inline code_idx cfg_block_first(const struct cfg *g, uint32_t block)
{
	return g->rows[g->blocks[block].first];
}

/* The first row of a block whose execution is recorded, or NO_CODE. */
code_idx cfg_block_traced(const struct cfg *g, uint32_t block);

static inline code_idx cfg_block_last(const struct cfg *g, uint32_t block)
{
	return g->rows[g->blocks[block].first + g->blocks[block].n - 1];
}

/* Does block a dominate block b? Both must be reachable. */
static inline bool cfg_dominates(const struct cfg *g, uint32_t a, uint32_t b)
{
	return g->blocks[a].dom_in <= g->blocks[b].dom_in &&
	       g->blocks[b].dom_out <= g->blocks[a].dom_out;
}
