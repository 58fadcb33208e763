/* SPDX-License-Identifier: Apache-2.0 */
/* writer.h: what writers share: their members, questions to the selection, the walk of sums. */
#pragma once

#include "export/export.h"

/* The members of an export_ops, for functions of these names; of one that takes slice by slice. */
#define EXPORT_WRITER                                                                              \
	.begin = begin, .track = track, .counter = counter, .lost = lost, .truncated = truncated,  \
	.end = end, .abort = free_state
#define EXPORT_SLICE_WRITER                                                                        \
	EXPORT_WRITER, .slice = slice, .state_run = state_run, .link = link, .track_end = track_end

/* Is it of an engine that the user wants? */
bool export_has_clock(const struct export *x, clock_idx c);
/* Is a time, relative to the origin, inside the window? */
bool export_has_time(const struct export *x, int64_t time_cyc);
/* Waves that run on each clock domain: calls fn where their number changes. */
typedef void (*export_running_fn)(
	struct export *x, clock_idx clock, int64_t time_cyc, uint64_t n_running);
void export_each_running(struct export *x, export_running_fn fn);
/* For writers of sums: one pass over the selected tracks; counts them and those that fail. */
bool export_walk(struct export *x, const struct collector *const *collectors, size_t n,
	struct incore_error *e);
/* A track that could not be read: kept in the result as long as there is room. */
bool export_note(struct export *x, const struct note *n, struct incore_error *e);
