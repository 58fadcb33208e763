/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_text.h: where the slices of a trace stand in the file of trace events they were read from,
 * with their times as written, for a writer that copies what stands there. Made where IMPORT_TEXT
 * asks for it. Owner: the trace; trace_free() frees it. Immutable once the trace is read.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct text_event {
	uint64_t offset : 63; /* of its '{' in the file */
	uint64_t is_pair : 1; /* a B; its E stands elsewhere */
	double ts;	      /* microseconds as written */
	double dur; /* likewise; of a pair the time of its end: a difference would round */
};

struct text_head { /* what an instruction cost before it began: microseconds as written */
	uint32_t event;
	double cache, ccu;
};

struct trace_text {
	VEC(struct text_event) slices; /* in the order of the file; a pair where its end stands */
	uint32_t **of_track;	       /* by track: of each slice its number in slices[] */
	uint32_t n_tracks;
	VEC(struct text_head) heads;	   /* of slices, track by track */
	VEC(struct text_event) lone_heads; /* head costs that name no instruction: no slices */
	VEC(struct text_event) counters;
	const char *profiling_type; /* in the trace's arena; NULL: none */
	int64_t schema_version;	    /* -1: none */
	uint64_t n_events;	    /* objects in the list of events */
	bool has_numbered_lanes;    /* pids are numbers: a file of one core, or for a viewer */
};
