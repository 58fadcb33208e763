/* SPDX-License-Identifier: Apache-2.0 */
/* writer.h: shared by writers: members of export_ops, checks of the selection, a walk for sums. */
#pragma once

#include "export/export.h"

/* Members of an export_ops for functions with the prefix of a format; the second for writers of
 * slices. */
#define EXPORT_WRITER(of)                                                                          \
	.begin = of##_begin, .track = of##_track, .counter = of##_counter, .lost = of##_lost,      \
	.truncated = of##_truncated, .end = of##_end, .abort = of##_free_state
#define EXPORT_SLICE_WRITER(of)                                                                    \
	EXPORT_WRITER(of), .slice = of##_slice, .state_run = of##_state_run, .link = of##_link,    \
			   .track_end = of##_track_end

/* Are the values of a series levels, stored in fractions of its unit? Otherwise: counts of events. */
static inline bool export_is_level(const struct counter_series *c)
{
	return c->unit && c->per_unit;
}
static inline double export_level(const struct counter_series *c, uint64_t value)
{
	return (double)value / (export_is_level(c) ? c->per_unit : 1);
}

/* Does the clock belong to an engine that the user selected? */
bool export_has_clock(const struct export *x, clock_idx c);
/* Calls fn whenever the number of running waves of a clock domain changes. */
typedef void (*export_running_fn)(
	struct export *x, clock_idx clock, int64_t time_cyc, uint64_t n_running);
void export_each_running(struct export *x, export_running_fn fn);
/* For writers of sums: one pass over the selected tracks; counts all and those that fail. */
bool export_walk(struct export *x, const struct collector *const *collectors, size_t n,
	struct incore_error *e);
/* Adds the note of an unreadable track to the result, as long as there is room. */
bool export_note(struct export *x, const struct note *n, struct incore_error *e);
