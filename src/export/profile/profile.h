/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.h: cycles by cause over inline stacks, for formats of profilers. A line is one cause on
 * one row of the code; lines add up exactly to the cycles of incore hot for the selection. For
 * pipes the cause of a row is its bucket, and cycles of no row are listed by lane; for samples
 * without a period the unit is samples, and the cause the sampler's reason; without any of these,
 * lines are the producer's totals. For a timeline (KIND_TIMELINE) a line is a stack of nested
 * slices.
 * Owner: profile_new() .. profile_free(); lines and texts live as long.
 */
#pragma once

#include "base/vec.h"
#include "export/export.h"
#include "trace/kind.h"

struct profile_line {
	code_idx code;	   /* NO_CODE: no known row */
	const char *cause; /* "wait:VMEM-load" */
	enum bucket bucket;
	uint64_t cyc, hits;		  /* in the profile's unit; hits: number of executions */
	uint64_t exposed;		  /* part of cyc: lost while no other wave issued */
	uint32_t first_caller, n_callers; /* timeline: range in callers, innermost first */
};

struct profile_sums {
	const struct trace *trace;
	enum trace_kind kind; /* of the trace */
	bool is_nested;	      /* slices lie in each other, as in a timeline */
	const char *unit;     /* "cycles", "samples", "exposed cycles" */
	VEC(struct profile_line) lines;
	uint64_t total;
	bool has_exposed;	   /* exposed cycles are known: by waves of SIMDs, or by samples */
	VEC(struct frame) callers; /* slices around a slice; frame.source is the code row */
	struct causes *causes;	   /* private: names of causes live here */
	struct busy *busy;	   /* private: when SIMDs issued; or NULL */
	struct strbuf text;
};

const char *profile_kernel(const struct profile_sums *p);
/* Text of the instruction of a line, or "(unknown)". */
struct str profile_instruction(const struct profile_sums *p, const struct profile_line *l);
/* The *n frames of a line, innermost first. */
const struct frame *profile_frames(
	const struct profile_sums *p, const struct profile_line *l, uint32_t *n);
/* "a.py:12" of a frame: the path's last part; borrowed until the next call. NULL on lack of memory.
 */
const char *profile_frame_name(struct profile_sums *p, const struct frame *f);
const char *profile_path(const struct profile_sums *p, const struct frame *f); /* "": not known */

/* Members common to these formats; x->state is the profile. */
bool profile_begin(struct export *x, struct incore_error *e);
void profile_end(struct export *x);
#define PROFILE_WRITER(of)                                                                         \
	.takes_sums = true, .begin = profile_begin, .lost = export_note_told,                      \
	.truncated = export_note_told, .end = of##_end, .abort = profile_end
