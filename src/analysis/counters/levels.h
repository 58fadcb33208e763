/* SPDX-License-Identifier: Apache-2.0 */
/*
 * levels.h: how long did memory instructions take, from counters of those in flight
 * (SQ_INST_LEVEL_VMEM, _LDS, _SMEM)? A cross-check of latency.h, which needs no counter.
 *
 * At each sample of a compute unit, the instructions it issued so far minus those in flight have
 * returned. The oldest are assumed to return first, which is wrong for stores mixed with loads: an
 * APPROXIMATION. An instruction that returned between two samples is assumed to have done so half a
 * sample interval before the later one. Samples in which all counters are 0 are not recorded, so a
 * gap means zeros. Instructions still in flight at the end are left out.
 */
#pragma once

#include "trace/trace.h"

#define LEVEL_KINDS 3
extern const char *const level_counters[LEVEL_KINDS]; /* their names */

struct level_row {
	uint64_t n;		       /* instances that returned */
	double mean, deviation, error; /* cycles; the last two need two instances, else NaN */
};

/* Bit mask of the level counters that the trace has. */
unsigned levels_find(const struct trace *t);
/* Rows by code_idx, in the arena. Loads every track, since the counters count all waves. NULL on
 * lack of memory. */
struct level_row *levels_make(const struct trace *t, struct arena *a, struct incore_error *e);
