/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_pairs.h: for each wait of the code, every instruction that it consumed: how often it was the
 * last to come back, how early the others may have been, how many were in flight, and how many loop
 * passes ahead of the wait it was issued.
 *
 * What a trace can say about slack (cycles between the return of an instance and the return of the
 * last one): instances of an in-order counter return in the order of issue, so the youngest is the
 * last, and if the wait blocked, it returned at the release. When an older one returned is not
 * recorded: no earlier than its issue, and no earlier than the last release known to be the return
 * of an instance before it. So slack is AT MOST
 *	release (start of the wait, if it did not block) - max(issue, that earlier release)
 * and at least 0. In an out-of-order group each member may have been the last; the bound then uses
 * the issue only.
 *
 * A pass of a loop begins at its header. The distance of an instance is the number of passes, of
 * the innermost loop that holds both rows, that began after its issue and before the wait: 0 is the
 * same iteration, 1 a prefetch by one iteration. Rows without a common loop have no distance.
 *
 * Fed by latency.h, which resolves the waits. Owner: wait_pairs_new() .. wait_pairs_free(); the
 * graph is borrowed. Memory is that of the pairs and of the distinct values; slack above 16 K
 * cycles is rounded to 1 part in 2048.
 */
#pragma once

#include "analysis/flow/cfg.h"
#include "analysis/waves/histogram.h"
#include "analysis/waves/waits.h"

struct wait_pair {
	code_idx producer, wait;
	uint32_t loop;	       /* innermost that holds both, or NO_LOOP */
	uint64_t n;	       /* instances consumed */
	uint64_t n_last;       /* part of n: returned last, in order */
	uint64_t n_group;      /* part of n: returned in any order, may have been the last */
	uint64_t n_candidates; /* not in n: possible producers of a wait that cannot be resolved */
	struct distribution together;	/* instances consumed by the wait, if this was the
					   youngest */
	struct distribution in_flight;	/* outstanding on the counter at that time */
	struct distribution slack_cyc;	/* upper bounds; for instances not known to be the last */
	struct distribution iterations; /* distance of all consumed instances; n is 0 without a
					   common loop */
};

struct wait_pairs {
	const struct cfg *cfg;
	VEC(struct wait_pair) v;       /* by wait, then by producer */
	struct wait_pairs_worker *sum; /* private */
};

struct wait_pairs_worker;

struct wait_pairs *wait_pairs_new(const struct cfg *g, struct incore_error *e);
void wait_pairs_free(struct wait_pairs *p);
struct wait_pairs_worker *wait_pairs_worker_new(const struct wait_pairs *p);
void wait_pairs_worker_free(struct wait_pairs_worker *m);
/* Adds one track whose waits are resolved. May fail: memory. */
bool wait_pairs_track(const struct wait_pairs *p, struct wait_pairs_worker *m,
	const struct walk_track *w, const struct waits *waits);
bool wait_pairs_merge(struct wait_pairs *p, struct wait_pairs_worker *from);
bool wait_pairs_finish(struct wait_pairs *p, struct incore_error *e);

/* The pair of two rows, or NULL. After wait_pairs_finish(). */
const struct wait_pair *wait_pairs_find(
	const struct wait_pairs *p, code_idx producer, code_idx wait);
