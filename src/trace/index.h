/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.h: how are the cycles of [t0, t1) of a track split? Sampled prefix sums: every LANE_BLOCK
 * slices the sums of all before are kept, so the exact split of any interval is two lookups and at
 * most LANE_BLOCK additions at each end.
 *
 * Three ways to split. Class: each cycle that a slice covers belongs to the colour slot of the
 * slice that started first; stalled cycles and records of unknown code are counted beside. Bucket:
 * all cycles of the lifetime, as account.h. Cause: the same by cause family; needs a column that an
 * analysis makes. Slice: what a slice covers, by a key of its own. Pure; runs in a browser too.
 */
#pragma once

#include "trace/account.h"
#include "trace/columns.h"

enum split_mode { SPLIT_CLASS, SPLIT_BUCKET, SPLIT_CAUSE, SPLIT_SLICE };
#define SPLIT_KEYS 12u	  /* at most, in any mode */
#define SPLIT_STALL 12u	  /* class: stalled cycles */
#define SPLIT_UNKNOWN 13u /* class: records of unknown code */

/*
 * Sums of one lane for bucket, cause or slice; class sums are the lane's own. A row of `width` words
 * a block: sums, then LANE_PLAIN and LANE_PLAIN_BEFORE as in a lane.
 */
#define SPLIT_WIDTH 16u	      /* room for SPLIT_KEYS */
#define SPLIT_WIDTH_NARROW 8u /* for 6 keys: buckets, differences */
struct lane_split {
	enum split_mode mode;
	bool is_pipe;	/* after the last slice comes drain, not idle */
	uint32_t width; /* SPLIT_WIDTH, or SPLIT_WIDTH_NARROW */
	const uint32_t *sums;
	const uint8_t *keys;	  /* cause, by slice: of the gap before it << 4 | of its stall;
				slice: of it */
	const uint8_t *issue_key; /* cause, by class */
	uint8_t tail_key;
};

/* Class sums and covers of a filled lane. */
void lane_index(struct lane *l);
/* Sums of a lane for s->mode into `sums`, lane_blocks(n) rows; then s->sums points there. */
void lane_split_index(const struct lane *l, struct lane_split *s, uint32_t *sums);

/* Where the lifetime of the track ends, as a time in the lane. */
static inline uint32_t lane_end(const struct lane *l)
{
	uint64_t end = l->end_cyc > l->base_cyc ? l->end_cyc - l->base_cyc : 0;

	return end > UINT32_MAX ? UINT32_MAX : (uint32_t)end;
}

/* The end of all slices before i <= l->n; of none: where the track begins. */
uint32_t lane_cover(const struct lane *l, uint32_t i);
/* The pieces of slice i, as times in the lane. They may reach beyond lane_end(). */
struct pieces lane_pieces_of(const struct lane *l, uint32_t i);
/* The same where the end of all slices before i is known. */
static inline struct pieces lane_pieces_after(const struct lane *l, uint32_t i, uint32_t cover)
{
	return pieces_after(cover, l->start[i], l->stall[i], l->dur[i]);
}

/* The last mark before which all has ended at `rel` (a time in the lane). */
uint32_t lane_mark_at(const struct lane *l, uint32_t rel);

/* Walks forward over one track: split_begin(), then split_at() with rising times. */
struct split_cursor {
	const struct columns *c;
	const struct lane_split *splits; /* by lane; NULL: class */
	uint32_t lane, end_lane;
	uint32_t i;		    /* slices of this lane that have ended */
	uint32_t passed;	    /* slices of lanes gone by */
	uint32_t cover;		    /* where they end */
	uint32_t sums[LANE_HEAD];   /* of this lane's slices before i */
	uint64_t before[LANE_SUMS]; /* of lanes gone by */
};

void split_begin(struct split_cursor *k, const struct columns *c, const struct lane_split *splits,
	track_idx track);
/* Sums of all cycles before screen time t, into out; *n_begun: slices that began before t. Returns
 * how many ended by then. */
uint32_t split_at(struct split_cursor *k, uint64_t t, uint64_t out[LANE_SUMS], uint32_t *n_begun);

/*
 * Many times at once: t0, t0 + width, ...; n of them. First where they all lie; then, as memory is
 * slow, each is fetched STOPS_AHEAD stops before its sums are asked for.
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
