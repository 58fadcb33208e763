/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selection.h: which tracks and which time. Each dimension is a set of number ranges ("0,2-3"); an
 * empty set is all.
 * --from and --to are cycles of the trace clock, counted from the first track's aligned begin (time
 * 0 of every screen).
 */
#pragma once

#include "base/str.h"
#include "base/vec.h"
#include "trace/trace.h"

struct number_range {
	uint64_t first, last; /* both included */
};

struct number_set {
	VEC(struct number_range) ranges;
};

struct selection {
	struct number_set level[TRACK_LEVELS]; /* indexed as trace.levels; wave: its number within
						  the slot */
	bool has_from, has_to;
	uint64_t from_cyc, to_cyc; /* relative to trace_origin() */
	bool has_origin;	   /* origin_cyc is trace_origin(), computed once */
	int64_t origin_cyc;
	struct number_set kernel_ids; /* kernels whose waves count; filled from --kernel by name */
	bool has_kernel_filter;
};

/* "0", "0-3", "0,2,5-7"; false with status USAGE on anything else. */
bool number_set_parse(
	struct number_set *s, struct str text, const char *what, struct incore_error *e);
bool number_set_has(const struct number_set *s, uint64_t n); /* an empty set contains every
								number */
void selection_deinit(struct selection *s);
bool selection_has(const struct selection *s, const struct trace *t, const struct track *k);
/* Does it select everything? */
bool selection_is_all(const struct selection *s);
/* Window of a track in its own clock; from = 0, to = UINT64_MAX where there is none. */
void selection_window(const struct selection *s, const struct trace *t, const struct track *k,
	uint64_t *from, uint64_t *to);
/* Aligned begin of the earliest track; 0 without tracks. */
int64_t trace_origin(const struct trace *t);
