/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_track.h: one track of the columns as analyses want it, with its waits resolved; and the
 * causes of its slices. Times are the screen's. Owner: view_track_deinit(). May fail: memory.
 */
#pragma once

#include "analysis/waves/causes.h"
#include "analysis/waves/waits.h"
#include "serve/view/view.h"

struct view_track {
	struct track_data data;
	struct waits waits; /* empty for traces without counter waits */
};

/* Fills *k anew; keeps its memory from track to track. */
bool view_track_load(const struct view *v, const struct wait_tables *tables, track_idx track,
	struct view_track *k, struct incore_error *e);
void view_track_deinit(struct view_track *k);
/* The resolved wait of a slice, or NULL. */
const struct wait_event *view_track_wait(const struct view_track *k, uint32_t slice);

/* Family of what a slice of the class lost; ev: its wait, or NULL. */
enum cause_family slice_stall_family(enum inst_class c, const struct wait_event *ev);

/* Adds a slice's piece of the conserved accounting: the pieces of a wave add up to its time. Of pipes:
 * pipe_pieces_of(). */
void slice_buckets(
	const struct view *v, const struct lane *l, uint32_t i, uint64_t sums[BUCKET_COUNT]);
