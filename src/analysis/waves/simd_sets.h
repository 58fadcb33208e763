/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simd_sets.h: several sets of intervals per SIMD, filled by the workers of a walk. The tracks of a
 * SIMD are adjacent, so each worker fills sets for one SIMD at a time and hands them in when it
 * gets to the next one. When all tracks of a SIMD are in, `done` takes what it wants from the sets
 * and they are freed: memory is needed only for the SIMDs in progress.
 *
 * As with spans.h, the result does not depend on the order or the number of workers.
 *
 * Owner: simd_sets_init() .. simd_sets_deinit(). May fail: memory.
 */
#pragma once

#include "analysis/walk.h"
#include "analysis/waves/spans.h"

/* Called once, by any thread, for each SIMD with a track that was looked at; false on lack of
 * memory. */
typedef bool (*simd_done_fn)(void *self, uint32_t group, struct spans *sets);

struct simd_open; /* private */

struct simd_sets {
	void *self; /* given to done() */
	simd_done_fn done;
	unsigned n_kinds;      /* sets per SIMD */
	bool is_flat;	       /* spans.h */
	const uint32_t *group; /* by track: its SIMD, in rising order; borrowed */
	uint32_t n_groups;
	struct simd_open *open; /* private: by SIMD */
};

struct simd_worker { /* zero it first */
	struct spans *sets;
	uint32_t group, n_tracks;
};

/* The caller sets the members above `open`. */
bool simd_sets_init(struct simd_sets *s, uint32_t n_tracks);
void simd_sets_deinit(struct simd_sets *s);
/* The n_kinds sets for the intervals of a track; call once per track. NULL on lack of memory. */
struct spans *simd_sets_of(struct simd_sets *s, struct simd_worker *w, track_idx track);
/* Hands in what the worker still has; for the merge of a collector. */
bool simd_sets_hand_in(struct simd_sets *s, struct simd_worker *w);
/* Frees what the worker still has. */
void simd_worker_deinit(const struct simd_sets *s, struct simd_worker *w);
/* After the walk: what remains of SIMDs of which not all tracks were looked at. */
bool simd_sets_finish(struct simd_sets *s);
