/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipes.h: pipe by pipe: how long was it busy, how deep, where were the gaps, what did it wait for,
 * who overlapped with whom, and which chain of instructions and flags made the kernel this long?
 * For traces whose tracks are pipes (KIND_PIPES); pipe_sweep.h has the accounting.
 *
 *	struct pipes *p = pipes_new(trace, e);
 *	pipes_collect(p, &walk_options, &walk_result, e)
 *	... p->rows[track], p->cores, p->pairs, p->path, p->bound ...
 *	pipes_free(p);
 *
 * Owner: pipes_new() .. pipes_free(). With other questions in one walk: pipes_collector(), then
 * pipes_finish(). Quantiles: sorted[min(n - 1, floor(p * n))].
 */
#pragma once

#include "analysis/pipes/pipe_path.h"
#include "analysis/pipes/pipe_sweep.h"
#include "analysis/waves/causes.h"
#include "analysis/waves/producers.h"

#define PIPE_DEPTHS 16u /* of the histogram: the last counts all deeper ones too */

/* Producers of a wait that are not tracks. */
#define PRODUCER_NONE NO_TRACK		/* unknown: an unmatched wait */
#define PRODUCER_BARRIER (NO_TRACK - 1) /* a barrier */
#define PRODUCER_BUFFER (NO_TRACK - 2)	/* a buffer that was in use */

struct pipe_wait {	    /* waits of one pipe for one producer */
	track_idx producer; /* or PRODUCER_... */
	uint64_t cyc;	    /* exposed: the pipe did not work meanwhile */
	uint64_t count;	    /* executed */
	uint64_t blocked;   /* those that cost cycles */
};

enum gap_end { GAP_WAIT, GAP_STALL, GAP_IDLE, GAP_ENDS }; /* what a gap ended with */

struct pipe_gaps { /* between the stretches in which the pipe was busy */
	uint64_t n, p50, p90, p99, max, sum;
	uint64_t ended_by[GAP_ENDS];
};

struct busy_span {
	uint64_t from_cyc, to_cyc;
};

struct pipe_row {
	bool is_seen;
	bool is_cut; /* a window was given */
	enum pipe_role role;
	uint64_t begin_cyc, duration_cyc; /* those of its core, inside the window */
	uint64_t bucket[BUCKET_COUNT];
	uint64_t cache_cyc;	   /* part of the stall bucket known to be cache misses */
	uint64_t n_work, n_sync;   /* slices that start inside the window */
	uint64_t n_config, n_sets; /* part of n_work; part of n_sync */
	uint64_t row_hits_max;	   /* executions of the most executed row of real work */
	code_idx last_code;	   /* of the slice that ends last; NO_CODE: none */
	bool is_last_unmatched;	   /* that slice is a wait whose flag nobody set */
	uint64_t latency_cyc;	   /* sum of the lengths of work slices without head cost */
	uint64_t busy_cyc;	   /* union of the work slices: bucket issue */
	uint64_t config_cyc;	   /* part of busy_cyc: only register set-up */
	uint64_t depth_max, depth_cyc[PIPE_DEPTHS]; /* cycles with k + 1 in flight */
	uint64_t exposed_cyc;	      /* busy while no other work pipe of the core was busy */
	uint64_t first_cyc, last_cyc; /* of work slices; 0, 0 without any */
	struct pipe_gaps gaps;
	VEC(struct pipe_wait) waits; /* descending by cycles, then by name */
	VEC(struct busy_span) busy;  /* disjoint, in order */
};

struct pipe_core { /* tracks [first, first + n) share core and unit */
	track_idx first;
	uint32_t n;
	uint64_t begin_cyc, end_cyc;
	uint64_t busy_cyc;    /* at least one work pipe was busy */
	uint64_t compute_cyc; /* at least one compute pipe was busy */
	uint64_t *overlap;    /* n * n: cycles in which both were busy; diagonal: busy cycles of
				 one */
};

struct pipe_pair {			 /* exposed waits of all cores, by lane names */
	const char *producer, *consumer; /* producer NULL: unknown */
	bool is_cross_core;
	uint64_t cyc, count, blocked;
};

struct pipes_private; /* pipes_internal.h */

struct pipes {
	struct arena arena;
	const struct trace *trace;		  /* may be freed before pipes_free() is called */
	uint32_t n_tracks;			  /* of the trace */
	uint8_t *kinds;				  /* by code row */
	struct pipe_row *rows;			  /* by track */
	uint64_t n_pipes, n_instructions, n_sync; /* sums without lanes of marks */
	uint64_t n_unmatched;			  /* waits without a set */
	uint64_t n_unmatched_sets, n_reused; /* sets without a wait; flags in more than one pair */
	struct code_totals *row_totals;	     /* by code row: executions, lengths, head costs */
	uint64_t bucket[BUCKET_COUNT];
	uint64_t duration_cyc;
	int64_t residue_cyc; /* durations minus all buckets; must be 0 */
	struct pipe_core *cores;
	uint32_t n_cores;
	VEC(struct pipe_pair) pairs;	 /* descending by cycles, then by names */
	VEC(struct producer_edge) edges; /* awaited instruction -> wait, descending by cycles */
	struct pipe_path path;
	struct pipe_bound bound;
	struct pipes_private *private;
};

struct pipes *pipes_new(const struct trace *t, struct incore_error *e);
void pipes_free(struct pipes *p);
struct collector pipes_collector(struct pipes *p);
bool pipes_finish(struct pipes *p, struct incore_error *e);
bool pipes_collect(struct pipes *p, const struct walk_options *o, struct walk_result *r,
	struct incore_error *e);

/* Lane name of the producer of a wait: "MTE2", "BAR", "BUF"; NULL: unknown. */
const char *pipes_producer_name(const struct pipes *p, track_idx producer);
/* The pipes that were looked at, core by core in the order of the dataflow; allocated in `a`. */
bool pipes_sorted(const struct pipes *p, struct arena *a, track_idx **out, uint32_t *n,
	struct incore_error *e);

/* Convert the figures for other questions: causes by lane, and edges to the instruction whose flag
 * was awaited. The receivers must be new and not fed by a walk. */
bool pipes_fill_causes(const struct pipes *p, struct causes *c, struct incore_error *e);
bool pipes_fill_producers(const struct pipes *p, struct producers *x, struct incore_error *e);
