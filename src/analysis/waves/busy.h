/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busy.h: when did a SIMD issue anything? Per SIMD (se, cu, simd) the union of the issue pieces of
 * all its waves, so that a wave's lost cycles can be classified as hidden (another wave issued) or
 * exposed.
 *
 * Own-wave exclusion without per-wave unions. Let I(v) be the issue pieces of wave v and L(w) the
 * lost ones (gap, stall, tail, drain) of wave w. The accounting puts every cycle of w into exactly
 * one piece, so L(w) and I(w) are disjoint. Hence for an interval X inside L(w)
 *	|X n union(I(v), v != w)| = |X n union(I(v), all v)| = C(b) - C(a)   for X = [a, b)
 * with C the cumulative length of the union of ALL waves. One sorted union per SIMD serves all its
 * waves. (Exception: where a record starts before the previous one ended, the recorded stall field
 * overlaps the wave's own issue; there "twice", the time in which at least two waves issued, is
 * used instead.)
 *
 * Not busy: waits, nops, barriers, sleeps, messages and the end of the program (trace categories 9
 * and 11): they occupy no pipe.
 *
 * The union must see every wave of a SIMD: busy_walk() widens a selection to whole SIMDs.
 */
#pragma once

#include "analysis/walk.h"
#include "analysis/waves/simd_sets.h"

struct busy {
	const struct trace *trace;
	uint32_t *group; /* by track: its SIMD, numbered in track order */
	uint32_t n_groups;
	bool has_groups;	  /* the trace has a level "simd"; without it nothing counts as
				     hidden */
	struct spans *sets;	  /* by group; indexed by busy_walk() */
	struct simd_sets at_hand; /* private: during the walk */
};

/* Does a slice of this class keep a pipe of the SIMD busy while it issues? */
static inline bool class_is_busy(enum inst_class c)
{
	return class_unit(c) != SIMD_NONE && c != CLASS_MSG;
}

struct busy *busy_new(const struct trace *t, struct incore_error *e);
void busy_free(struct busy *b);
/* The first walk, over whole SIMDs. */
bool busy_walk(struct busy *b, const struct walk_options *o, struct incore_error *e);

/* A wave's view of its SIMD; queries near the last one are cheap. */
struct busy_view {
	struct span_cursor once, twice;
};

void busy_view_init(struct busy_view *v, const struct busy *b, track_idx track);

/* Cycles of a lost piece [start, start + cyc) in which another wave issued. */
static inline uint64_t busy_hidden(struct busy_view *v, uint64_t start, uint64_t cyc)
{
	return v->once.list && cyc ? span_cursor_between(&v->once, start, start + cyc) : 0;
}
