/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listing.c: the figures for each row of the disassembly. Only the outcomes of branches are counted
 * here; the rest is joined from the analyses that own it.
 */
#include "analysis/code/listing.h"

#include <stdlib.h>

#include "analysis/code/live.h"
#include "analysis/code/samples.h"
#include "base/mem.h"
#include "isa/amd.h"
#include "isa/amd_operands.h"
#include "trace/kind.h"

/* --- live registers --------------------------------------------------------------------------- */

struct listing_flow {
	const struct cfg *g;
	struct arena arena;
	uint32_t words;		    /* words per set */
	uint32_t accum_at;	    /* first bit of accumulation registers: a multiple of 64 */
	uint64_t *need, *kill, *in; /* by block: read before written; written; live at its start */
	uint64_t *at, *reads, *writes;
	uint32_t *list; /* blocks to revisit, each listed at most once */
	uint8_t *is_listed;
};

static void row_sets(struct listing_flow *f, code_idx row)
{
	struct amd_live_sets s = {.reads = f->reads,
		.writes = f->writes,
		.accum_at = f->accum_at,
		.bits = f->words * 64};
	const struct code_row *r = &f->g->trace->code[row];

	memset(f->reads, 0, f->words * sizeof(uint64_t));
	memset(f->writes, 0, f->words * sizeof(uint64_t));
	amd_live_row((struct str){r->text, r->text_len}, &s);
}

static void sum_block(struct listing_flow *f, uint32_t b)
{
	const struct cfg_block *k = &f->g->blocks[b];
	uint64_t *need = f->need + (size_t)b * f->words, *kill = f->kill + (size_t)b * f->words;

	for (uint32_t i = 0; i < k->n; i++) {
		row_sets(f, f->g->rows[k->first + i]);
		for (uint32_t w = 0; w < f->words; w++) {
			need[w] |= f->reads[w] & ~kill[w];
			kill[w] |= f->writes[w];
		}
	}
}

/* Registers live after a block. */
static void after(const struct listing_flow *f, uint32_t b, uint64_t *out)
{
	memset(out, 0, f->words * sizeof(uint64_t));
	for (unsigned k = 0; k < CFG_EDGES; k++) {
		uint32_t to = f->g->blocks[b].succ[k];

		for (uint32_t w = 0; to != NO_BLOCK && w < f->words; w++)
			out[w] |= f->in[(size_t)to * f->words + w];
	}
}

static bool listing_visit(struct listing_flow *f, uint32_t b)
{
	const size_t at = (size_t)b * f->words;
	bool has_changed = false;

	after(f, b, f->at);
	for (uint32_t w = 0; w < f->words; w++) {
		uint64_t v = f->need[at + w] | (f->at[w] & ~f->kill[at + w]);

		has_changed |= v != f->in[at + w];
		f->in[at + w] = v;
	}
	return has_changed;
}

/* Visits every block once, last first, then the predecessors of changed blocks. Sets only grow, so
 * it terminates.
 */
static void listing_settle(struct listing_flow *f)
{
	const struct cfg *g = f->g;
	uint32_t n = 0;

	for (uint32_t b = 0; b < g->n_blocks; b++) {
		f->list[n++] = b;
		f->is_listed[b] = 1;
	}
	while (n > 0) {
		uint32_t b = f->list[--n];

		f->is_listed[b] = 0;
		if (!listing_visit(f, b))
			continue;
		for (uint32_t k = 0; k < g->blocks[b].n_preds; k++) {
			uint32_t p = g->preds[g->blocks[b].first_pred + k];

			if (!f->is_listed[p])
				f->list[n++] = p;
			f->is_listed[p] = 1;
		}
	}
}

static void listing_count_rows(struct listing_flow *f, struct live *l)
{
	for (uint32_t b = 0; b < f->g->n_blocks; b++) {
		const struct cfg_block *k = &f->g->blocks[b];

		after(f, b, f->at);
		for (uint32_t i = k->n; i-- > 0;) {
			struct live_row *r = &l->rows[f->g->rows[k->first + i]];

			row_sets(f, f->g->rows[k->first + i]);
			for (uint32_t w = 0; w < f->words; w++) {
				f->at[w] = (f->at[w] & ~f->writes[w]) | f->reads[w];
				*(w < f->accum_at / 64 ? &r->arch : &r->accum) +=
					(uint32_t)__builtin_popcountll(f->at[w]);
			}
			l->most.arch = r->arch > l->most.arch ? r->arch : l->most.arch;
			l->most.accum = r->accum > l->most.accum ? r->accum : l->most.accum;
		}
	}
}

static bool listing_solve(struct listing_flow *f, struct live *l)
{
	size_t n = (size_t)f->g->n_blocks * f->words + 1;

	f->need = arena_zalloc(&f->arena, n, sizeof(uint64_t));
	f->kill = arena_zalloc(&f->arena, n, sizeof(uint64_t));
	f->in = arena_zalloc(&f->arena, n, sizeof(uint64_t));
	f->at = arena_zalloc(&f->arena, f->words, sizeof(uint64_t));
	f->reads = arena_zalloc(&f->arena, f->words, sizeof(uint64_t));
	f->writes = arena_zalloc(&f->arena, f->words, sizeof(uint64_t));
	f->list = arena_zalloc(&f->arena, (size_t)f->g->n_blocks + 1, sizeof(*f->list));
	f->is_listed = arena_zalloc(&f->arena, (size_t)f->g->n_blocks + 1, 1);
	if (!f->need || !f->kill || !f->in || !f->at || !f->reads || !f->writes || !f->list ||
		!f->is_listed)
		return false;
	for (uint32_t b = 0; b < f->g->n_blocks; b++)
		sum_block(f, b);
	listing_settle(f);
	listing_count_rows(f, l);
	return true;
}

struct live *live_new(const struct cfg *g, struct incore_error *e)
{
	struct live *l = mem_zalloc(1, sizeof(*l));
	const struct trace *t = g->trace;
	struct listing_flow f = {.g = g};
	struct amd_regs most;
	bool ok = true;

	if (!l)
		return err_nomem_null(e);
	arena_init(&l->arena);
	arena_init(&f.arena);
	l->rows = arena_zalloc(&l->arena, (size_t)t->n_code + 1, sizeof(*l->rows));
	if (l->rows && vendor_row(t)->has_registers) {
		most = amd_regs_of_trace(t);
		f.accum_at = (most.arch + 63) / 64 * 64;
		f.words = f.accum_at / 64 + (most.accum + 63) / 64;
		ok = f.words == 0 || listing_solve(&f, l);
	}
	arena_deinit(&f.arena);
	if (l->rows && ok)
		return l;
	err_nomem(e);
	live_free(l);
	return NULL;
}

void live_free(struct live *l)
{
	if (!l)
		return;
	arena_deinit(&l->arena);
	mem_free(l);
}

/* --- the listing ------------------------------------------------------------------------------ */

struct branch_counts {
	uint64_t taken, not_taken;
};

static bool count_branches(
	void *self, void *mine, const struct walk_track *w, struct incore_error *e)
{
	const struct listing *l = self;
	struct branch_counts *counts = mine;
	const struct track_data *d = w->data;

	(void)e;
	for (uint32_t i = 0; i < d->n; i++) {
		code_idx code = d->code[i];

		if (d->inst_class[i] != CLASS_BRANCH || code >= l->trace->n_code)
			continue;
		if (d->start_cyc[i] < w->from_cyc || d->start_cyc[i] >= w->to_cyc)
			continue;
		counts[code].taken += d->tag[i] == AMD_CATEGORY_JUMP;
		counts[code].not_taken += d->tag[i] == AMD_CATEGORY_NEXT;
	}
	return true;
}

static bool merge_branches(void *self, void *mine, struct incore_error *e)
{
	struct listing *l = self;
	const struct branch_counts *counts = mine;

	(void)e;
	for (uint32_t i = 0; i < l->trace->n_code; i++) {
		l->rows[i].taken += counts[i].taken;
		l->rows[i].not_taken += counts[i].not_taken;
	}
	return true;
}

/* Finds the innermost loop of each row and its depth. */
static void place_in_loops(struct listing *l)
{
	const struct cfg *g = &l->cfg;

	for (uint32_t i = 0; i < l->trace->n_code; i++) {
		uint32_t block = g->block_of[i];

		l->rows[i].loop = l->rows[i].headed = NO_LOOP;
		if (block == NO_BLOCK)
			continue;
		l->rows[i].loop = g->blocks[block].loop;
		if (l->rows[i].loop != NO_LOOP)
			l->rows[i].depth = g->loops[l->rows[i].loop].depth;
	}
	for (uint32_t k = 0; k < g->n_loops; k++)
		l->rows[cfg_block_first(g, g->loops[k].header)].headed = k;
}

/* Lists for each row the rows that branch to it, in code order. */
static bool link_branches(struct listing *l, struct incore_error *e)
{
	const struct cfg *g = &l->cfg;
	uint32_t n = l->trace->n_code, total = 0;

	for (uint32_t i = 0; i < n; i++)
		if (g->target[i] < n)
			l->rows[g->target[i]].n_from++;
	for (uint32_t i = 0; i < n; i++) {
		l->rows[i].first_from = total;
		total += l->rows[i].n_from;
		l->rows[i].n_from = 0;
	}
	l->from = arena_zalloc(&l->arena, (size_t)total + 1, sizeof(*l->from));
	if (!l->from)
		return err_nomem(e);
	for (uint32_t i = 0; i < n; i++) {
		struct listing_row *to = g->target[i] < n ? &l->rows[g->target[i]] : NULL;

		if (to)
			l->from[to->first_from + to->n_from++] = i;
	}
	return true;
}

/* Edges are sorted costliest first: the first of a wait dominates it; a second one is kept if it
 * has at least a quarter of the first one's cycles. */
static void choose_edges(struct listing *l)
{
	for (size_t i = 0; i < l->producers->edges.n; i++) {
		const struct producer_edge *x = &l->producers->edges.v[i];
		struct listing_row *row = &l->rows[x->wait];

		if (row->n_edges == LISTING_ROW_EDGES || x->is_fixed)
			continue;
		if (row->n_edges > 0 &&
			edge_cycles(x) < edge_cycles(&l->producers->edges.v[row->edge[0]]) / 4 + 1)
			continue;
		row->edge[row->n_edges++] = (uint32_t)i;
	}
}

/* Adds the cost of each block to all loops around it. */
static bool add_up_bodies(struct listing *l, struct incore_error *e)
{
	const struct cfg *g = &l->cfg;

	l->bodies = arena_zalloc(&l->arena, (size_t)g->n_loops + 1, sizeof(*l->bodies));
	if (!l->bodies)
		return err_nomem(e);
	for (uint32_t k = 0; k < g->n_rows; k++) {
		uint32_t loop = g->blocks[g->block_of[g->rows[k]]].loop;

		for (; loop != NO_LOOP; loop = g->loops[loop].parent)
			hot_add(&l->bodies[loop], &l->hot->rows[g->rows[k]]);
	}
	return true;
}

static void listing_find_hottest(struct listing *l)
{
	uint64_t most = 0;

	l->hottest = NO_CODE;
	for (uint32_t i = 0; i < l->trace->n_code; i++) {
		uint64_t weight = listing_weight(l, &l->hot->rows[i]);

		if (weight <= most)
			continue;
		most = weight;
		l->hottest = i;
	}
}

static bool make(struct listing *l, bool with_executions, struct incore_error *e)
{
	const struct trace *t = l->trace;

	l->rows = arena_zalloc(&l->arena, (size_t)t->n_code + 1, sizeof(*l->rows));
	l->hot = hot_new(t);
	if (!l->rows || !l->hot)
		return err_nomem(e);
	if (trace_kind(t) == KIND_PIPES) {
		l->pipes = pipes_new(t, e);
		if (!l->pipes)
			return false;
	}
	l->producers = producers_new(t, PRODUCERS_EDGES, e);
	if (!l->producers || !cfg_build(&l->cfg, t, e))
		return false;
	l->loops = loops_new(&l->cfg);
	if (!l->loops)
		return err_nomem(e);
	l->latency = latency_new(t, e);
	if (!l->latency || !latency_with_pairs(l->latency, &l->cfg, e))
		return false;
	l->latency->is_pairs_only = !with_executions;
	if (!with_executions)
		return true;
	l->executions = executions_new(t, e);
	l->row_waves = l->executions ? row_waves_new(t, e) : NULL;
	l->live = l->row_waves ? live_new(&l->cfg, e) : NULL;
	return l->live != NULL;
}

struct listing *listing_new(const struct trace *t, bool with_executions, struct incore_error *e)
{
	struct listing *l = mem_zalloc(1, sizeof(*l));

	if (!l)
		return err_nomem_null(e);
	arena_init(&l->arena);
	l->trace = t;
	if (make(l, with_executions, e))
		return l;
	listing_free(l);
	return NULL;
}

void listing_free(struct listing *l)
{
	if (!l)
		return;
	live_free(l->live);
	row_waves_free(l->row_waves);
	executions_free(l->executions);
	latency_free(l->latency);
	loops_free(l->loops);
	pipes_free(l->pipes);
	cfg_deinit(&l->cfg);
	producers_free(l->producers);
	hot_free(l->hot);
	arena_deinit(&l->arena);
	mem_free(l);
}

size_t listing_collectors(struct listing *l, struct collector out[LISTING_COLLECTORS])
{
	size_t n = 0;

	out[n++] = hot_collector(l->hot);
	if (l->executions) {
		out[n++] = executions_collector(l->executions);
		out[n++] = row_waves_collector(l->row_waves);
	}
	if (l->pipes) { /* branches and loops cannot be derived from pipes */
		out[n++] = pipes_collector(l->pipes);
		return n;
	}
	out[n++] = producers_collector(l->producers);
	out[n++] = loops_collector(l->loops);
	out[n++] = (struct collector){l, l->trace->n_code * sizeof(struct branch_counts), NULL,
		count_branches, merge_branches, NULL};
	out[n++] = latency_collector(l->latency);
	return n;
}

bool listing_finish(struct listing *l, struct incore_error *e)
{
	if (l->trace->n_tracks == 0)
		hot_take_stated(l->hot);
	if (!producers_finish(l->producers, e))
		return false;
	if (trace_kind(l->trace) == KIND_SAMPLES && !samples_fill_producers(l->producers, e))
		return false;
	if (l->pipes &&
		(!pipes_finish(l->pipes, e) || !pipes_fill_producers(l->pipes, l->producers, e)))
		return false;
	if (!loops_finish(l->loops, e))
		return false;
	if (!latency_finish(l->latency, e))
		return false;
	if (l->executions && !executions_finish(l->executions, e))
		return false;
	place_in_loops(l);
	if (!link_branches(l, e) || !add_up_bodies(l, e))
		return false;
	choose_edges(l);
	listing_find_hottest(l);
	return true;
}
