/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_waves.h: does an instruction cost the same in every wave? For each code row: the mean cycles
 * of one execution (recorded duration) in each wave that ran it, and over those waves the smallest,
 * mean and largest value, the standard deviation, and the slowest wave. A row that is slow in one
 * wave only needs another remedy than one that is slow in all.
 *
 * Means are kept in sixteenths of a cycle, sums are integers: the same answer for any number of
 * threads. Only records that start inside the selected window count. Memory: about 60 bytes per row
 * and worker, whatever the number of waves.
 * Owner: row_waves_new() .. row_waves_free(). Results after walk_tracks(). May fail: memory.
 */
#pragma once

#include "analysis/walk.h"

#define ROW_WAVES_UNIT 16u /* parts of a cycle */

struct row_spread {
	uint64_t n;			  /* waves that executed the row */
	uint64_t sum;			  /* sum of their means */
	uint64_t square_low, square_high; /* of the squares: low and high 32 bits of each, summed */
	uint64_t min, max;
	track_idx slowest; /* the first one with max */
};

struct row_waves {
	const struct trace *trace;
	struct row_spread *rows; /* by code_idx */
};

struct row_waves *row_waves_new(const struct trace *t, struct incore_error *e);
void row_waves_free(struct row_waves *r);
struct collector row_waves_collector(struct row_waves *r);

double row_spread_mean(const struct row_spread *s);	 /* cycles; 0 without waves */
double row_spread_deviation(const struct row_spread *s); /* over the waves (n) */
