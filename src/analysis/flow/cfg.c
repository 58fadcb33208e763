/* SPDX-License-Identifier: Apache-2.0 */
/* cfg.c: builds the graph: sorts rows by address, cuts them into blocks, links the blocks.
 */
#include "analysis/flow/cfg.h"

#include <string.h>

#include "analysis/flow/cfg_internal.h"
#include "base/search.h"
#include "isa/amd.h"

/* The longest instruction is 20 bytes; a larger step in the addresses is a hole. */
#define MAX_STEP_BYTES 64u

struct row_key {
	uint32_t code_object;
	uint64_t address;
	code_idx code;
};

struct builder {
	struct cfg *g;
	struct row_key *keys; /* by position */
	uint8_t *is_leader;   /* by position */
	uint8_t *is_entry;    /* by position */
	uint32_t *jump;	      /* by position: position of the target, or NO_BLOCK */
	uint8_t *ends;	      /* by position: the next row does not follow */
};

ORDER(compare_keys, struct row_key, UP(code_object) UP(address) UP(code))

static struct str text_of(const struct cfg *g, uint32_t position)
{
	const struct code_row *r = &g->trace->code[g->rows[position]];

	return (struct str){r->text, r->text_len};
}

/* Fills g->rows and keys without duplicates, whose block_of holds the position for now. */
static bool sort_rows(struct builder *b, struct incore_error *e)
{
	struct cfg *g = b->g;
	const struct trace *t = g->trace;
	uint32_t n = 0;

	b->keys = arena_zalloc(&g->arena, t->n_code + 1u, sizeof(*b->keys));
	g->rows = arena_zalloc(&g->arena, t->n_code + 1u, sizeof(*g->rows));
	g->block_of = arena_zalloc(&g->arena, t->n_code + 1u, sizeof(*g->block_of));
	g->target = arena_zalloc(&g->arena, t->n_code + 1u, sizeof(*g->target));
	if (!b->keys || !g->rows || !g->block_of || !g->target)
		return err_nomem(e);
	for (code_idx i = 0; i < t->n_code; i++) {
		g->block_of[i] = NO_BLOCK;
		g->target[i] = NO_CODE;
		if (!t->code[i].is_label)
			b->keys[n++] =
				(struct row_key){t->code[i].code_object, t->code[i].address, i};
	}
	SORT(b->keys, n, compare_keys);
	for (uint32_t i = 0; i < n; i++) {
		struct row_key k = b->keys[i];
		uint32_t last = g->n_rows - 1;

		if (g->n_rows > 0 && b->keys[last].code_object == k.code_object &&
			b->keys[last].address == k.address) {
			g->n_duplicates++;
		} else {
			g->rows[g->n_rows] = k.code;
			b->keys[g->n_rows++] = k;
		}
		g->block_of[k.code] = g->n_rows - 1;
	}
	return true;
}

static uint32_t find_row(const struct builder *b, uint32_t code_object, uint64_t address)
{
	uint32_t lo = 0, hi = b->g->n_rows;

	BISECT(lo, hi, i,
		b->keys[i].code_object < code_object ||
			(b->keys[i].code_object == code_object && b->keys[i].address < address));
	if (lo < b->g->n_rows && b->keys[lo].code_object == code_object &&
		b->keys[lo].address == address)
		return lo;
	return NO_BLOCK;
}

/* Is row i + 1 the next instruction in memory? */
static bool is_next(const struct builder *b, uint32_t i)
{
	return i + 1 < b->g->n_rows && b->keys[i].code_object == b->keys[i + 1].code_object &&
	       b->keys[i + 1].address - b->keys[i].address <= MAX_STEP_BYTES;
}

static void mark_entries(struct builder *b)
{
	const struct trace *t = b->g->trace;

	for (code_idx i = 0; i < t->n_code; i++) {
		uint32_t at;

		if (!t->code[i].is_label)
			continue;
		at = find_row(b, t->code[i].code_object, t->code[i].address);
		if (at == NO_BLOCK && i + 1 < t->n_code && !t->code[i + 1].is_label)
			at = b->g->block_of[i + 1];
		if (at != NO_BLOCK)
			b->is_leader[at] = b->is_entry[at] = 1;
	}
	for (uint32_t i = 0; i < b->g->n_rows; i++)
		if (i == 0 || !is_next(b, i - 1))
			b->is_leader[i] = b->is_entry[i] = 1;
}

struct flow { /* where a row can go, besides to the next row */
	bool is_jump, is_indirect;
	bool ends;    /* it does not go on to the next row */
	uint32_t to;  /* position; NO_BLOCK: none, or unknown */
	bool is_wild; /* a target without a row */
};

/* Derives it from the text. A call returns to the next row. */
static struct flow flow_by_text(const struct builder *b, uint32_t i)
{
	struct str text = text_of(b->g, i);
	struct flow f = {.to = NO_BLOCK};
	uint64_t target;

	f.is_jump = str_starts(text, "s_branch") || str_starts(text, "s_cbranch");
	f.is_indirect = str_starts(text, "s_setpc") || str_starts(text, "s_swappc") ||
			str_starts(text, "s_rfe");
	f.ends = amd_ends_block(text) && !str_starts(text, "s_swappc");
	if (f.is_jump && amd_branch_target(text, b->keys[i].address, &target)) {
		f.to = find_row(b, b->keys[i].code_object, target);
		f.is_wild = f.to == NO_BLOCK;
	}
	return f;
}

/* Derives it from links made by the importer from the code bytes. Of several targets only the first
 * is followed. */
static struct flow flow_by_links(const struct builder *b, uint32_t i)
{
	const struct trace *t = b->g->trace;
	struct flow f = {.to = NO_BLOCK};
	uint32_t n;
	const struct code_link *l = trace_links_of(t, b->g->rows[i], &n);

	for (uint32_t k = 0; k < n; k++) {
		const struct code_row *to = &t->code[l[k].to];

		f.ends |= l[k].kind == CODE_LINK_GOTO || l[k].kind == CODE_LINK_END;
		if ((l[k].kind != CODE_LINK_GOTO && l[k].kind != CODE_LINK_JUMP) || f.is_jump)
			continue;
		f.is_jump = true;
		f.to = find_row(b, to->code_object, to->address);
	}
	return f;
}

static struct flow flow_of(const struct builder *b, uint32_t i)
{
	return b->g->trace->meta.vendor == VENDOR_NVIDIA ? flow_by_links(b, i) : flow_by_text(b, i);
}

static void mark_branches(struct builder *b)
{
	struct cfg *g = b->g;

	for (uint32_t i = 0; i < g->n_rows; i++) {
		struct flow f = flow_of(b, i);

		b->jump[i] = f.to;
		b->ends[i] = f.ends;
		g->n_indirect += f.is_indirect;
		g->n_wild += f.is_wild;
		if (f.to != NO_BLOCK) {
			g->target[g->rows[i]] = g->rows[f.to];
			b->is_leader[f.to] = 1;
		}
		if (i + 1 < g->n_rows && (f.is_jump || f.ends))
			b->is_leader[i + 1] = 1;
	}
	for (code_idx i = 0; i < g->trace->n_code; i++) /* duplicates jump where their first does */
		if (g->block_of[i] != NO_BLOCK)
			g->target[i] = g->target[g->rows[g->block_of[i]]];
}

static bool cut_blocks(struct builder *b, struct incore_error *e)
{
	struct cfg *g = b->g;
	uint32_t n = 0, *block_at;

	for (uint32_t i = 0; i < g->n_rows; i++)
		n += b->is_leader[i];
	g->blocks = arena_zalloc(&g->arena, n + 1u, sizeof(*g->blocks));
	block_at = arena_zalloc(&g->arena, g->n_rows + 1u, sizeof(*block_at));
	if (!g->blocks || !block_at)
		return err_nomem(e);
	for (uint32_t i = 0; i < g->n_rows; i++) {
		if (b->is_leader[i])
			g->blocks[g->n_blocks++] = (struct cfg_block){
				.first = i,
				.succ = {NO_BLOCK, NO_BLOCK},
				.idom = NO_BLOCK,
				.dom_in = 1,
				.loop = NO_LOOP,
				.is_entry = b->is_entry[i],
			};
		g->blocks[g->n_blocks - 1].n++;
		block_at[i] = g->n_blocks - 1;
	}
	for (code_idx i = 0; i < g->trace->n_code; i++)
		if (g->block_of[i] != NO_BLOCK)
			g->block_of[i] = block_at[g->block_of[i]];
	for (uint32_t k = 0; k < g->n_blocks; k++) {
		struct cfg_block *block = &g->blocks[k];
		uint32_t last = block->first + block->n - 1;

		if (b->jump[last] != NO_BLOCK)
			block->succ[CFG_JUMP] = block_at[b->jump[last]];
		if (is_next(b, last) && !b->ends[last])
			block->succ[CFG_FALL] = k + 1;
		if (block->succ[CFG_FALL] == block->succ[CFG_JUMP])
			block->succ[CFG_JUMP] = NO_BLOCK;
	}
	return true;
}

static bool join_preds(struct cfg *g, struct incore_error *e)
{
	uint32_t at = 0;

	for (uint32_t k = 0; k < g->n_blocks; k++)
		for (unsigned s = 0; s < CFG_EDGES; s++)
			if (g->blocks[k].succ[s] != NO_BLOCK)
				g->blocks[g->blocks[k].succ[s]].n_preds++;
	for (uint32_t k = 0; k < g->n_blocks; k++) {
		g->blocks[k].first_pred = at;
		at += g->blocks[k].n_preds;
		g->blocks[k].n_preds = 0;
	}
	g->n_preds = at;
	g->preds = arena_zalloc(&g->arena, at + 1u, sizeof(*g->preds));
	if (!g->preds)
		return err_nomem(e);
	for (uint32_t k = 0; k < g->n_blocks; k++) {
		for (unsigned s = 0; s < CFG_EDGES; s++) {
			if (g->blocks[k].succ[s] == NO_BLOCK)
				continue;
			struct cfg_block *to = &g->blocks[g->blocks[k].succ[s]];

			g->preds[to->first_pred + to->n_preds++] = k;
		}
	}
	return true;
}

static bool build(struct builder *b, struct incore_error *e)
{
	struct cfg *g = b->g;
	uint32_t *order, n;

	if (!sort_rows(b, e))
		return false;
	b->is_leader = arena_zalloc(&g->arena, g->n_rows + 1u, 1);
	b->is_entry = arena_zalloc(&g->arena, g->n_rows + 1u, 1);
	b->jump = arena_zalloc(&g->arena, g->n_rows + 1u, sizeof(*b->jump));
	b->ends = arena_zalloc(&g->arena, g->n_rows + 1u, 1);
	if (!b->is_leader || !b->is_entry || !b->jump || !b->ends)
		return err_nomem(e);
	mark_entries(b);
	mark_branches(b);
	return cut_blocks(b, e) && join_preds(g, e) && cfg_find_dominators(g, &order, &n, e) &&
	       cfg_find_loops(g, order, n, e);
}

bool cfg_build(struct cfg *g, const struct trace *t, struct incore_error *e)
{
	struct builder b = {.g = g};

	*g = (struct cfg){.trace = t};
	arena_init(&g->arena);
	if (build(&b, e))
		return true;
	cfg_deinit(g);
	return false;
}

void cfg_deinit(struct cfg *g)
{
	arena_deinit(&g->arena);
	*g = (struct cfg){0};
}
