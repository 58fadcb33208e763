/* SPDX-License-Identifier: Apache-2.0 */
/*
 * barriers.h: how unequally did the waves of a workgroup arrive at their barriers?
 * All waves of a workgroup leave a barrier together, so executions of the same barrier row, the
 * same time round, on the same CU, that end within BARRIER_TOLERANCE_CYC of each other are taken
 * for one meeting (with workgroup numbers, where the capture has them). That is INFERRED: a trace
 * without workgroup numbers does not say who met whom. Skew = last arrival - first arrival; the
 * last one waits about the floor of a barrier.
 *
 * Memory is bounded: of each wave only the first so many barriers are looked at (n_skipped).
 * Owner: barriers_new() .. barriers_free(); valid after walk_tracks() and barriers_finish().
 */
#pragma once

#include "analysis/walk.h"
#include "analysis/waves/histogram.h"

#define BARRIER_TOLERANCE_CYC 64u

struct barrier_meeting { /* times aligned between clocks */
	uint64_t skew_cyc;
	uint32_t n_waves;
	track_idx first, last; /* to arrive; of several at once the first in track order */
	int64_t first_arrival, last_arrival, release;
};

struct barrier_row { /* one s_barrier of the code */
	code_idx code;
	uint64_t executions, wait_cyc;
	uint64_t meetings;		   /* of two waves or more */
	struct distribution skew_cyc;	   /* of the meetings */
	struct distribution last_wait_cyc; /* what the last to arrive waited */
	/* With a meeting or more: */
	struct barrier_meeting widest; /* of the largest skew; the first of equals */
	track_idx latest;	       /* the wave that came last most often */
	uint64_t n_latest;	       /* how often */
	uint64_t n_latest_met;	       /* of so many meetings that it was in */
};

struct barriers {
	struct arena arena;
	const struct trace *trace;
	uint64_t executions, wait_cyc, n_skipped;
	uint64_t meetings, n_met; /* meetings; executions that are part of one */
	struct distribution skew_cyc, last_wait_cyc;
	struct barrier_row *rows; /* descending by wait, then by row */
	uint32_t n_rows;
	uint32_t per_wave; /* looked at, at most */
	void *gather;	   /* private */
};

struct barriers *barriers_new(const struct trace *t, struct incore_error *e);
void barriers_free(struct barriers *b);
struct collector barriers_collector(struct barriers *b);
bool barriers_finish(struct barriers *b, struct incore_error *e);
