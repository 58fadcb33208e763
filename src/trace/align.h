/* SPDX-License-Identifier: Apache-2.0 */
/*
 * align.h: aligns the clocks of a trace. Each domain has samples that pair its clock with a clock
 * shared by all; they give its frequency and its offset to the trace clock.
 */
#pragma once

#include "trace/trace.h"

#define TRACE_MAX_TIME_CYC                                                                         \
	(INT64_MAX / 2) /* so that time + offset and time + duration stay exact */

/*
 * Fills offset, frequency and is_aligned of every domain, the reference clock and the trace clock.
 * shared_hz: frequency of the shared clock. `source`: where the samples come from, for meta and
 * notes. first_cyc: by domain, when its first wave starts; the last sample before that is used for
 * alignment (clocks drift between samples); NULL: the first sample is used. A domain without
 * samples stays unaligned and is noted. False on lack of memory.
 */
bool trace_align_clocks(
	struct trace *t, uint64_t shared_hz, const uint64_t *first_cyc, const char *source);
