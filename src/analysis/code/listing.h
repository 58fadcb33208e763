/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listing.h: the code table with everything known about each row: totals, the producers its waits
 * waited for, where branches went and how often, and the loops it is in. It joins hot.h,
 * producers.h, cfg.h, loops.h and latency.h; nothing is computed twice.
 *
 * Owner: listing_new() .. listing_free(). Results after walk_tracks() with listing_collectors() and
 * one call of listing_finish(); without tracks call listing_finish() alone: the totals are then the
 * ones stated by the capture.
 */
#pragma once

#include "analysis/code/hot.h"
#include "analysis/code/live.h"
#include "analysis/code/loops.h"
#include "analysis/flow/cfg.h"
#include "analysis/pipes/pipes.h"
#include "analysis/waves/executions.h"
#include "analysis/waves/latency.h"
#include "analysis/waves/producers.h"
#include "analysis/waves/row_waves.h"

#define LISTING_COLLECTORS 7
#define LISTING_ROW_EDGES 2 /* most edges drawn per wait row: the dominating ones */

struct listing_row {
	uint64_t taken, not_taken;   /* branches only */
	uint32_t depth;		     /* number of loops around it */
	uint32_t loop;		     /* innermost, or NO_LOOP */
	uint32_t headed;	     /* loop whose header begins with this row, or NO_LOOP */
	uint32_t first_from, n_from; /* rows that branch here: range in listing.from */
	/* For a wait: its n_edges dominating edges, as indices into producers->edges. */
	uint32_t edge[LISTING_ROW_EDGES];
	uint8_t n_edges;
};

struct listing {
	struct arena arena;
	const struct trace *trace;
	struct hot *hot;
	struct producers *producers;
	struct pipes *pipes;	       /* only for a trace of pipes, else NULL */
	struct latency *latency;       /* with its pairs; without executions only the pairs */
	struct executions *executions; /* NULL unless asked for */
	struct row_waves *row_waves;   /* with executions */
	struct live *live;	       /* with executions */
	struct loops *loops;
	struct cfg cfg;
	struct listing_row *rows; /* by code_idx */
	struct hot_sums *bodies;  /* by loop: sums of its whole body, inner loops included */
	code_idx *from;
	code_idx hottest; /* row with most weight; NO_CODE: nothing was executed */
};

/* What makes a row hot: its latency, or its samples where the data is sampled. */
static inline uint64_t listing_weight(const struct listing *l, const struct hot_sums *s)
{
	return l->trace->samples ? s->samples : s->totals.latency;
}

struct listing *listing_new(const struct trace *t, bool with_executions, struct incore_error *e);
void listing_free(struct listing *l);
size_t listing_collectors(struct listing *l, struct collector out[LISTING_COLLECTORS]);
bool listing_finish(struct listing *l, struct incore_error *e);

/* Cycles of an edge: of waits on its counter alone plus those shared with another counter. */
static inline uint64_t edge_cycles(const struct producer_edge *x)
{
	return x->stall_cyc + x->shared_cyc;
}
