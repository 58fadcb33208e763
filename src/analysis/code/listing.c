/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listing.c: the figures for each row of the disassembly. Only the outcomes of branches are counted
 * here; the rest is joined from the analyses that own it.
 */
#include "analysis/code/listing.h"
#include "analysis/code/samples.h"

#include <stdlib.h>

#include "base/mem.h"
#include "isa/amd.h"
#include "trace/kind.h"

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

static void find_hottest(struct listing *l)
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
	find_hottest(l);
	return true;
}
