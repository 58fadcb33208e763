/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_trace.h: traces with every table filled by chance, for round trips, and the comparison of
 * two traces field by field. The content of a track is made anew from the seed each time it is
 * loaded. Owner: the caller; trace_free().
 */
#ifndef TESTS_UNIT_RANDOM_TRACE_H
#define TESTS_UNIT_RANDOM_TRACE_H

#include "trace/trace.h"

struct random_shape {
	uint64_t seed;
	uint32_t n_tracks;
	uint32_t max_slices;	/* of a usual track */
	uint32_t long_slices;	/* of track 1; 0: as the others */
	bool has_bad_tracks;	/* every fifth cannot be loaded, or only its slices can */
	unsigned clock_quantum; /* all times are multiples */
};

struct trace *random_trace_new(const struct random_shape *shape);

/* Name of the first field that differs, or NULL. Tracks are loaded and compared too. Leaves out
 * meta.origin and meta.content_hash. */
const char *trace_difference(const struct trace *a, const struct trace *b);

#endif
