/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loops.h: how often each loop iterated, and what an iteration cost. An iteration goes from one
 * execution of the header (of its first row that is recorded) to the next, without leaving the
 * body. A visit is a run of iterations between entering and leaving; the last pass of a visit (from
 * the header to the exit) is not an iteration. The cycles of an iteration are pieces of the
 * conserved accounting: its buckets add up to its cycles, exactly. A loop that was never repeated
 * is listed with 0 iterations.
 *
 * Owner: loops_new() .. loops_free(); the graph is borrowed. Results are valid after walk_tracks()
 * and loops_finish().
 */
#pragma once

#include "analysis/flow/cfg.h"
#include "analysis/walk.h"
#include "base/map.h"

/* Cycles of a set of iterations, by bucket. */
struct loop_split {
	uint64_t n; /* iterations */
	uint64_t cyc;
	uint64_t bucket[BUCKET_COUNT];
};

struct loop_trips { /* number of waves that executed the header so often */
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
	/* Causes of all iterations, adding up to all.cyc; NULL without iterations. */
	uint64_t (*cause)[CLASS_COUNT];
	struct loop_split first, steady, last; /* position within the visit; a single iteration is
						  `first` */
	uint64_t exit_n, exit_cyc;	       /* last passes: header to leaving */
	uint64_t prologue_cyc, epilogue_cyc;   /* in waves that reached it: cycles before and
						  after it */
	/* Drift: cycles of the first half and of the second half of each visit's iterations. */
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
	uint64_t n_waves;	     /* waves looked at */
	struct loop_gather **gather; /* private: by loop, NULL where it was not executed */
};

struct loops *loops_new(const struct cfg *g);
void loops_free(struct loops *l);
struct collector loops_collector(struct loops *l);
/* Computes quantiles and trip lists; call once after the walk. */
bool loops_finish(struct loops *l, struct incore_error *e);

/* Relative change of the mean from the first to the second half of a visit (0.1 is 10 %); 0 if
 * unknown. */
double loop_drift(const struct loop_stats *s);
/* "issue:VALU", "pipe-stall:MATRIX", "wait", "barrier", "nop", "gap", "drain", ... */
const char *loop_cause_name(enum bucket b, enum inst_class c, char buf[48]);
