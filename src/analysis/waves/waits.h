/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waits.h: for which earlier instructions did each executed wait of a track wait? Instances, not
 * lines: producers are indices of records of the same track.
 *
 *	struct wait_tables *t = wait_tables_new(trace, e);	once per trace, then read-only
 *	struct waits w = {0};					one per worker
 *	waits_resolve(&w, t, walk_track, 0, e)			per track: fills w.events
 *	waits_deinit(&w); wait_tables_free(t);
 *
 * There are two models. w.events is the product's: dynamic instances, in order or out of order, and
 * no wait consumes more than it must. w.stated is the viewer's, which reproduces the `waitcnt`
 * arrays of ui_output files; only with WAITS_VIEWER. With a window, waits outside it are left out,
 * but producers before it count. No allocation once the arrays have grown to the largest track. May
 * fail: memory.
 */
#pragma once

#include "analysis/walk.h"
#include "base/vec.h"
#include "isa/amd_waits.h"

#define WAIT_FLOOR_CYC 4u /* cost of a wait that waits for nothing; a longer one blocked */
#define WAIT_SIDES 4u	  /* most counters with producers per wait; further ones are joined */
#define NO_SLICE UINT32_MAX

enum wait_resolution {
	WAIT_DRAINED,	 /* nothing outstanding: no producer */
	WAIT_EXACT,	 /* in order: the youngest consumed instance released the wait */
	WAIT_GROUP,	 /* out of order: one of the consumed instances, it is unknown which */
	WAIT_UNRESOLVED, /* mixed and not drained: some of the candidates, it is unknown which */
};

struct wait_producer {
	uint32_t slice; /* record index of the instance */
};

struct wait_side {	    /* one counter of one executed wait, with producers */
	uint8_t counter;    /* enum amd_counter */
	uint8_t resolution; /* enum wait_resolution, never DRAINED */
	uint8_t producers;  /* mask of enum amd_producer: EXACT the youngest's, else all */
	uint32_t first, n;  /* into waits.producers, oldest first: consumed, or (UNRESOLVED)
			       candidates */
	uint32_t youngest;  /* record index of the last issued one */
	uint32_t in_flight; /* instances outstanding on the counter when the wait began */
};

struct wait_event {	     /* one executed counter wait, in record order */
	uint32_t slice;	     /* record index of the wait */
	uint32_t first_side; /* into waits.sides */
	uint8_t n_sides;     /* 0: drained */
	uint8_t resolution;  /* enum wait_resolution of the least certain side */
	uint8_t viewer_mask; /* classes by the viewer's model, all counters (WAITS_VIEWER) */
	bool is_blocked;     /* recorded stall > WAIT_FLOOR_CYC */
	uint32_t key;	     /* blocking: 8 bits of producer mask per side; 0: (drained) */
};

struct stated_like {	   /* one entry of a `waitcnt` array as the viewer would write it */
	uint32_t slice;	   /* record index of the wait */
	uint32_t first, n; /* into waits.viewer_producers (code rows) */
};

enum waits_want {
	WAITS_VIEWER = 1,
	WAITS_BY_CODE = 2, /* for a whole track of which only the code was loaded; then is_blocked
			      is unknown */
};

struct wait_queues; /* private */

struct waits {
	VEC(struct wait_event) events;
	VEC(struct wait_side) sides;
	VEC(struct wait_producer) producers;
	VEC(struct stated_like) stated;
	VEC(code_idx) viewer_producers;
	struct wait_queues *queues; /* private */
};

struct wait_tables {
	struct arena arena;
	struct amd_wait_tables amd;
	unsigned gfx_major; /* 0: not an AMD trace, nothing ever waits */
};

struct wait_tables *wait_tables_new(const struct trace *t, struct incore_error *e);
void wait_tables_free(struct wait_tables *t);

bool waits_resolve(struct waits *w, const struct wait_tables *t, const struct walk_track *track,
	unsigned want, struct incore_error *e);
/* For the collectors of a walk: returns the waits of the track that an earlier collector resolved,
 * or resolves them now into `own`. Without WAITS_VIEWER the viewer's results may or may not be
 * present. NULL, with *e filled, on failure. */
const struct waits *waits_of(struct waits *own, const struct wait_tables *t,
	const struct walk_track *track, unsigned want, struct incore_error *e);
void waits_deinit(struct waits *w);

/* Does w.stated equal the arrays the capture states for this track (loaded with
 * TRACK_STATED_WAITS)? */
bool waits_equal_stated(const struct waits *w, const struct track_data *d);

/* "LDS & VMEM-load", "LDS+SMEM", "(drained)": the name of a blocking key or a class-set mask. */
#define WAIT_KEY_LEN 384 /* four sides with all eight names */
const char *wait_key_name(uint32_t key, char buf[WAIT_KEY_LEN]);
/* Key of a single class, for producers without an AMD counter; no AMD key has an empty first
 * byte. */
static inline uint32_t wait_key_of_class(unsigned c)
{
	return (c + 1) << 8;
}
#define WAIT_KEY_UNKNOWN (255u << 8)
/* Total order of keys: by name, in byte order. */
int wait_key_cmp(uint32_t a, uint32_t b);
