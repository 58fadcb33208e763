/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whatif.h: how long would the kernel take if one thing were changed? A plan says what changes:
 * rows that get faster or are removed, additional waves per SIMD. The trace is timed again under
 * the plan.
 *
 *	struct whatif_plan *p = whatif_plan_new(trace, e);
 *	whatif_faster(p, "VMEM-load=2", e) && whatif_remove(p, "BARRIER", e)
 *	struct whatif_result r = {0};			zero it first
 *	whatif_run(trace, (const struct whatif_plan *const[]){p}, 1, &walk_options, &r, e)
 *	... r.before_cyc, r.after_cyc, r.low_cyc, r.high_cyc ...
 *	whatif_result_deinit(&r); whatif_plan_free(p);
 *
 * Several plans are answered in one pass: each compute unit is read once. Three methods, by what
 * the trace holds: waves of AMD are replayed against a graph of constraints (whatif_unit.h), pipes
 * of Ascend likewise (whatif_pipes.c), samples are estimated (whatif_samples.c).
 *
 * A further speed-up never makes the whole longer: of two plans that differ by a factor alone, the
 * faster one takes no longer. Of waves that take turns this is not so by itself; so a plan is timed
 * with weaker factors, too, and the shortest time counts.
 *
 * All results are estimates, whatever evidence the trace is. Owner: the caller frees plans and
 * results; the trace must outlive both. Threads: plans are only read during a run; the figures are
 * the same for any number of workers. May fail: a target that names nothing (status USAGE), memory.
 */
#pragma once

#include "analysis/walk.h"
#include "base/vec.h"

#define WHATIF_PLAIN 1000u	  /* faster_milli of an unchanged row */
#define WHATIF_AT_ONCE UINT32_MAX /* takes no time at all */

struct whatif_row {
	uint32_t faster_milli; /* K x 1000 */
	uint32_t ahead;	       /* executions by which its result is requested earlier */
	uint32_t sooner_cyc;   /* cycles by which its result is requested earlier; replay only */
	uint8_t like;	       /* sampled data: as fast as this class; CLASS_OTHER: not given */
	bool is_removed;
	bool is_even; /* a barrier: whoever meets there arrives when they do on average */
};

struct whatif_plan {
	const struct trace *trace;
	struct whatif_row *rows;    /* by code row; one more, unchanged, for unknown rows */
	struct whatif_row *reasons; /* changes by stall reason, for sampled data */
	int waves;		    /* additional waves per SIMD; negative: fewer */
	uint32_t n_rows;	    /* number of changed rows */
};

struct whatif_plan *whatif_plan_new(const struct trace *t, struct incore_error *e);
void whatif_plan_free(struct whatif_plan *p);
/* Changes a row, or the samples of a stall reason, in addition to what the plan has. */
void whatif_change_row(struct whatif_plan *p, code_idx row, const struct whatif_row *to);
void whatif_change_reason(struct whatif_plan *p, uint32_t reason, const struct whatif_row *to);
/* Target: "ROW", "ROW-ROW", "FILE:LINE", "CLASS", "OPCODE" or, for samples, "REASON", or several with
 * commas between; then "=K": K times as fast (default 2), "=inf": no time at all, or, for samples,
 * "=CLASS": as fast as such instructions are on their own. */
bool whatif_faster(struct whatif_plan *p, const char *target, struct incore_error *e);
/* "WHAT=N": its results are requested N executions earlier (default 1). */
bool whatif_ahead(struct whatif_plan *p, const char *target, struct incore_error *e);
/* "WHAT=CYC": its results are requested that many cycles sooner, not before its wave begins. */
bool whatif_sooner(struct whatif_plan *p, const char *target, struct incore_error *e);
/* Removes a target, given as for whatif_faster() but without "=K". */
bool whatif_remove(struct whatif_plan *p, const char *target, struct incore_error *e);
/* "LDL,STL": removes all rows of these opcodes; with "=K" they are K times as fast. */
bool whatif_opcode(struct whatif_plan *p, const char *target, struct incore_error *e);
/* Barriers: gives whoever meets there equal work before it. */
bool whatif_even(struct whatif_plan *p, const char *target, struct incore_error *e);
/* Changes the number of waves per SIMD: "+1", "-2". */
bool whatif_waves(struct whatif_plan *p, const char *n, struct incore_error *e);
/* Appends the classes and stall reasons that the trace has, as targets name them: "VALU, LDS". */
void whatif_put_targets(const struct whatif_plan *p, struct strbuf *out);

/* What the time on the critical path is spent on. */
enum whatif_part {
	PART_ISSUE,   /* instructions issue or work on their pipe */
	PART_LATENCY, /* from the issue of a producer to the end of the wait for it */
	PART_BARRIER, /* from the last arrival to the release; flags between pipes */
	PART_OWN,     /* held by an earlier instruction of the same wave */
	PART_OTHER,   /* the pipe is in use by another wave */
	PART_STALL,   /* measured stalls that no constraint explains; padding */
	PART_GAP,     /* between instructions: fetches */
	PART_DRAIN,   /* outstanding stores at the end of a wave */
	PART_START,   /* until a wave begins: launch, waiting for its slot */
	WHATIF_PARTS
};
#define WHATIF_PART_CHOICES "issue|latency|barrier|own-pipe|other-wave|stall|gap|drain|start"
const char *whatif_part_name(enum whatif_part p);

struct whatif_limit { /* one component of the critical path */
	uint8_t part;
	code_idx code; /* NO_CODE: none */
	uint64_t before_cyc, after_cyc;
};

struct whatif_span { /* one compute unit, or one core on Ascend */
	track_idx first, end;
	uint64_t before_cyc, after_cyc, low_cyc, high_cyc;
	uint32_t n_waves, n_true; /* n_true: those whose unchanged replay is within 1 % of the
				     measured duration */
	uint32_t n_unread;	  /* unreadable tracks, left out */
	double coupling;	  /* how far device-shared memory is assumed to keep its times, 0
				     to 1 */
};

/* A removal as an instruction that stays and takes no time, and the other way round; *out is NULL if
 * the plan is of neither kind. Returns false on lack of memory. */
bool whatif_plan_twin(
	const struct whatif_plan *p, struct whatif_plan **out, struct incore_error *e);
bool whatif_removes(const struct whatif_plan *p); /* any row or reason */

enum whatif_method { WHATIF_REPLAY, WHATIF_PIPES, WHATIF_SAMPLES, WHATIF_NONE };

struct whatif_result {
	enum whatif_method method;
	/* Length of the longest unit, unchanged and changed. low <= after <= high. */
	uint64_t before_cyc, after_cyc, low_cyc, high_cyc;
	bool does_nothing;   /* replay: low and high are within 0.1 % of before; samples: after is
				within 1 %, low and high within 5 % */
	uint64_t n_executed; /* executions of changed rows in all waves */
	uint32_t n_waves, n_true, n_unread;
	VEC(track_idx) untrue;		 /* waves that are not true, in track order */
	VEC(struct whatif_span) spans;	 /* in track order */
	VEC(struct whatif_limit) limits; /* of the longest unit; descending by after, then before */
	const char *why; /* WHATIF_NONE: why there is no answer; samples: what bounds the kernel;
			    static */
};

bool whatif_run(const struct trace *t, const struct whatif_plan *const *plans, size_t n,
	const struct walk_options *o, struct whatif_result *out, struct incore_error *e);
void whatif_result_deinit(struct whatif_result *r);
