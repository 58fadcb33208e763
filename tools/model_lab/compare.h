/* SPDX-License-Identifier: Apache-2.0 */
/* compare.h: the two halves of `incore model compare`. */
#pragma once

#include "analysis/pipes/pipe_compare.h"

/* The counters of a run as side A, a trace as side B: rows of `pipes` are means per kind of core,
 * rows of `ops` are tasks. Freed with pipe_compare_deinit(). */
bool compare_counters(
	const char *path, const struct pipes *p, struct pipe_compare *out, struct incore_error *e);
