/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roctrace.h: runs traced by rocprofv3 as a timeline, for every file format: lanes and their
 * names, what a call started, the counters of launches. Owner: roctrace_init() ..
 * roctrace_deinit(); the trace is borrowed. Adding returns false only when out of memory; invalid
 * records are counted.
 */
#pragma once

#include "trace/trace.h"

/* The kinds of lanes, in the order they are shown. */
enum roctrace_lane { LANE_MARKERS, LANE_THREAD, LANE_MEMORY, LANE_COPIES, LANE_QUEUE };

struct roctrace_span { /* numbers: NO_VALUE if missing in the file */
	enum roctrace_lane lane;
	int64_t pid, of, queue; /* of: the thread or the agent */
	int64_t from_ns, to_ns;
	int64_t stack; /* shared by a call and what it started */
	int64_t event; /* id of a launch, to which counter values refer */
	struct str name, category;
};

struct roctrace {
	struct trace *t; /* all strings are in its arena */
	uint32_t number; /* number of the run being read: ids are per run */
	uint64_t n_damaged, n_runs;
	const char *version;		/* of the schema, or NULL */
	const char *arch, *product;	/* of the first GPU, or NULL */
	const char *arch_source;	/* the source of both */
	const char *command, *evidence; /* or NULL */
	struct trace_launch launch;	/* the first; launch_count: all */
	struct roctrace_lanes *lanes;
};

bool roctrace_init(struct roctrace *r, struct trace *t, const char *path);
void roctrace_deinit(struct roctrace *r);

/* Calls must be added after what they start, values after their launches and counters. */
bool roctrace_add(struct roctrace *r, const struct roctrace_span *s);
bool roctrace_add_launch(
	struct roctrace *r, const struct roctrace_span *s, const struct trace_launch *l);
bool roctrace_add_counter(struct roctrace *r, int64_t id, struct str name, struct str unit);
bool roctrace_add_value(struct roctrace *r, int64_t event, int64_t counter, double v);
/* Sets the time of this event's values; roctrace_add() sets that of launches. */
bool roctrace_know_time(struct roctrace *r, int64_t event, int64_t at_ns);
bool roctrace_knows_time(const struct roctrace *r, int64_t event);
/* Ends a run: adds its counter values. */
bool roctrace_end_run(struct roctrace *r);

bool roctrace_is_empty(const struct roctrace *r);
/* Adds what is known about the runs and then, if wanted, the timeline. */
bool roctrace_put_meta(struct roctrace *r);
bool roctrace_finish(struct roctrace *r, struct incore_error *e);
