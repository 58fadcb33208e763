/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roctrace.h: runs that rocprofv3 traced as a timeline, whichever of its files they are read from:
 * which lanes there are and what they are called, what a call started, the counters of launches.
 * Owner: roctrace_init() .. roctrace_deinit(); the trace is borrowed. Adding returns false on lack of
 * memory alone; records that are wrong are counted.
 */
#pragma once

#include "trace/trace.h"

/* What a lane is of, in the order they are shown. */
enum roctrace_lane { LANE_MARKERS, LANE_THREAD, LANE_MEMORY, LANE_COPIES, LANE_QUEUE };

struct roctrace_span { /* numbers: NO_VALUE where the file has none */
	enum roctrace_lane lane;
	int64_t pid, of, queue; /* of: a thread, or an agent */
	int64_t from_ns, to_ns;
	int64_t stack; /* a call and what it started share it */
	int64_t event; /* of a launch, what values of counters name */
	struct str name, category;
};

struct roctrace {
	struct trace *t; /* its arena has all strings */
	uint32_t number; /* of the run that is read: ids are of a run */
	uint64_t n_damaged, n_runs;
	const char *version;		/* of the schema, or NULL */
	const char *arch, *product;	/* of the first GPU, or NULL */
	const char *arch_source;	/* what states them */
	const char *command, *evidence; /* or NULL */
	struct trace_launch launch;	/* the first; launch_count: all */
	struct roctrace_lanes *lanes;
};

bool roctrace_init(struct roctrace *r, struct trace *t, const char *path);
void roctrace_deinit(struct roctrace *r);

/* Calls come after what they start, values after their launches and counters. */
bool roctrace_add(struct roctrace *r, const struct roctrace_span *s);
bool roctrace_add_launch(
	struct roctrace *r, const struct roctrace_span *s, const struct trace_launch *l);
bool roctrace_add_counter(struct roctrace *r, int64_t id, struct str name, struct str unit);
bool roctrace_add_value(struct roctrace *r, int64_t event, int64_t counter, double v);
/* The time that values of this event have; roctrace_add() knows that of launches. */
bool roctrace_know_time(struct roctrace *r, int64_t event, int64_t at_ns);
bool roctrace_knows_time(const struct roctrace *r, int64_t event);
/* The values of the run that was read. */
bool roctrace_end_run(struct roctrace *r);

bool roctrace_is_empty(const struct roctrace *r);
/* What the trace says of the runs; then, where it is to be the timeline, that. */
bool roctrace_put_meta(struct roctrace *r);
bool roctrace_finish(struct roctrace *r, struct incore_error *e);
