/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whatif.h: how long would the kernel take if one thing were changed? A plan says what: rows that
 * are faster or gone, waves that a SIMD holds more. The trace is timed again under it.
 *
 *	struct whatif_plan *p = whatif_plan_new(trace, e);
 *	whatif_faster(p, "VMEM-load=2", e) && whatif_remove(p, "BARRIER", e)
 *	struct whatif_result r = {0};			zero it first
 *	whatif_run(trace, (const struct whatif_plan *const[]){p}, 1, &walk_options, &r, e)
 *	... r.before_cyc, r.after_cyc, r.low_cyc, r.high_cyc ...
 *	whatif_result_deinit(&r); whatif_plan_free(p);
 *
 * Several plans are answered in one pass: each compute unit is read once. Three methods, by what the
 * trace holds: waves of AMD are replayed against a graph of constraints (whatif_unit.h), pipes of
 * Ascend likewise (whatif_pipes.c), samples are estimated (whatif_samples.c).
 *
 * All of it is an estimate, on whatever evidence the trace is. Owner: who made them frees plans and
 * results; the trace must outlive both. Threads: plans are read alone while they run; same figures
 * for any number of workers. May fail: a target that names nothing (status USAGE), memory.
 */
#pragma once

#include "analysis/walk.h"
#include "base/vec.h"

#define WHATIF_PLAIN 1000u	  /* faster_milli of what is not changed */
#define WHATIF_AT_ONCE UINT32_MAX /* it takes no time at all */

struct whatif_row {
	uint32_t faster_milli; /* K x 1000 */
	uint32_t ahead;	       /* its result is asked for so many executions earlier */
	uint8_t like;	       /* of samples: as fast as this class; CLASS_OTHER: not said */
	bool is_removed;
};

struct whatif_plan {
	const struct trace *trace;
	struct whatif_row *rows; /* by code row; one more for rows that are not known: unchanged */
	struct whatif_row *reasons; /* the same by stall reason of samples */
	int waves;		    /* more that a SIMD holds at once; fewer are negative */
	uint32_t n_rows;	    /* rows that are changed */
};

struct whatif_plan *whatif_plan_new(const struct trace *t, struct incore_error *e);
void whatif_plan_free(struct whatif_plan *p);
/* "ROW", "FILE:LINE", "CLASS" or, of samples, "REASON", and "=K": K times as fast, 2 if not said;
 * "=inf": at once; of samples "=CLASS": as fast as such instructions are on their own. */
bool whatif_faster(struct whatif_plan *p, const char *target, struct incore_error *e);
/* "WHAT=N": its results are asked for N executions earlier, 1 if not said. */
bool whatif_ahead(struct whatif_plan *p, const char *target, struct incore_error *e);
/* The same without a number. */
bool whatif_remove(struct whatif_plan *p, const char *target, struct incore_error *e);
/* "+1", "-2". */
bool whatif_waves(struct whatif_plan *p, const char *n, struct incore_error *e);
/* Appends the classes and stall reasons that the trace has, as targets name them: "VALU, LDS". */
void whatif_put_targets(const struct whatif_plan *p, struct strbuf *out);

/* What time goes to, on the path that makes the kernel as long as it is. */
enum whatif_part {
	PART_ISSUE,   /* instructions issue, or work on their pipe */
	PART_LATENCY, /* from the issue of a producer to the end of the wait for it */
	PART_BARRIER, /* from the last arrival to the release; flags between pipes */
	PART_OWN,     /* the wave's own earlier instruction holds it */
	PART_OTHER,   /* the pipe is taken by another wave */
	PART_STALL,   /* measured stalls with no constraint to explain them; padding */
	PART_GAP,     /* between instructions: fetches */
	PART_DRAIN,   /* stores on their way at the end of a wave */
	PART_START,   /* until a wave begins: launch, and the slot it takes over */
	WHATIF_PARTS
};
#define WHATIF_PART_CHOICES "issue|latency|barrier|own-pipe|other-wave|stall|gap|drain|start"
const char *whatif_part_name(enum whatif_part p);

struct whatif_limit { /* what the path is made of */
	uint8_t part;
	code_idx code; /* NO_CODE: none */
	uint64_t before_cyc, after_cyc;
};

struct whatif_span { /* one compute unit; one core of Ascend */
	track_idx first, end;
	uint64_t before_cyc, after_cyc, low_cyc, high_cyc;
	uint32_t n_waves, n_true; /* replayed unchanged: within 1 % of their measured duration */
	uint32_t n_unread;	  /* tracks that could not be read: left out */
	double coupling;	  /* how far shared memory is taken not to move: 0 to 1 */
};

enum whatif_method { WHATIF_REPLAY, WHATIF_PIPES, WHATIF_SAMPLES, WHATIF_NONE };

struct whatif_result {
	enum whatif_method method;
	/* Of the longest unit, changed and unchanged. low <= after <= high. */
	uint64_t before_cyc, after_cyc, low_cyc, high_cyc;
	bool does_nothing; /* replayed: neither end is a per mille away; samples: not a per cent */
	uint64_t n_executed; /* executions of changed rows, of all waves */
	uint32_t n_waves, n_true, n_unread;
	VEC(track_idx) untrue;		 /* the others, in track order */
	VEC(struct whatif_span) spans;	 /* in track order */
	VEC(struct whatif_limit) limits; /* of the longest unit; descending by after, then before */
	const char *why; /* METHOD_NONE: why there is no answer; samples: what bounds it; static */
};

bool whatif_run(const struct trace *t, const struct whatif_plan *const *plans, size_t n,
	const struct walk_options *o, struct whatif_result *out, struct incore_error *e);
void whatif_result_deinit(struct whatif_result *r);
