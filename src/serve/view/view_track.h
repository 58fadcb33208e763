/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_track.h: one track of the columns in the form that analyses use, with its waits resolved,
 * and the causes of its slices. Times are those of the screen. Owner: view_track_deinit(). May
 * fail: memory.
 */
#pragma once

#include "analysis/waves/causes.h"
#include "analysis/waves/waits.h"
#include "serve/view/view.h"

struct view_track {
	struct track_data data;
	struct waits waits; /* empty for traces without counter waits */
};

/* Fills *k; reuses its memory from track to track. */
bool view_track_load(const struct view *v, const struct wait_tables *tables, track_idx track,
	struct view_track *k, struct incore_error *e);
void view_track_deinit(struct view_track *k);
/* The resolved wait of a slice, or NULL. */
const struct wait_event *view_track_wait(const struct view_track *k, uint32_t slice);

/* Family of the lost cycles of a slice of the class; ev: its wait, or NULL. */
enum cause_family slice_stall_family(enum inst_class c, const struct wait_event *ev);

/* Adds a slice's share of the conserved accounting: the shares of a wave's slices add up to its
 * time. For pipes use pipe_pieces_of(). */
void slice_buckets(
	const struct view *v, const struct lane *l, uint32_t i, uint64_t sums[BUCKET_COUNT]);
