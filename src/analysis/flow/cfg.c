/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfg.c: builds the graph: sorts rows by address, cuts them into blocks, links the blocks.
 * Divisions: loops; the graph.
 */
#include "analysis/flow/cfg.h"

#include <string.h>

#include "base/search.h"
#include "isa/amd.h"

/* --- loops ------------------------------------------------------------------------------------ */

/*
 * Finds loops. Dominators after Lengauer and Tarjan (the simple form), then natural
 * loops, inner ones first, folded into their headers so that nesting costs next to nothing.
 */

#define ROOT 1u /* virtual root above all entries */

/* Vertices are preorder numbers 1..n; 0 means no vertex. */
struct dominators {
	struct cfg *g;
	uint32_t n;
	uint32_t *vertex; /* number -> block */
	uint32_t *number; /* block -> number, 0: not reached */
	uint32_t *parent, *semi, *ancestor, *label, *idom;
	uint32_t *bucket, *next_in_bucket;
	uint32_t *path; /* scratch */
};

static bool alloc_dominators(struct dominators *d)
{
	uint32_t **arrays[] = {&d->vertex, &d->number, &d->parent, &d->semi, &d->ancestor,
		&d->label, &d->idom, &d->bucket, &d->next_in_bucket, &d->path};

	for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
		*arrays[i] = arena_zalloc(&d->g->arena, d->g->n_blocks + 2u, sizeof(uint32_t));
		if (!*arrays[i])
			return false;
	}
	return true;
}

static void visit(struct dominators *d, uint32_t block, uint32_t parent)
{
	uint32_t v = ++d->n;

	d->number[block] = v;
	d->vertex[v] = block;
	d->parent[v] = parent;
	d->semi[v] = d->label[v] = v;
}

/* Depth first from one entry; path is the stack, idom (not yet in use) the next edge of a vertex.
 */
static void search_from(struct dominators *d, uint32_t entry)
{
	uint32_t depth = 0;

	visit(d, entry, ROOT);
	d->path[depth++] = d->n;
	while (depth > 0) {
		uint32_t v = d->path[depth - 1], to;

		if (d->idom[v] >= CFG_EDGES) {
			depth--;
			continue;
		}
		to = d->g->blocks[d->vertex[v]].succ[d->idom[v]++];
		if (to != NO_BLOCK && d->number[to] == 0) {
			visit(d, to, v);
			d->path[depth++] = d->n;
		}
	}
}

static void search_all(struct dominators *d)
{
	struct cfg *g = d->g;

	d->n = ROOT;
	d->vertex[ROOT] = NO_BLOCK;
	d->semi[ROOT] = d->label[ROOT] = ROOT;
	for (uint32_t i = 0; i < g->n_blocks; i++)
		if (g->blocks[i].is_entry && d->number[i] == 0)
			search_from(d, i);
	if (g->n_indirect + g->n_wild == 0)
		return; /* unreachable */
	for (unsigned pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < g->n_blocks; i++) {
			if (d->number[i] != 0 || (pass == 0 && g->blocks[i].n_preds > 0))
				continue;
			g->blocks[i].is_entry = true;
			search_from(d, i);
		}
	}
}

static uint32_t eval(struct dominators *d, uint32_t v)
{
	uint32_t depth = 0, u = v;

	if (d->ancestor[v] == 0)
		return v;
	while (d->ancestor[d->ancestor[u]] != 0) {
		d->path[depth++] = u;
		u = d->ancestor[u];
	}
	while (depth > 0) {
		uint32_t w = d->path[--depth], a = d->ancestor[w];

		if (d->semi[d->label[a]] < d->semi[d->label[w]])
			d->label[w] = d->label[a];
		d->ancestor[w] = d->ancestor[a];
	}
	return d->label[v];
}

static void find_semi(struct dominators *d, uint32_t w)
{
	const struct cfg_block *b = &d->g->blocks[d->vertex[w]];

	for (uint32_t i = 0; i < b->n_preds; i++) {
		uint32_t p = d->number[d->g->preds[b->first_pred + i]], u;

		if (p == 0)
			continue;
		u = eval(d, p);
		if (d->semi[u] < d->semi[w])
			d->semi[w] = d->semi[u];
	}
	if (b->is_entry)
		d->semi[w] = ROOT;
}

static void find_idoms(struct dominators *d)
{
	for (uint32_t w = d->n; w > ROOT; w--) {
		uint32_t p = d->parent[w];

		find_semi(d, w);
		d->next_in_bucket[w] = d->bucket[d->semi[w]];
		d->bucket[d->semi[w]] = w;
		d->ancestor[w] = p;
		for (uint32_t v = d->bucket[p]; v != 0; v = d->next_in_bucket[v]) {
			uint32_t u = eval(d, v);

			d->idom[v] = d->semi[u] < d->semi[v] ? u : p;
		}
		d->bucket[p] = 0;
	}
	for (uint32_t w = ROOT + 1; w <= d->n; w++)
		if (d->idom[w] != d->semi[w])
			d->idom[w] = d->idom[d->idom[w]];
}

/* Preorder intervals of a forest whose parents come before their children (0: no parent). */
static void number_tree(
	uint32_t n, const uint32_t *parent, uint32_t *size, uint32_t *in, uint32_t *next)
{
	for (uint32_t v = 0; v <= n; v++)
		size[v] = 1;
	for (uint32_t v = n; v >= 1; v--)
		size[parent[v]] += size[v];
	in[0] = 0;
	next[0] = 1;
	for (uint32_t v = 1; v <= n; v++) {
		in[v] = next[parent[v]];
		next[parent[v]] += size[v];
		next[v] = in[v] + 1;
	}
}

/* Dominators of the blocks; (*order)[1..*n] are the reached blocks in depth-first preorder. */
static bool cfg_find_dominators(
	struct cfg *g, uint32_t **order, uint32_t *n, struct incore_error *e)
{
	struct dominators d = {.g = g};

	if (!alloc_dominators(&d))
		return err_nomem(e);
	search_all(&d);
	for (uint32_t v = 0; v <= d.n; v++)
		d.idom[v] = 0; /* was the edge counter of the search */
	find_idoms(&d);
	number_tree(d.n, d.idom, d.semi, d.label, d.bucket);
	for (uint32_t v = ROOT + 1; v <= d.n; v++) {
		struct cfg_block *b = &g->blocks[d.vertex[v]];

		b->idom = d.vertex[d.idom[v]];
		b->dom_in = d.label[v];
		b->dom_out = d.label[v] + d.semi[v] - 1;
	}
	number_tree(d.n, d.parent, d.semi, d.label, d.bucket);
	for (uint32_t v = ROOT + 1; v <= d.n; v++) {
		const struct cfg_block *b = &g->blocks[d.vertex[v]];

		for (unsigned s = 0; s < CFG_EDGES; s++) {
			uint32_t to = b->succ[s] == NO_BLOCK ? 0 : d.number[b->succ[s]];
			bool is_retreating = to != 0 && d.label[to] <= d.label[v] &&
					     d.label[v] < d.label[to] + d.semi[to];

			if (is_retreating && !cfg_dominates(g, b->succ[s], d.vertex[v]))
				g->is_irreducible = true;
		}
	}
	*order = d.vertex + ROOT;
	*n = d.n - ROOT;
	return true;
}

struct cfg_finder {
	struct cfg *g;
	uint32_t *fold; /* union-find: block -> header it is folded into */
	uint32_t *work;
};

static uint32_t find_root(struct cfg_finder *f, uint32_t x)
{
	uint32_t root = x;

	while (f->fold[root] != root)
		root = f->fold[root];
	while (f->fold[x] != root) {
		uint32_t next = f->fold[x];

		f->fold[x] = root;
		x = next;
	}
	return root;
}

static bool is_back_edge(const struct cfg *g, uint32_t from, uint32_t to)
{
	const struct cfg_block *b = &g->blocks[from];

	return b->dom_in <= b->dom_out && cfg_dominates(g, to, from);
}

/* Folds x into header h and queues its predecessors. */
static void take_block(struct cfg_finder *f, uint32_t x, uint32_t h, uint32_t *n_work)
{
	if (x == h || f->fold[x] != x)
		return;
	f->fold[x] = h;
	f->work[(*n_work)++] = x;
}

static void fill_body(struct cfg_finder *f, uint32_t loop)
{
	struct cfg *g = f->g;
	struct cfg_loop *l = &g->loops[loop];
	const struct cfg_block *head = &g->blocks[l->header];
	uint32_t n_work = 0;

	g->blocks[l->header].loop = loop;
	for (uint32_t i = 0; i < head->n_preds; i++) {
		uint32_t p = g->preds[head->first_pred + i];

		if (!is_back_edge(g, p, l->header))
			continue;
		l->latch = p < l->latch ? p : l->latch;
		l->n_latches++;
		take_block(f, find_root(f, p), l->header, &n_work);
	}
	while (n_work > 0) {
		uint32_t x = f->work[--n_work];
		const struct cfg_block *b = &g->blocks[x];

		if (b->loop == NO_LOOP)
			g->blocks[x].loop = loop;
		else
			g->loops[b->loop].parent = loop;
		for (uint32_t i = 0; i < b->n_preds; i++) {
			uint32_t p = g->preds[b->first_pred + i];

			if (g->blocks[p].dom_in <= g->blocks[p].dom_out)
				take_block(f, find_root(f, p), l->header, &n_work);
		}
	}
}

static bool list_headers(struct cfg *g)
{
	g->loop_of_header = arena_zalloc(&g->arena, g->n_blocks + 1u, sizeof(uint32_t));
	if (!g->loop_of_header)
		return false;
	for (uint32_t i = 0; i < g->n_blocks; i++) {
		const struct cfg_block *b = &g->blocks[i];

		g->loop_of_header[i] = NO_LOOP;
		for (uint32_t k = 0; k < b->n_preds; k++) {
			if (!is_back_edge(g, g->preds[b->first_pred + k], i))
				continue;
			g->loop_of_header[i] = g->n_loops++;
			break;
		}
	}
	g->loops = arena_zalloc(&g->arena, g->n_loops + 1u, sizeof(*g->loops));
	if (!g->loops)
		return false;
	for (uint32_t i = 0; i < g->n_blocks; i++)
		if (g->loop_of_header[i] != NO_LOOP)
			g->loops[g->loop_of_header[i]] = (struct cfg_loop){.header = i,
				.parent = NO_LOOP,
				.latch = NO_BLOCK,
				.is_innermost = true};
	return true;
}

/* Depth, sizes and the preorder interval of each loop; by_header: loops, outer before inner. */
static bool nest_loops(struct cfg *g, const uint32_t *by_header, struct incore_error *e)
{
	uint32_t *a = arena_zalloc(&g->arena, ((size_t)g->n_loops + 1) * 5, sizeof(uint32_t));
	uint32_t *parent = a, *size, *in, *next, *rank;

	if (!a)
		return err_nomem(e);
	size = a + (g->n_loops + 1);
	in = size + (g->n_loops + 1);
	next = in + (g->n_loops + 1);
	rank = next + (g->n_loops + 1);
	for (uint32_t i = 0; i < g->n_blocks; i++) {
		if (g->blocks[i].loop == NO_LOOP)
			continue;
		g->loops[g->blocks[i].loop].n_blocks++;
		g->loops[g->blocks[i].loop].n_rows += g->blocks[i].n;
	}
	for (uint32_t i = 0; i < g->n_loops; i++)
		rank[by_header[i]] = i + 1;
	for (uint32_t i = 0; i < g->n_loops; i++) {
		struct cfg_loop *l = &g->loops[by_header[i]];

		l->depth = l->parent == NO_LOOP ? 1 : g->loops[l->parent].depth + 1;
		parent[i + 1] = l->parent == NO_LOOP ? 0 : rank[l->parent];
	}
	number_tree(g->n_loops, parent, size, in, next);
	for (uint32_t i = g->n_loops; i-- > 0;) {
		struct cfg_loop *l = &g->loops[by_header[i]];

		l->enter = in[i + 1];
		l->leave = in[i + 1] + size[i + 1] - 1;
		if (l->parent == NO_LOOP)
			continue;
		g->loops[l->parent].is_innermost = false;
		g->loops[l->parent].n_blocks += l->n_blocks;
		g->loops[l->parent].n_rows += l->n_rows;
	}
	return true;
}

code_idx cfg_block_traced(const struct cfg *g, uint32_t block)
{
	const struct trace *t = g->trace;
	const struct cfg_block *b = &g->blocks[block];

	for (uint32_t i = 0; i < b->n; i++) {
		const struct code_row *r = &t->code[g->rows[b->first + i]];
		struct str text = {r->text, r->text_len};

		if (!amd_is_untraced(t->meta.gfx_major, text))
			return g->rows[b->first + i];
	}
	return NO_CODE;
}

/* First recorded row of a pass of the loop: in the header, or in what it falls into if nothing of
 * it is traced. NO_CODE if that row also begins an inner loop, since it cannot tell the two
 * apart. */
static code_idx find_head(const struct cfg *g, uint32_t loop)
{
	uint32_t block = g->loops[loop].header;
	code_idx head = cfg_block_traced(g, block);

	for (uint32_t n = 0; head == NO_CODE && n < g->loops[loop].n_blocks; n++) {
		block = g->blocks[block].succ[CFG_FALL];
		if (!cfg_loop_has(g, loop, block) || g->loop_of_header[block] != NO_LOOP)
			return NO_CODE;
		head = cfg_block_traced(g, block);
	}
	return head;
}

/* Duplicate rows at the address of a head count as the head. */
static bool list_heads(struct cfg *g)
{
	code_idx *head = arena_zalloc(&g->arena, g->n_blocks + 1u, sizeof(*head));

	g->loop_at = arena_zalloc(&g->arena, g->trace->n_code + 1u, sizeof(*g->loop_at));
	if (!head || !g->loop_at)
		return false;
	for (uint32_t i = 0; i < g->n_blocks; i++)
		head[i] = NO_CODE;
	for (uint32_t i = 0; i < g->n_loops; i++) {
		code_idx row = find_head(g, i);

		if (row == NO_CODE)
			continue;
		head[g->block_of[row]] = row;
		g->loop_at[row] = i;
	}
	for (code_idx i = 0; i < g->trace->n_code; i++) {
		code_idx row = g->block_of[i] == NO_BLOCK ? NO_CODE : head[g->block_of[i]];

		if (row == NO_CODE || g->trace->code[i].address != g->trace->code[row].address)
			g->loop_at[i] = NO_LOOP;
		else
			g->loop_at[i] = g->loop_at[row];
	}
	return true;
}

/* Natural loops and their nesting. */
static bool cfg_find_loops(struct cfg *g, const uint32_t *order, uint32_t n, struct incore_error *e)
{
	struct cfg_finder f = {.g = g};
	uint32_t *by_header, k = 0;

	if (!list_headers(g))
		return err_nomem(e);
	f.fold = arena_zalloc(&g->arena, g->n_blocks + 1u, sizeof(uint32_t));
	f.work = arena_zalloc(&g->arena, g->n_blocks + 1u, sizeof(uint32_t));
	by_header = arena_zalloc(&g->arena, g->n_loops + 1u, sizeof(uint32_t));
	if (!f.fold || !f.work || !by_header)
		return err_nomem(e);
	for (uint32_t i = 0; i < g->n_blocks; i++)
		f.fold[i] = i;
	for (uint32_t v = n; v >= 1; v--)
		if (g->loop_of_header[order[v]] != NO_LOOP)
			fill_body(&f, g->loop_of_header[order[v]]);
	for (uint32_t v = 1; v <= n; v++)
		if (g->loop_of_header[order[v]] != NO_LOOP)
			by_header[k++] = g->loop_of_header[order[v]];
	return nest_loops(g, by_header, e) && (list_heads(g) || err_nomem(e));
}

/* --- the graph -------------------------------------------------------------------------------- */

/* The longest instruction is 20 bytes; a larger step in the addresses is a hole. */
#define MAX_STEP_BYTES 64u

struct row_key {
	uint32_t code_object;
	uint64_t address;
	code_idx code;
};

struct cfg_builder {
	struct cfg *g;
	struct row_key *keys; /* by position */
	uint8_t *is_leader;   /* by position */
	uint8_t *is_entry;    /* by position */
	uint32_t *jump;	      /* by position: position of the target, or NO_BLOCK */
	uint8_t *ends;	      /* by position: the next row does not follow */
};

ORDER(compare_keys, struct row_key, UP(code_object) UP(address) UP(code))

static struct str cfg_text_of(const struct cfg *g, uint32_t position)
{
	const struct code_row *r = &g->trace->code[g->rows[position]];

	return (struct str){r->text, r->text_len};
}

/* Fills g->rows and keys without duplicates, whose block_of holds the position for now. */
static bool sort_rows(struct cfg_builder *b, struct incore_error *e)
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

static uint32_t cfg_find_row(const struct cfg_builder *b, uint32_t code_object, uint64_t address)
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
static bool is_next(const struct cfg_builder *b, uint32_t i)
{
	return i + 1 < b->g->n_rows && b->keys[i].code_object == b->keys[i + 1].code_object &&
	       b->keys[i + 1].address - b->keys[i].address <= MAX_STEP_BYTES;
}

static void mark_entries(struct cfg_builder *b)
{
	const struct trace *t = b->g->trace;

	for (code_idx i = 0; i < t->n_code; i++) {
		uint32_t at;

		if (!t->code[i].is_label)
			continue;
		at = cfg_find_row(b, t->code[i].code_object, t->code[i].address);
		if (at == NO_BLOCK && i + 1 < t->n_code && !t->code[i + 1].is_label)
			at = b->g->block_of[i + 1];
		if (at != NO_BLOCK)
			b->is_leader[at] = b->is_entry[at] = 1;
	}
	for (uint32_t i = 0; i < b->g->n_rows; i++)
		if (i == 0 || !is_next(b, i - 1))
			b->is_leader[i] = b->is_entry[i] = 1;
}

struct cfg_flow { /* where a row can go, besides to the next row */
	bool is_jump, is_indirect;
	bool ends;    /* it does not go on to the next row */
	uint32_t to;  /* position; NO_BLOCK: none, or unknown */
	bool is_wild; /* a target without a row */
};

/* Derives it from the text. A call returns to the next row. */
static struct cfg_flow flow_by_text(const struct cfg_builder *b, uint32_t i)
{
	struct str text = cfg_text_of(b->g, i);
	struct cfg_flow f = {.to = NO_BLOCK};
	uint64_t target;

	f.is_jump = str_starts(text, "s_branch") || str_starts(text, "s_cbranch");
	f.is_indirect = str_starts(text, "s_setpc") || str_starts(text, "s_swappc") ||
			str_starts(text, "s_rfe");
	f.ends = amd_ends_block(text) && !str_starts(text, "s_swappc");
	if (f.is_jump && amd_branch_target(text, b->keys[i].address, &target)) {
		f.to = cfg_find_row(b, b->keys[i].code_object, target);
		f.is_wild = f.to == NO_BLOCK;
	}
	return f;
}

/* Derives it from links made by the importer from the code bytes. Of several targets only the first
 * is followed. */
static struct cfg_flow flow_by_links(const struct cfg_builder *b, uint32_t i)
{
	const struct trace *t = b->g->trace;
	struct cfg_flow f = {.to = NO_BLOCK};
	uint32_t n;
	const struct code_link *l = trace_links_of(t, b->g->rows[i], &n);

	for (uint32_t k = 0; k < n; k++) {
		const struct code_row *to = &t->code[l[k].to];

		f.ends |= l[k].kind == CODE_LINK_GOTO || l[k].kind == CODE_LINK_END;
		if ((l[k].kind != CODE_LINK_GOTO && l[k].kind != CODE_LINK_JUMP) || f.is_jump)
			continue;
		f.is_jump = true;
		f.to = cfg_find_row(b, to->code_object, to->address);
	}
	return f;
}

static struct cfg_flow cfg_flow_of(const struct cfg_builder *b, uint32_t i)
{
	return b->g->trace->meta.vendor == VENDOR_NVIDIA ? flow_by_links(b, i) : flow_by_text(b, i);
}

static void mark_branches(struct cfg_builder *b)
{
	struct cfg *g = b->g;

	for (uint32_t i = 0; i < g->n_rows; i++) {
		struct cfg_flow f = cfg_flow_of(b, i);

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

static bool cut_blocks(struct cfg_builder *b, struct incore_error *e)
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

static bool build(struct cfg_builder *b, struct incore_error *e)
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
	struct cfg_builder b = {.g = g};

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
