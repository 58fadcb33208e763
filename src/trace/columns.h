/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns.h: all slices of a trace as columns, for random access in time: tiles, boxes, searches.
 * At most 20 bytes a slice, index included.
 *
 * A lane is a run of slices of one track that fits 32-bit times; only tracks longer than 2^32
 * cycles need several. Times are cycles on the screen: aligned, counted from the trace's origin.
 * Slices keep their order; those of pipes that overlap have a sub-lane each (first fit; an end
 * equal to a start shares it). The class sums of index.h are part of a lane.
 *
 * Owner: columns_deinit(). Immutable once made, shared by all threads. columns.c and index.c also
 * run in a browser.
 */
#pragma once

#include "base/pool.h"
#include "base/progress.h"
#include "trace/trace.h"

#define LANE_BLOCK 64u
#define LANE_SUMS 15u	     /* 12 slots, stall, records of unknown code, waits */
#define LANE_HEAD 16u	     /* words of a row: a cache line; the last one has flags of its block */
#define LANE_PLAIN 1u	     /* no slice of the block begins before an earlier one ended */
#define LANE_PLAIN_BEFORE 2u /* that flag of the previous block */
#define LANE_MARK 16u	     /* slices per mark: a cache line of each column */
#define LANE_MARKS (LANE_BLOCK / LANE_MARK)
#define LANE_ALIGN 64u
#define LANE_MAX_SUB 255u

struct lane {
	track_idx track;
	uint32_t n;
	uint32_t first;	  /* number of its first slice within the track */
	uint32_t n_sub;	  /* sub-lanes, at least 1 */
	bool has_unknown; /* some records name no known row */
	uint64_t base_cyc;
	uint64_t begin_cyc, end_cyc; /* lifetime of the track */
	const uint32_t *start, *dur, *stall;
	const code_idx *code;
	const uint32_t *cover;		   /* by mark: latest end of all slices before it */
	const uint32_t (*sums)[LANE_HEAD]; /* by block: sums of all slices before it */
	const uint8_t *inst_class, *tag,
		*sub;	     /* class: class_plain(); sub: NULL where n_sub is 1 */
	const uint8_t *slot; /* by class */
	uint64_t offset;     /* of the lane's bytes in a columns file */
	uint64_t hash;	     /* of the lane's content */
};

struct columns {
	uint32_t n_tracks, n_lanes;
	uint64_t n_slices;
	uint64_t end_cyc; /* of the whole screen */
	struct lane *lanes;
	uint32_t *first_lane; /* by track; n_tracks + 1 of them */
	uint32_t n_failed;    /* tracks that could not be read; their lanes are empty */
	/* private */
	void *map;
	size_t map_size;
	void **chunks;
};

static inline uint32_t lane_blocks(uint32_t n)
{
	return n / LANE_BLOCK + (n % LANE_BLOCK != 0);
}

static inline uint32_t lane_marks(uint32_t n)
{
	return n / LANE_MARK + (n % LANE_MARK != 0);
}

/* Bytes of a lane of n slices; a multiple of LANE_ALIGN, like the offset of every column. */
size_t lane_bytes(uint32_t n, bool has_sub);
/* Points the columns of a lane with l->n slices and l->n_sub sub-lanes into a buffer of
 * lane_bytes(). */
void lane_place(struct lane *l, void *bytes);
/* As lane_place(), in newly allocated zeroed memory, to be freed with mem_free(). NULL on lack of
 * memory. */
void *lane_alloc(struct lane *l);
/* Screen time of a slice. */
static inline uint64_t lane_start(const struct lane *l, uint32_t i)
{
	return l->base_cyc + l->start[i];
}

/*
 * Returns how many slices of d from `from` on make up one lane; *base: where it begins. `shift`
 * converts the track's clock to screen time.
 */
uint32_t lane_cut(const struct track_data *d, uint32_t from, int64_t shift, uint64_t *base);
/* Fills the placed columns of l from d; lane_index() is to follow. `sub` has the sub-lanes of d's
 * slices, or is NULL. */
void lane_fill(struct lane *l, const struct track_data *d, uint32_t from, int64_t shift,
	const uint8_t *sub);
/* Assigns a sub-lane to each slice of d; returns their number (the last sub-lane takes what does
 * not fit). */
uint32_t lane_pack_sub(const struct track_data *d, uint8_t *sub);

/* The lane that holds a slice of a track, or NULL; *i: the slice's number in the lane. */
const struct lane *columns_slice(
	const struct columns *c, track_idx track, uint32_t slice, uint32_t *i);
/* Total number of slices of a track. */
uint32_t columns_count(const struct columns *c, track_idx track);
/* The first slice of the lane that ends after screen time t; l->n if there is none. */
uint32_t lane_first_after(const struct lane *l, uint64_t t);
/* Computes first_lane, n_slices and end_cyc from the lanes, which must be in the order of
 * tracks. */
bool columns_number(struct columns *c);

struct lane_wait { /* what an executed wait waited for */
	uint32_t slice;
	uint8_t slot; /* enum slot */
};

/* Tells what the waits of tracks waited for: an analysis, above this room. */
struct lane_waits {
	/* Finds the waits of a track that waited for something, in the order of their slices;
	 * valid until the worker's next call. May fail: memory. */
	bool (*find)(struct lane_waits *self, unsigned worker, track_idx track,
		const struct track_data *d, const struct lane_wait **v, size_t *n,
		struct incore_error *e);
};

/* Reads all tracks; `origin` is the screen's time 0. spill_path: a file to hold the
 * columns, which then leave the heap as they are written; NULL: keep them on the
 * heap. */
struct columns_options {
	int64_t origin_cyc;
	struct pool *pool;
	struct progress *progress;
	const char *spill_path;
	uint64_t key[2];	  /* key of the spilled file: identifies what it was made from */
	const void *stop;	  /* an atomic_bool that ends the reading early; may be NULL */
	struct lane_waits *waits; /* waits get the slot that they waited for; may be NULL */
};
bool columns_load(const struct trace *t, const struct columns_options *o, struct columns *out,
	struct incore_error *e);
void columns_deinit(struct columns *c);

/* Maps a file written by columns_load(); false if it is not one of this trace. */
bool columns_map(const char *path, const struct trace *t, const uint64_t key[2],
	struct columns *out, struct incore_error *e);
