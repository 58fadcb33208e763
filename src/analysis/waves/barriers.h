/* SPDX-License-Identifier: Apache-2.0 */
/*
 * barriers.h: how unequally did the waves of a workgroup arrive at their barriers? All waves of a
 * workgroup leave a barrier together, so executions of the same barrier row, with the same ordinal,
 * on the same CU, that end within BARRIER_TOLERANCE_CYC of each other are taken for one meeting
 * (workgroup numbers are used if the capture has them). That is INFERRED: a trace without workgroup
 * numbers does not say who met whom. Skew = last arrival - first arrival; the last one to arrive
 * waits about the floor of a barrier.
 *
 * Memory is bounded: only the first per_wave barriers of each wave are looked at (n_skipped counts
 * the others).
 * Owner: barriers_new() .. barriers_free(); valid after walk_tracks() and barriers_finish().
 */
#pragma once

#include "analysis/walk.h"
#include "analysis/waves/histogram.h"

#define BARRIER_TOLERANCE_CYC 64u

struct barrier_meeting { /* times aligned between clocks */
	uint64_t skew_cyc;
	uint32_t n_waves;
	track_idx first, last; /* first and last to arrive; ties: first in track order */
	int64_t first_arrival, last_arrival, release;
};

struct barrier_row { /* one s_barrier of the code */
	code_idx code;
	uint64_t executions, wait_cyc;
	uint64_t meetings;		   /* meetings of at least two waves */
	struct distribution skew_cyc;	   /* over the meetings */
	struct distribution last_wait_cyc; /* wait of the last to arrive */
	/* If there was a meeting: */
	struct barrier_meeting widest; /* the one with the largest skew; ties: the first */
	track_idx latest;	       /* the wave that came last most often */
	uint64_t n_latest;	       /* how often */
	uint64_t n_latest_met;	       /* number of meetings it was in */
};

struct barriers {
	struct arena arena;
	const struct trace *trace;
	uint64_t executions, wait_cyc, n_skipped;
	uint64_t meetings, n_met; /* meetings; executions that are part of one */
	struct distribution skew_cyc, last_wait_cyc;
	struct barrier_row *rows; /* descending by wait, then by row */
	uint32_t n_rows;
	uint32_t per_wave; /* most barriers looked at per wave */
	void *gather;	   /* private */
};

struct barriers *barriers_new(const struct trace *t, struct incore_error *e);
void barriers_free(struct barriers *b);
struct collector barriers_collector(struct barriers *b);
bool barriers_finish(struct barriers *b, struct incore_error *e);
