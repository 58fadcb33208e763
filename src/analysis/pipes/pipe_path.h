/* SPDX-License-Identifier: Apache-2.0 */
/* pipe_path.h: the critical path through the pipes and what bounds the kernel according to it. Both
 * are parts of struct pipes (pipes.h), which owns them. */
#pragma once

#include "trace/trace.h"

enum path_part { PATH_WORK, PATH_WAIT, PATH_STALL, PATH_GAP, PATH_PARTS };

struct path_row {
	code_idx code; /* NO_CODE: unknown rows */
	uint64_t cyc;
};

struct pipe_path { /* the parts of all tracks, lead and tail add up to the span */
	bool is_known;
	uint64_t begin_cyc, end_cyc;
	uint64_t lead_cyc; /* before the path's first slice */
	uint64_t tail_cyc; /* after its last slice; no work pipe ended later */
	uint64_t part[PATH_PARTS];
	uint64_t (*of_track)[PATH_PARTS];
	uint64_t n_slices, n_hops; /* hops: through a flag, barrier or cross-core pair */
	uint64_t n_inferred;	   /* hops to the slice that ended last, if a pipe has no earlier
				      one */
	struct path_row *rows;	   /* descending by cycles, then by row */
	uint32_t n_rows;
};

struct pipe_bound {
	const char *kind; /* "pipe", "sync", "latency", "none" */
	track_idx track;  /* has the largest share of the path; or NO_TRACK */
	double path_share, busy_share;
	code_idx where;	    /* its work row with most of the path; NO_CODE: unknown */
	double where_share; /* that row's share of the path, on all cores */
	const char *sentence;
};
