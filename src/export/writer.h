/* SPDX-License-Identifier: Apache-2.0 */
/* writer.h: shared by writers: members of export_ops, checks of the selection, a walk for sums. */
#pragma once

#include "export/export.h"

/* Members of an export_ops for functions with these names; the second for writers of slices. */
#define EXPORT_WRITER                                                                              \
	.begin = begin, .track = track, .counter = counter, .lost = lost, .truncated = truncated,  \
	.end = end, .abort = free_state
#define EXPORT_SLICE_WRITER                                                                        \
	EXPORT_WRITER, .slice = slice, .state_run = state_run, .link = link, .track_end = track_end

/* Does the clock belong to an engine that the user selected? */
bool export_has_clock(const struct export *x, clock_idx c);
/* Is a time, relative to the origin, inside the window? */
bool export_has_time(const struct export *x, int64_t time_cyc);
/* Calls fn whenever the number of running waves of a clock domain changes. */
typedef void (*export_running_fn)(
	struct export *x, clock_idx clock, int64_t time_cyc, uint64_t n_running);
void export_each_running(struct export *x, export_running_fn fn);
/* For writers of sums: one pass over the selected tracks; counts all and those that fail. */
bool export_walk(struct export *x, const struct collector *const *collectors, size_t n,
	struct incore_error *e);
/* Adds the note of an unreadable track to the result, as long as there is room. */
bool export_note(struct export *x, const struct note *n, struct incore_error *e);
