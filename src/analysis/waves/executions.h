/* SPDX-License-Identifier: Apache-2.0 */
/*
 * executions.h: what one execution of each code row cost: min, median, p95 and max of the recorded
 * duration (stall + issue) and of its stall, exact. Only records that start inside the selected window count.
 * Owner: executions_new() .. executions_free(). Results after walk_tracks() and
 * executions_finish(). May fail: memory.
 */
#pragma once

#include "analysis/walk.h"
#include "analysis/waves/histogram.h"

struct executions {
	uint32_t n_rows;	/* of the code table, with figures */
	struct histograms hist; /* private: two series per code row */
};

struct executions *executions_new(const struct trace *t, struct incore_error *e);
void executions_free(struct executions *x);
struct collector executions_collector(struct executions *x);
bool executions_finish(struct executions *x, struct incore_error *e);

/* After executions_finish(); n is 0 for a row that was not executed. */
struct distribution executions_cycles(const struct executions *x, code_idx i);
struct distribution executions_stall(const struct executions *x, code_idx i);
