/* SPDX-License-Identifier: Apache-2.0 */
/*
 * latency.h: how long did memory instructions take, from issue to the wait that consumed them? Per
 * opcode and counter, over dynamic instances, exact distributions.
 *
 * Latency = release of the wait - issue of the producer. It is exact when the producer is the
 * youngest consumed in order and the wait blocked; otherwise it is an upper bound (the instance may
 * have come back earlier). For an out-of-order group the value is that of its youngest instance:
 * the lower end of a range whose upper end is `group_high`.
 *
 * Owner: latency_new() .. latency_free(); results after walk_tracks() and latency_finish().
 */
#pragma once

#include "analysis/waves/histogram.h"
#include "analysis/waves/wait_pairs.h"
#include "analysis/waves/waits.h"

struct latency_row {
	uint32_t opcode;  /* into trace.opcodes */
	bool is_to_lds;	  /* the "lds" form of the opcode */
	uint8_t counter;  /* enum amd_counter */
	uint64_t n_exact; /* youngest of an in-order counter, wait blocked */
	uint64_t
		n_bound; /* youngest, but the wait did not block or had two counters: upper bound */
	uint64_t n_group;      /* youngest of an out-of-order group */
	uint64_t n_unresolved; /* youngest of several candidates */
	uint64_t n_older;      /* consumed together with a younger one: upper bound, not in `all` */
	struct distribution all;	  /* release - issue; n is the sum of the four counts
					     above n_older */
	struct distribution exact;	  /* the exact ones among them */
	struct distribution group_high;	  /* release - issue of the oldest of a group */
	struct distribution distance;	  /* instructions from issue to the wait */
	struct distribution distance_cyc; /* cycles from issue to the start of the wait */
	struct distribution in_flight;	  /* outstanding on the counter when the wait began */
};

struct latency {
	const struct trace *trace;
	struct wait_tables *tables;
	struct wait_pairs *pairs;     /* owned; NULL unless asked for */
	bool is_pairs_only;	      /* set before the walk: leave the rows out */
	VEC(struct latency_row) rows; /* descending by all.n, then by opcode name, lds, counter */
	struct latency_worker *sum;   /* private */
};

struct latency *latency_new(const struct trace *t, struct incore_error *e);
/* Also collects the pairs of rows, in the same walk. The graph is borrowed. */
bool latency_with_pairs(struct latency *l, const struct cfg *g, struct incore_error *e);
void latency_free(struct latency *l);
struct collector latency_collector(struct latency *l);
bool latency_finish(struct latency *l, struct incore_error *e);
