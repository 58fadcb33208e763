/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_tracks.h: tracks whose slices are kept in memory, for readers of files from which one track
 * cannot be read alone.
 * Owner: the trace, which frees them.
 */
#pragma once

#include <assert.h>

#include "base/vec.h"
#include "trace/trace.h"

static_assert(sizeof(struct track_slice) == 24, "a slice is kept in 24 bytes");

struct mem_tracks {			  /* trace.loader_ctx */
	VEC(struct track_slice *) slices; /* by track; tracks[i].n_slices of each */
};

/* Sets the trace's loader; there are no slices yet. NULL on lack of memory. */
struct mem_tracks *mem_tracks_new(struct trace *t);
/* Adds room for n slices of the next track; NULL on lack of memory. */
struct track_slice *mem_tracks_add(struct mem_tracks *m, size_t n);

static inline struct track_slice *mem_tracks_at(const struct trace *t, track_idx i)
{
	return ((const struct mem_tracks *)t->loader_ctx)->slices.v[i];
}
