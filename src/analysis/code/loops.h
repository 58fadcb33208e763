/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loops.h: how often each loop went round, and what an iteration cost.
 * Iteration: from one execution of the header to the next (of the first of its rows that leaves a
 * record), without leaving the body. A visit is a
 * run of iterations between entering and leaving; the last pass of a visit (header to the way out)
 * is no iteration. The cycles of an iteration are pieces of the conserved accounting: its buckets
 * add up to its cycles, exactly. A loop that was never repeated is listed with 0 iterations.
 *
 * Owner: loops_new() .. loops_free(); the graph is borrowed. Results are valid after walk_tracks()
 * and loops_finish().
 */
#pragma once

#include "analysis/code/cfg.h"
#include "analysis/walk.h"
#include "base/map.h"

/* Part of the time of iterations, by bucket and by the class of the record that holds it. */
struct loop_split {
	uint64_t n; /* iterations */
	uint64_t cyc;
	uint64_t bucket[BUCKET_COUNT];
};

struct loop_trips { /* waves with this many executions of the header */
	uint64_t executions, waves;
};

struct loop_stats {
	uint32_t loop;	     /* in cfg->loops */
	uint64_t executions; /* of the header */
	uint64_t waves;	     /* that reached it */
	uint64_t visits;
	uint64_t iterations; /* complete */
	uint64_t min_cyc, median_cyc, p95_cyc, max_cyc;
	struct loop_split all;
	/* Of all iterations, sums to all.cyc; NULL without any. */
	uint64_t (*cause)[CLASS_COUNT];
	struct loop_split first, steady, last; /* of visits; one iteration alone is `first` */
	uint64_t exit_n, exit_cyc;	       /* last passes: header to leaving */
	uint64_t prologue_cyc, epilogue_cyc;   /* of waves that reached it: before, after */
	/* Drift: cycles of the first and of the second half of each visit's iterations. */
	uint64_t early_n, early_cyc, late_n, late_cyc;
	uint32_t n_trips;
	struct loop_trips *trips; /* by executions */
};

struct loop_gather;

struct loops {
	struct arena arena;
	const struct cfg *cfg;
	uint32_t n;
	struct loop_stats *v;	     /* one per loop of the graph, same order */
	uint64_t n_waves;	     /* looked at */
	struct loop_gather **gather; /* private: by loop, NULL where none was executed */
};

struct loops *loops_new(const struct cfg *g);
void loops_free(struct loops *l);
struct collector loops_collector(struct loops *l);
/* Quantiles and trip lists, once after the walk. */
bool loops_finish(struct loops *l, struct incore_error *e);

/* Change of the mean from the first to the second half of a visit, in parts of 1; 0 if unknown. */
double loop_drift(const struct loop_stats *s);
/* "issue:VALU", "pipe-stall:MATRIX", "wait", "barrier", "nop", "gap", "drain", ... */
const char *loop_cause_name(enum bucket b, enum inst_class c, char buf[48]);
