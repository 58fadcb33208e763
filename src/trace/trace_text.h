/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_text.h: positions of a trace's slices in the file of trace events they were read from, with
 * their times as written, for a writer that copies the original text. Made only if IMPORT_TEXT
 * requests it. Owner: the trace; trace_free() frees it. Immutable once the trace is read.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct text_event {
	uint64_t offset : 63; /* of its '{' in the file */
	uint64_t is_pair : 1; /* a B event; its E is elsewhere */
	double ts;	      /* microseconds as written */
	double dur; /* likewise; for a pair the time of its end, since a difference would round */
};

struct text_head { /* what an instruction cost before it began: microseconds as written */
	uint32_t event;
	double cache, ccu;
};

struct trace_text {
	VEC(struct text_event) slices; /* in file order; a pair where it ends */
	uint32_t **of_track;	       /* by track: index of each slice in slices[] */
	uint32_t n_tracks;
	VEC(struct text_head) heads;	   /* of slices, track by track */
	VEC(struct text_event) lone_heads; /* head costs without an instruction or slice */
	VEC(struct text_event) counters;
	const char *profiling_type; /* in the trace's arena, or NULL */
	int64_t schema_version;	    /* -1: none */
	uint64_t n_events;	    /* objects in the event list */
	bool has_numbered_lanes;    /* pids are numbers: file of a single core, or made for a
				       viewer */
};
