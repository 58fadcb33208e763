/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.h: how the cycles of [t0, t1) of a track split up. Uses sampled prefix sums: every
 * LANE_BLOCK slices the sums of all earlier slices are kept, so the exact split of any interval
 * takes two lookups and at most LANE_BLOCK additions at each end.
 *
 * Modes. Class: each cycle covered by slices belongs to the colour slot of the slice that started
 * first; stalled cycles and records of unknown code are counted in addition, of these
 * also those of waits. Bucket: all cycles of
 * the lifetime, as in account.h. Cause: all cycles of the lifetime by cause family; needs a column
 * made by an analysis. Slice: covered cycles, by a key given per slice. Pure; also runs in a
 * browser.
 */
#pragma once

#include "trace/account.h"
#include "trace/columns.h"

enum split_mode { SPLIT_CLASS, SPLIT_BUCKET, SPLIT_CAUSE, SPLIT_SLICE };
#define SPLIT_KEYS 12u	  /* most keys in any mode */
#define SPLIT_STALL 12u	  /* class: stalled cycles */
#define SPLIT_UNKNOWN 13u /* class: records of unknown code */
#define SPLIT_WAIT 14u	  /* class: stalled cycles of waits */

/*
 * Sums of one lane for bucket, cause or slice; class sums are stored in the lane itself. One row of
 * `width` words per block: sums, then the flags as in a lane.
 */
#define SPLIT_WIDTH 16u	      /* room for SPLIT_KEYS */
#define SPLIT_WIDTH_NARROW 8u /* for 6 keys: buckets, differences */
struct lane_split {
	enum split_mode mode;
	bool is_pipe;	/* cycles after the last slice are drain, not idle */
	uint32_t width; /* SPLIT_WIDTH, or SPLIT_WIDTH_NARROW */
	const uint32_t *sums;
	const uint8_t *keys;	  /* cause, by slice: key of the gap before it << 4 | key of its
				     stall; slice: its key */
	const uint8_t *issue_key; /* cause, by class */
	uint8_t tail_key;
};

/* Computes class sums and covers of a filled lane. */
void lane_index(struct lane *l);
/* Writes the sums of a lane for s->mode to `sums` (lane_blocks(n) rows) and points s->sums
 * there. */
void lane_split_index(const struct lane *l, struct lane_split *s, uint32_t *sums);

/* Where the lifetime of the track ends, as a time in the lane. */
static inline uint32_t lane_end(const struct lane *l)
{
	uint64_t end = l->end_cyc > l->base_cyc ? l->end_cyc - l->base_cyc : 0;

	return end > UINT32_MAX ? UINT32_MAX : (uint32_t)end;
}

/* The latest end of all slices before i (i <= l->n); the track's begin if i is 0. */
uint32_t lane_cover(const struct lane *l, uint32_t i);
/* The pieces of slice i, as times in the lane. They may reach beyond lane_end(). */
struct pieces lane_pieces_of(const struct lane *l, uint32_t i);
/* As lane_pieces_of(), if the latest end of all slices before i is known. */
static inline struct pieces lane_pieces_after(const struct lane *l, uint32_t i, uint32_t cover)
{
	return pieces_after(cover, l->start[i], l->stall[i], l->dur[i]);
}

/* The last mark whose earlier slices have all ended at `rel` (a time in the lane). */
uint32_t lane_mark_at(const struct lane *l, uint32_t rel);

/* Walks forward over one track: split_begin(), then split_at() with increasing times. */
struct split_cursor {
	const struct columns *c;
	const struct lane_split *splits; /* by lane; NULL: class */
	uint32_t lane, end_lane;
	uint32_t i;		    /* slices of this lane that have ended */
	uint32_t passed;	    /* slices of earlier lanes */
	uint32_t cover;		    /* latest end of those before i */
	uint32_t sums[LANE_HEAD];   /* sums of this lane's slices before i */
	uint64_t before[LANE_SUMS]; /* sums of earlier lanes */
};

void split_begin(struct split_cursor *k, const struct columns *c, const struct lane_split *splits,
	track_idx track);
/* Sums of all cycles before screen time t, into out; *n_begun: slices that began before t. Returns
 * how many ended by then. */
uint32_t split_at(struct split_cursor *k, uint64_t t, uint64_t out[LANE_SUMS], uint32_t *n_begun);

/*
 * For n times at once: t0, t0 + width, ... First find the positions of all; then, because memory is
 * slow, prefetch each STOPS_AHEAD stops before its sums are needed.
 */
#define STOPS_AHEAD 16u
struct split_row {
	uint64_t t0, width;
	uint32_t n;
};
struct split_stop {
	uint32_t lane, mark;
};
void split_find(const struct split_cursor *k, const struct split_row *r, struct split_stop *stops);
void split_fetch(const struct split_cursor *k, const struct split_stop *s);
/* As split_at(), for a stop that was found for t. */
uint32_t split_at_stop(struct split_cursor *k, uint64_t t, const struct split_stop *s,
	uint64_t out[LANE_SUMS], uint32_t *n_begun);
