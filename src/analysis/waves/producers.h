/* SPDX-License-Identifier: Apache-2.0 */
/*
 * producers.h: for which instructions were the cycles of counter waits spent?
 *
 * There are two attributions. `blocking`: the cycles go to the instance that released the wait (in
 * order: the youngest consumed; out of order: the group); they split the bucket wait, so groups +
 * barrier + sleep = accounting.wait. `class-set`: the viewer's model; the recorded stall goes to
 * the set of classes of all producers. Edges (producer row -> wait row) carry counts, cycles and
 * the distribution of load-to-wait latency.
 *
 * Owner: producers_new() .. producers_free(). Results are valid after walk_tracks() with
 * producers_collector() and one call of producers_finish().
 */
#pragma once

#include "analysis/waves/histogram.h"
#include "analysis/waves/waits.h"

enum attribution { ATTRIBUTION_BLOCKING, ATTRIBUTION_CLASS_SET };
const char *attribution_name(enum attribution a); /* "blocking", "class-set" */

enum producers_want {
	PRODUCERS_CLASS_SET = 1, /* run the viewer's model too */
	PRODUCERS_EDGES = 2,
	PRODUCERS_EDGES_ALONE = 4, /* no groups, and edges without their latency */
};

struct producer_group {
	uint32_t key;	    /* key for wait_key_name() */
	uint64_t wait_cyc;  /* according to the attribution */
	uint64_t n_waits;   /* executed waits */
	uint64_t n_blocked; /* of which cost more than the floor */
};

struct producer_groups {
	VEC(struct producer_group) groups; /* descending by wait_cyc, then by name */
	uint64_t wait_cyc;		   /* sum over all groups */
	uint64_t barrier_cyc, sleep_cyc;   /* waits without a producer */
};

struct producer_edge {
	code_idx producer; /* exact: the instance that released the wait; group: its youngest */
	code_idx wait;
	uint64_t count;	     /* executed waits that consumed it as the youngest of a counter */
	uint64_t n_blocked;  /* of which cost more than the floor */
	uint64_t n_inexact;  /* part of count: a group or unresolved */
	uint64_t stall_cyc;  /* for waits on this counter only */
	uint64_t shared_cyc; /* for waits on two counters, both with producers: counted in each */
	bool is_fixed;	     /* samples: fixed stall count of the producer; not drawn as an arrow */
	struct distribution latency; /* release - issue of the producer, over all */
};

struct producers {
	const struct trace *trace;
	unsigned want; /* enum producers_want */
	struct wait_tables *tables;
	struct producer_groups blocking, class_set;
	uint64_t n_waits, n_free, n_blocked; /* executed counter waits; free: at the floor */
	uint64_t n_exact, n_group, n_unresolved, n_drained;
	VEC(struct producer_edge) edges; /* descending by stall + shared, then by rows */
	struct producers_worker *sum;	 /* private */
};

struct producers *producers_new(const struct trace *t, unsigned want, struct incore_error *e);
void producers_free(struct producers *p);
struct collector producers_collector(struct producers *p);
bool producers_finish(struct producers *p, struct incore_error *e);
/* Sorts groups and edges, for callers that fill them without a walk. */
void producers_sort(struct producers *p);

static inline const struct producer_groups *producers_get(
	const struct producers *p, enum attribution a)
{
	return a == ATTRIBUTION_BLOCKING ? &p->blocking : &p->class_set;
}
