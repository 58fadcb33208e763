/* SPDX-License-Identifier: Apache-2.0 */
/*
 * levels.h: how long were memory instructions under way, by counters of those in flight
 * (SQ_INST_LEVEL_VMEM, _LDS, _SMEM)? A second opinion beside latency.h, which needs no counter.
 *
 * At each sample of a compute unit what it issued so far, less what is in flight, has come back. The
 * oldest is taken to come back first, which is not so of stores among loads: an APPROXIMATION. What
 * came back by a sample did so half a sample before it, on the average. A sample in which all
 * counters are 0 is not written: a gap stands for one. What is in flight at the end is left out.
 */
#pragma once

#include "trace/trace.h"

#define LEVEL_KINDS 3
extern const char *const level_counters[LEVEL_KINDS]; /* their names */

struct level_row {
	uint64_t n;		       /* instances that came back */
	double mean, deviation, error; /* cycles; the last two of at least two instances, or NaN */
};

/* Which of the counters the trace has: a bit each. */
unsigned levels_find(const struct trace *t);
/* By code_idx, in the arena. Loads every track: counters count all waves. NULL: no memory. */
struct level_row *levels_make(const struct trace *t, struct arena *a, struct incore_error *e);
