/* SPDX-License-Identifier: Apache-2.0 */
/*
 * levels.h: how long were memory instructions under way, by counters of those in flight
 * (SQ_INST_LEVEL_VMEM, _LDS, _SMEM)? A second opinion beside latency.h, which needs no counter.
 *
 * At each sample of a compute unit, what it issued so far less what is in flight has come back; the
 * oldest did so first: that is assumed, and not true of stores among loads or of other caches, so
 * this is an APPROXIMATION. An instruction that came back by a sample did so on the average half a
 * sample before it. A sample in which all counters are 0 is not written: a gap stands for one. What
 * is in flight at the end is left out.
 *
 * It needs every wave of a compute unit: a walk without a selection. Memory: 24 bytes a memory
 * instruction. Owner: levels_new() .. levels_free(). Results after walk_tracks() and
 * levels_finish(). May fail: memory.
 */
#ifndef ANALYSIS_COUNTERS_LEVELS_H
#define ANALYSIS_COUNTERS_LEVELS_H

#include "analysis/walk.h"

#define LEVEL_KINDS 3
#define LEVEL_INTERVAL_CYC 40 /* between samples, where there are too few to tell */
extern const char *const level_counters[LEVEL_KINDS]; /* their names */

struct level_sums {
	uint64_t n; /* instances */
	double sum, squares;
	uint32_t interval_cyc; /* the longest of the counters that saw it */
};

struct levels {
	const struct trace *trace;
	unsigned found;		  /* a bit a counter that the trace has */
	struct level_sums *rows;  /* by code_idx */
	struct level_worker *all; /* private */
};

/* Which of the counters are there: a bit each, by level_counters. */
unsigned levels_find(const struct trace *t);
struct levels *levels_new(const struct trace *t, struct incore_error *e);
void levels_free(struct levels *l);
struct collector levels_collector(struct levels *l);
void levels_finish(struct levels *l);

/* Which counter counts instructions of that class: a place in level_counters; LEVEL_KINDS: none. */
unsigned level_kind(enum inst_class c);
/* Of n > 0 instances: the mean; the standard deviation and the error of the mean, which take two
 * (NaN). */
double level_mean(const struct level_sums *s);
double level_deviation(const struct level_sums *s);
double level_error(const struct level_sums *s);

#endif
