/* SPDX-License-Identifier: Apache-2.0 */
/* pipes_internal.h: shared by the files pipes*.c. */
#pragma once

#include "analysis/pipes/pipes.h"

struct wait_instance { /* one executed wait of a track, in order of slices */
	uint32_t slice;
	uint32_t link;	/* into links, or UINT32_MAX */
	uint64_t cyc;	/* exposed */
	bool is_inside; /* starts inside the window */
};

/* What is kept of a track for questions that look across pipes. */
struct pipe_lane {
	uint32_t n;
	uint64_t *start_cyc;
	uint32_t *dur_cyc, *stall_cyc;
	code_idx *code;
	uint32_t *last_work; /* by position in by_end: last work slice up to it, or NO_SLICE */
	uint32_t *latest;    /* by slice: which slice up to this one ends last */
	uint32_t *by_end;    /* slices by (end, index); NULL: already in that order */
	VEC(struct wait_instance) waits;
};

struct pipes_private {
	struct pipe_lane *lanes;  /* by track */
	const struct link *links; /* by (to_track, to_slice) */
	struct link *own_links;	  /* sorted copy of the links, if sorting was needed */
};

/* First link into the slice, or UINT32_MAX. */
uint32_t pipes_find_link(const struct pipes *p, track_idx to_track, uint32_t to_slice);
static inline uint64_t lane_end(const struct pipe_lane *l, uint32_t i)
{
	return l->start_cyc[i] + l->dur_cyc[i];
}

/* How many slices come before (time, slice) in the order of by_end. */
uint32_t pipe_lane_ended(const struct pipe_lane *l, uint64_t time_cyc, uint32_t slice);

bool pipes_find_waits(struct pipes *p, struct incore_error *e);
bool pipes_find_path(struct pipes *p, struct incore_error *e);
