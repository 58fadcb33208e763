/* SPDX-License-Identifier: Apache-2.0 */
/*
 * histogram.h: exact distributions of integers, many series in one table (value -> count), so that
 * quantiles are those of the sorted sample and do not depend on the order of counting.
 * Owner: the holder; histograms_deinit(). May fail: memory.
 */
#pragma once

#include "base/map.h"

#define HISTOGRAM_MAX_SERIES (1u << 24)
#define HISTOGRAM_MAX_VALUE ((UINT64_C(1) << 40) - 1) /* larger ones count as this */

struct histogram_entry {
	uint64_t value, count;
};

struct histograms {
	struct u64_map counts;		 /* series << 40 | value */
	struct histogram_entry *entries; /* after sealing: by series, then by value */
	uint32_t *first;		 /* by series, n_series + 1 of them */
	uint32_t n_series;
};

struct distribution {
	uint64_t n, min, median, p95, max, p99; /* all 0 when n is 0 */
};

bool histograms_add(struct histograms *h, uint32_t series, uint64_t value, uint64_t count);
/* The value, rounded down to 1 part in exact / 2 from `exact` on; limits the number of distinct
 * values.
 */
static inline uint64_t histogram_round(uint64_t value, uint64_t exact)
{
	unsigned shift = 0;

	while (value >> shift >= exact)
		shift++;
	return value >> shift << shift;
}
/* Run of equal values, counted before it goes into the table, since most series repeat themselves.
 * Zero it first; histogram_run_end() adds the last run. */
struct histogram_run {
	uint64_t value, n;
};

static inline bool histogram_run_end(struct histograms *h, struct histogram_run *r, uint32_t series)
{
	uint64_t n = r->n;

	r->n = 0;
	return n == 0 || histograms_add(h, series, r->value, n);
}

static inline bool histogram_run_add(
	struct histograms *h, struct histogram_run *r, uint32_t series, uint64_t value)
{
	if (r->n > 0 && r->value == value) {
		r->n++;
		return true;
	}
	if (!histogram_run_end(h, r, series))
		return false;
	*r = (struct histogram_run){value, 1};
	return true;
}
/* Sorts; nothing may be added afterwards. */
bool histograms_seal(struct histograms *h, uint32_t n_series, struct incore_error *e);
/* quantile p of n values = sorted[min(n - 1, floor(p * n))]. */
struct distribution histograms_get(const struct histograms *h, uint32_t series);
void histograms_deinit(struct histograms *h);
