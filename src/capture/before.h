/* SPDX-License-Identifier: Apache-2.0 */
/*
 * before.h: what can be known before an application runs below rocprofv3: are the counters that
 * were asked for among those of the agents, and will its kernels have source lines?
 */
#pragma once

#include "capture/rocprof.h"

#define ATT_COUNTERS_MOST 8u /* SQ counters that a thread trace can stream (gfx9) */

/* Checks names, separated by blanks or commas, against what rocprofv3 --list-avail prints: error
 * "unknown-counter" names the first that no agent has, with those that are most alike. in_trace:
 * of a thread trace: at most ATT_COUNTERS_MOST, of the SQ alone, "NAME" or "NAME:0xMASK". A tool
 * that lists nothing is not held against the names. */
bool before_check_counters(const struct rocprof *tool, const char *names, bool in_trace,
	bool is_dry, struct arena *a, struct incore_error *e);
/* A sentence about why its kernels will have no source lines, in the arena; NULL: nothing is known
 * against it. app ends with NULL. *failed is set on lack of memory. */
const char *before_no_lines(const char *const *app, struct arena *a, bool *failed);
