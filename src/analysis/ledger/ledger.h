/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger.h: what bounds a kernel, and what would a change bring? Waits are symptoms: a unit that is
 * full makes everybody wait for something else. The ledger has both halves: how long the busiest
 * instance of each unit needs for what it was asked to do, and which waits no full unit explains.
 *
 *	unit cycles	share of the peak / practical share of the peak (isa/rates.h) x elapsed
 *	queue		waits far longer than those of an idle machine, and full queues
 *	exposed		share of samples taken while the scheduler issued nothing, by reason
 *	bound		a unit or the queue at LEDGER_FULL of the window, else latency or the launch
 *
 * A change names what it takes away: a factor on each unit, on the queue and on the latency that is
 * left. The time after it is composed of what stands; how far the parts overlap is not known, so
 * the interval is the hull over serial and overlapped composition and over a favourable and an
 * unfavourable effect. Everything is computed from sums over rows, in the order of the rows, by
 * additions, divisions and square roots alone: the same input gives the same bits everywhere.
 *
 * The counters are those of Nsight Compute's reports. A trace without them has no ledger.
 * Owner: the caller; ledger_free(). Strings lie in its arena. May fail: memory.
 */
#pragma once

#include "analysis/ledger/change.h"

#define LEDGER_FULL .80 /* a unit at this share of its practical peak binds the kernel */
#define LEDGER_CHANGES 24u

enum ledger_bound {
	LEDGER_BY_UNIT,	   /* a unit is full */
	LEDGER_BY_QUEUE,   /* requests queue although no counted unit is full */
	LEDGER_BY_LATENCY, /* no unit is full */
	LEDGER_BY_LAUNCH,  /* blocks: too few, uneven, or a last wave that leaves SMs idle */
};
#define LEDGER_BOUND_CHOICES "unit|queue|latency|launch"

/* Whose requests a queue holds; only a change of the owner's work shortens it. */
enum ledger_owner { LEDGER_MEMORY, LEDGER_MIO, LEDGER_MATH, LEDGER_OWNERS };

/* Stall reasons of the sampler. */
enum ledger_wait_id {
	LEDGER_LONG,
	LEDGER_SHORT,
	LEDGER_BARRIER,
	LEDGER_MEMBAR,
	LEDGER_WAIT,
	LEDGER_BRANCH,
	LEDGER_DISPATCH,
	LEDGER_DRAIN,
	LEDGER_FETCH,
	LEDGER_IMC,
	LEDGER_SLEEPING,
	LEDGER_GMMA,
	LEDGER_MISC,
	LEDGER_LG,
	LEDGER_TEX,
	LEDGER_MIO_QUEUE,
	LEDGER_MATH_PIPE,
	LEDGER_WAITS
};

struct ledger_wait {
	double exposed;	    /* share of all samples, 0..1: its scheduler issued nothing */
	double latency_cyc; /* mean, by Little's law; NaN: not known */
	double idle_cyc;    /* the same on an idle machine; NaN: not known */
	double queued;	    /* part of it that is queueing, 0..1 */
	double before_room; /* part of it that waits until an earlier access was taken, 0..1 */
};

struct ledger_unit {
	bool is_known;	    /* its counters were taken, and its practical rate is known */
	double cycles;	    /* its busiest instance needs, at its practical peak */
	double mean_pct;    /* of the nominal peak, elapsed: mean of its instances */
	double busiest_pct; /* and the busiest instance */
};

/* A row of code and what was counted on it; 0 where nothing was. */
struct ledger_row {
	const char *op;		       /* its text, behind the guard */
	double n;		       /* executed by a warp */
	double lanes, lanes_on;	       /* executed by a lane; and its predicate was true */
	double sectors, ideal_sectors; /* of global memory */
	double lines;		       /* cache lines looked up for global memory */
	double local_sectors;	       /* of local memory */
	double passes, ideal_passes;   /* through shared memory */
	double exposed[LEDGER_WAITS];  /* samples */
	bool is_behind_queue; /* it waits until an earlier access was taken, not for a result */
	double divergent;     /* threads that took another way at a branch */
};

struct ledger {
	struct arena arena;
	const struct trace *trace;
	const struct machine_rates *rates;
	struct ledger_row *rows; /* one per code row */
	const char *missing;	 /* why there is no ledger; NULL: there is one */

	/* the launch */
	double us;	    /* time of the kernel */
	double elapsed_cyc; /* of the slowest SM */
	double fixed_cyc;   /* launch and end, which no change touches */
	double window_cyc;  /* elapsed without fixed */
	double sms, blocks, block_threads, warps_per_block;
	double fill;	      /* mean / largest active cycles of an SM, 0..1 */
	double warps_per_sm;  /* active, mean */
	double blocks_per_sm; /* that fit */
	double waves;	      /* of blocks */
	const char *limiter;  /* what limits blocks on an SM: "registers", ... */

	double executed, issued; /* instructions by warps */
	double sectors;		 /* all of global and local memory */
	double samples;
	struct ledger_unit unit[MACHINE_UNITS];
	struct ledger_wait wait[LEDGER_WAITS];
	double exposed;	      /* share of samples */
	double latency_share; /* of exposed samples that are no queueing, as share of samples */
	double idle_share;    /* what would be exposed at the latencies of an idle machine */
	double queue_cyc;
	enum ledger_owner owner; /* of the queue */

	enum machine_unit fullest; /* MACHINE_UNITS: none is known */
	double full_cyc;	   /* of the fullest unit, or of the queue */
	bool is_full;		   /* full_cyc is LEDGER_FULL of the window */
	bool is_queue;		   /* the queue is longer than any unit */
	enum ledger_bound bound;

	struct ledger_change change[LEDGER_CHANGES]; /* best first */
	uint32_t n_changes;
};

/* Always makes a ledger unless memory lacks; without the counters it needs, ->missing says so. */
struct ledger *ledger_new(const struct trace *t, struct incore_error *e);
void ledger_free(struct ledger *l);

/* The same work in n blocks, or blocks of n threads; a tile of results n times as large in both
 * directions; n times as many elements a thread. */
enum ledger_intent { LEDGER_GRID, LEDGER_BLOCK, LEDGER_TILE, LEDGER_ELEMENTS };
/* What that would bring, as a rule with the same step says; ->counted: what it rests on. False: no
 * answer, ->counted says why. */
bool ledger_ask(struct ledger *l, enum ledger_intent intent, double n, struct ledger_change *out);

const char *ledger_wait_code(enum ledger_wait_id id);  /* the sampler's word: "barrier" */
const char *ledger_wait_words(enum ledger_wait_id id); /* for people */
const char *ledger_bound_name(enum ledger_bound b);

/* Cycles after a change with such an effect; overlap 1: parts in series, 2 and 4: partly
 * overlapped, 0: entirely. */
double ledger_after(const struct ledger *l, const struct ledger_effect *x, unsigned overlap);
/* Fills gain, interval and next of a change whose effects are set. */
void ledger_estimate(const struct ledger *l, struct ledger_change *c);
