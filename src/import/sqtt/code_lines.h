/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_lines.h: the code of a trace as a table of decoded lines, one per word, made page by page
 * on first use. Owner: one decoding, including the state of the lines.
 */
#pragma once

#include "import/sqtt/decoder.h"

struct sqtt_pc {
	uint64_t addr; /* 0: unknown */
	uint32_t object;
};

enum line_state { LINE_PARSED = 1, LINE_EXCLUDED = 2 };
#define CODE_EXCLUDED 255u /* class of an excluded line: equal to no other class */

struct code_line {
	uint8_t words;	    /* length / 4; 0: not decodable */
	uint8_t inst_class; /* under the rules of this decoding */
	uint8_t flags;
	uint8_t state;	      /* enum line_state: what 0.1.6 records about s_barrier_wait lines */
	int32_t branch_words; /* target minus own word */
};

#define PAGE_LINES 1024u
struct code_pages { /* pages of one segment */
	const struct sqtt_segment *segment;
	uint64_t n_words;
	struct code_line **pages;
};

struct code_lines {
	enum amd_arch arch;
	bool is_c16;
	bool is_failed; /* out of memory: no more lines are decoded */
	size_t n;
	struct code_pages *segments;
	struct code_pages *last; /* found last */
};

/* A place in code; segment NULL: no place. */
struct code_at {
	struct code_pages *segment;
	uint64_t idx;  /* index of the word; past the end: no place */
	uint64_t base; /* address of word 0, in the address space that `object` implies */
	uint32_t object;
};

bool code_lines_init(struct code_lines *c, const struct sqtt_code *code, enum amd_arch arch,
	bool is_c16, struct incore_error *e);
void code_lines_deinit(struct code_lines *c);
struct code_at code_find(struct code_lines *c, struct sqtt_pc pc);
/* Decodes the page of word idx; NULL when out of memory. */
struct code_line *code_load_page(struct code_lines *c, struct code_pages *s, uint64_t page);

/* The line at a place, or NULL. */
static inline struct code_line *code_get(struct code_lines *c, const struct code_at *at)
{
	struct code_line *page, *line;

	if (!at->segment || at->idx >= at->segment->n_words)
		return NULL;
	page = at->segment->pages[at->idx / PAGE_LINES];
	if (!page && !(page = code_load_page(c, at->segment, at->idx / PAGE_LINES)))
		return NULL;
	line = &page[at->idx % PAGE_LINES];
	return line->words ? line : NULL;
}

static inline uint64_t code_addr(const struct code_at *at)
{
	return at->base + 4 * at->idx;
}
