/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk.h: one pass over the selected tracks, in parallel, feeding any number of collectors. A
 * question that looks at one track at a time is a collector; a command that asks several questions
 * reads each track once.
 *
 * Same answer for any number of threads: a collector adds to its worker's own state, and merge()
 * must be commutative (integer sums, maxima, sets sorted at the end). Per-track results go to the
 * slot of that track.
 *
 * A track that cannot be read does not stop the walk: it becomes a note, and the result says how
 * many were lost.
 */
#pragma once

#include "analysis/selection.h"
#include "base/pool.h"
#include "base/progress.h"
#include "trace/trace.h"

struct waits;

struct walk_track {
	const struct trace *trace;
	track_idx idx; /* in trace->tracks */
	const struct track *track;
	const struct track_data *data;
	uint64_t from_cyc, to_cyc; /* window in the track's own clock: look at [from, to) only; 0,
				      UINT64_MAX: all */
	/* Waits resolved by an earlier collector of this track, for later ones: waits_of(). NULL:
	 * not shared. */
	const struct waits **waits;
};

struct collector {
	void *self; /* the question; shared, and read-only during the walk except for per-track
		       slots */
	size_t worker_bytes;			     /* size of each worker's `mine`, zeroed */
	bool (*worker_init)(void *self, void *mine); /* false on lack of memory; may be NULL */
	bool (*track)(void *self, void *mine, const struct walk_track *w, struct incore_error *e);
	bool (*merge)(void *self, void *mine,
		struct incore_error *e);	       /* serial, after the walk; may be NULL */
	void (*worker_deinit)(void *self, void *mine); /* also called after a failed init; may be
							  NULL */
	unsigned want;				       /* enum track_want */
};

struct walk_result {
	struct arena arena;
	uint32_t n_tracks;	 /* looked at */
	uint32_t n_failed;	 /* could not be read */
	uint32_t n_outside;	 /* of n_failed: links that lead out of the capture */
	uint64_t n_unknown_code; /* records that name no known row */
	uint64_t bytes;		 /* unused by analyses; for the benchmark */
	struct note *notes;	 /* in track order; at most WALK_MAX_NOTES, the rest is counted */
	uint32_t n_notes;
	uint64_t n_notes_dropped;
};

#define WALK_MAX_NOTES 64

struct walk_options {
	const struct selection *selection; /* NULL: everything */
	struct pool *pool;		   /* NULL: the caller's thread */
	struct progress *progress;	   /* may be NULL */
};

bool walk_tracks(const struct trace *t, const struct walk_options *o,
	const struct collector *const *collectors, size_t n_collectors, struct walk_result *out,
	struct incore_error *e);
void walk_result_deinit(struct walk_result *r);
