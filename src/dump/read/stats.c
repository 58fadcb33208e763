/* SPDX-License-Identifier: Apache-2.0 */
/* stats.c: a tensor in one line: range, mean, number of zeros and NaNs, distribution. */
#include <math.h>

#include "dump/read/values.h"

struct sum {
	double value, rest; /* rest: rounding error of value */
};

/* Compensated sum: accuracy of the mean does not depend on the size of the tensor. */
static void sum_add(struct sum *s, double v)
{
	double t = s->value + v;

	s->rest += fabs(s->value) >= fabs(v) ? (s->value - t) + v : (v - t) + s->value;
	s->value = t;
}

/* False: the value is not finite; it is counted as such. */
static bool take_value(struct value_stats *s, double v)
{
	s->n++;
	if (isnan(v)) {
		s->nans++;
		return false;
	}
	if (isinf(v)) {
		s->pos_infs += v > 0;
		s->neg_infs += v < 0;
		return false;
	}
	s->zeros += v == 0;
	return true;
}

static void take_integer(struct value_stats *s, unsigned dtype, uint64_t bits, bool is_first)
{
	int64_t v = value_i64(dtype, bits);
	bool is_unsigned = dtype == DTYPE_UINT64;

	if (is_first || (is_unsigned ? (uint64_t)v < (uint64_t)s->min_i64 : v < s->min_i64))
		s->min_i64 = v;
	if (is_first || (is_unsigned ? (uint64_t)v > (uint64_t)s->max_i64 : v > s->max_i64))
		s->max_i64 = v;
}

static void fill_bins(unsigned dtype, const uint8_t *p, uint64_t n, struct value_stats *s)
{
	double range = s->max / 2 - s->min / 2; /* halved: max - min may overflow */

	for (uint64_t i = 0; i < n; i++)
		for (unsigned k = 0; k < dtype_values(dtype); k++) {
			double v = value_double(dtype, p, i, k), at;

			if (!isfinite(v))
				continue;
			at = range > 0 ? (v / 2 - s->min / 2) / range * STATS_BINS : 0;
			s->bins[at >= STATS_BINS ? STATS_BINS - 1 : (unsigned)at]++;
		}
}

void value_stats_of(unsigned dtype, const uint8_t *p, uint64_t n, struct value_stats *out)
{
	struct sum sum = {0};
	__int128 whole = 0; /* of integers: exact */
	uint64_t finite;

	*out = (struct value_stats){.min = (double)NAN, .max = (double)NAN, .mean = (double)NAN};
	for (uint64_t i = 0; i < n; i++)
		for (unsigned k = 0; k < dtype_values(dtype); k++) {
			double v = value_double(dtype, p, i, k);

			if (!take_value(out, v))
				continue;
			if (!dtype_is_float(dtype)) {
				uint64_t bits = value_bits(dtype, p, i);

				take_integer(out, dtype, bits, i == 0);
				whole += dtype == DTYPE_UINT64 ? (__int128)bits
							       : value_i64(dtype, bits);
			}
			/* true also for the first value, when min is NAN */
			if (!(v >= out->min))
				out->min = v;
			if (!(v <= out->max))
				out->max = v;
			sum_add(&sum, v);
		}
	finite = out->n - out->nans - out->pos_infs - out->neg_infs;
	if (!finite)
		return;
	out->mean = dtype_is_float(dtype) ? (sum.value + sum.rest) / (double)finite
					  : (double)whole / (double)finite;
	fill_bins(dtype, p, n, out);
}
