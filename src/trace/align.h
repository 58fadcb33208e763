/* SPDX-License-Identifier: Apache-2.0 */
/*
 * align.h: how the clocks of a trace relate. Each domain has samples that pair its clock with one
 * that all share; from them come its frequency and the offset that brings it to the trace clock.
 */
#pragma once

#include "trace/trace.h"

#define TRACE_MAX_TIME_CYC                                                                         \
	(INT64_MAX / 2) /* so that time + offset and time + duration stay exact */

/*
 * Fills offset, frequency and is_aligned of every domain, the reference clock and the trace clock.
 * shared_hz: frequency of the shared clock. `source`: where the samples are from, for meta and
 * notes. first_cyc: by domain, when its first wave starts; the last sample before that is what it
 * is aligned by (clocks drift between many samples); NULL: the first. A domain without samples
 * stays unaligned and is noted. False on lack of memory.
 */
bool trace_align_clocks(
	struct trace *t, uint64_t shared_hz, const uint64_t *first_cyc, const char *source);
