/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clean.h: how the slices of one lane are laid out so that none overlaps another on its row, and
 * which slices the arrow of a flag connects. Times are doubles in any one unit (microseconds as a
 * simulator wrote them, or cycles); all comparisons are exact.
 * Owner: the caller owns all arrays; clean_rows_deinit() frees the packer. Time is linear, times
 * the logarithm of the overlap, and of the length for input far from sorted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct clean_span {
	double start, length;
	uint32_t index; /* the caller's; also the last sort key */
};

/* Sorts by (start, length, index). False on lack of memory. */
bool clean_sort(struct clean_span *v, size_t n);

/* First fit into rows: the lowest row that is free at `start`. */
struct clean_rows {
	double *tree; /* minimum of ends; leaves are rows */
	uint32_t n_leaves, n_rows;
};
#define CLEAN_NO_ROW UINT32_MAX
void clean_rows_init(struct clean_rows *r);
void clean_rows_clear(struct clean_rows *r); /* removes all rows; keeps memory */
void clean_rows_deinit(struct clean_rows *r);
/* The row of a slice [start, end); calls must come in the order of starts. A row counts as free
 * when its end <= start + slack. CLEAN_NO_ROW on lack of memory. */
uint32_t clean_rows_put(struct clean_rows *r, double start, double end, double slack);

/* In spans sorted by clean_sort(): the last one with start <= at, the first with start >= at; n if
 * there is none. */
size_t clean_last_before(const struct clean_span *v, size_t n, double at);
size_t clean_first_after(const struct clean_span *v, size_t n, double at);

/* Figures of one lane; for busy time and waits see pipe_sweep.h. */
struct clean_lane_sum {
	uint64_t n;
	double length_sum;  /* sum of lengths */
	double first, last; /* start of the first, end of the last */
	uint32_t depth_max; /* most slices in flight at once; empty slices do not count */
};
/* Spans sorted by clean_sort(); false on lack of memory. */
bool clean_sum(const struct clean_span *v, size_t n, struct clean_lane_sum *out);
