/* SPDX-License-Identifier: Apache-2.0 */
/*
 * values.c: values of every dtype as numbers and text, and their statistics. Parts: values;
 * statistics.
 */
#include "dump/read/values.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/little_endian.h"

/* --- values ----------------------------------------------------------------------------------- */

/*
 * Converts elements of every dtype from bits to numbers, and to text that reads back exactly.
 */

static float float_of(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

float half_to_float(uint16_t bits)
{
	uint32_t sign = (uint32_t)(bits & 0x8000) << 16, exp = bits >> 10 & 31, frac = bits & 0x3ff;

	if (exp == 31)
		return float_of(sign | 0x7f800000u | frac << 13);
	if (exp == 0)
		return float_of(sign) + (sign ? -1.0f : 1.0f) * ldexpf((float)frac, -24);
	return float_of(sign | (exp + 112) << 23 | frac << 13);
}

float bfloat_to_float(uint16_t bits)
{
	return float_of((uint32_t)bits << 16);
}

/* Four exponent bits, no infinity: the largest pattern is NaN, below it 448. */
static float e4m3_to_float(uint8_t bits)
{
	int exp = bits >> 3 & 15, frac = bits & 7;
	float v;

	if ((bits & 0x7f) == 0x7f)
		return float_of(0x7fc00000u | (uint32_t)(bits & 0x80) << 24);
	v = exp ? ldexpf((float)(8 + frac), exp - 10) : ldexpf((float)frac, -9);
	return bits & 0x80 ? -v : v;
}

/* Only a shared exponent: 2^(x - 127), 255 is NaN. */
static float e8m0_to_float(uint8_t bits)
{
	return bits == 255 ? float_of(0x7fc00000u) : ldexpf(1.0f, (int)bits - 127);
}

static float e2m1_to_float(uint8_t nibble)
{
	static const float values[] = {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f};
	float v = values[nibble & 7];

	return nibble & 8 ? -v : v;
}

unsigned dtype_values(unsigned dtype)
{
	return dtype == DTYPE_FP4E2M1 ? 2 : 1;
}

uint64_t value_bits(unsigned dtype, const uint8_t *p, uint64_t i)
{
	unsigned n = dtype_bytes(dtype);

	return le_bytes(p + i * n, n);
}

int64_t value_i64(unsigned dtype, uint64_t bits)
{
	switch (dtype) {
	case DTYPE_INT8:
		return (int8_t)bits;
	case DTYPE_INT16:
		return (int16_t)bits;
	case DTYPE_INT32:
		return (int32_t)bits;
	default:
		return (int64_t)bits;
	}
}

static double bits_double(unsigned dtype, uint64_t bits, unsigned k)
{
	switch (dtype) {
	case DTYPE_FLOAT32:
		return (double)float_of((uint32_t)bits);
	case DTYPE_FLOAT16:
		return (double)half_to_float((uint16_t)bits);
	case DTYPE_BFLOAT16:
		return (double)bfloat_to_float((uint16_t)bits);
	case DTYPE_FP8E4M3FN:
		return (double)e4m3_to_float((uint8_t)bits);
	case DTYPE_FP8E8M0:
		return (double)e8m0_to_float((uint8_t)bits);
	case DTYPE_FP4E2M1:
		return (double)e2m1_to_float((uint8_t)(k ? bits >> 4 : bits));
	case DTYPE_UINT64:
		return (double)bits;
	default:
		return (double)value_i64(dtype, bits);
	}
}

double value_double(unsigned dtype, const uint8_t *p, uint64_t i, unsigned k)
{
	return bits_double(dtype, value_bits(dtype, p, i), k);
}

/* One spelling of the special values, whatever the C library prints. */
static int dump_values_put_float(char *buf, size_t n, double v, int digits)
{
	if (isnan(v))
		return snprintf(buf, n, "nan");
	if (isinf(v))
		return snprintf(buf, n, v < 0 ? "-inf" : "inf");
	return snprintf(buf, n, "%.*g", digits, v);
}

static int digits_of(unsigned dtype, enum value_style style)
{
	switch (dtype) {
	case DTYPE_FLOAT32:
		return style == VALUE_LEGACY ? 6 : 9;
	case DTYPE_FLOAT16:
		return style == VALUE_LEGACY ? 4 : 5;
	case DTYPE_BFLOAT16:
		return style == VALUE_LEGACY ? 3 : 4;
	default:
		return 9; /* types of up to 8 bits read back exactly with 9 digits */
	}
}

const char *value_text(
	unsigned dtype, uint64_t bits, enum value_style style, char buf[ELEMENT_TEXT])
{
	int digits = digits_of(dtype, style), n;

	if (style == VALUE_HEX) {
		snprintf(buf, ELEMENT_TEXT, "0x%0*" PRIx64, (int)(2 * dtype_bytes(dtype)), bits);
	} else if (dtype == DTYPE_FP4E2M1) {
		n = dump_values_put_float(
			buf, ELEMENT_TEXT / 2, bits_double(dtype, bits, 0), digits);
		buf[n] = '/';
		dump_values_put_float(
			buf + n + 1, ELEMENT_TEXT / 2, bits_double(dtype, bits, 1), digits);
	} else if (dtype_is_float(dtype)) {
		dump_values_put_float(buf, ELEMENT_TEXT, bits_double(dtype, bits, 0), digits);
	} else if (dtype == DTYPE_UINT64) {
		snprintf(buf, ELEMENT_TEXT, "%" PRIu64, bits);
	} else if (dtype == DTYPE_BOOL && bits <= 1) {
		snprintf(buf, ELEMENT_TEXT, "%s", bits ? "true" : "false");
	} else {
		snprintf(buf, ELEMENT_TEXT, "%" PRId64, value_i64(dtype, bits));
	}
	return buf;
}

const char *scalar_text(unsigned dtype, uint64_t bits, char buf[ELEMENT_TEXT])
{
	if (dtype >= DTYPE_COUNT)
		dtype = DTYPE_UINT64;
	if (dtype_bytes(dtype) < 8)
		bits &= (1ull << 8 * dtype_bytes(dtype)) - 1;
	return value_text(dtype, bits, VALUE_ROUND_TRIP, buf);
}

const char *scalar_as_float(unsigned dtype, uint64_t bits, char buf[ELEMENT_TEXT])
{
	unsigned exp = (unsigned)(bits >> 23 & 255);

	/* from 2^-63 to below 2^64: no small count or address looks like that */
	if (dtype != DTYPE_UINT64 || bits >> 32 || exp < 64 || exp > 190)
		return NULL;
	dump_values_put_float(buf, ELEMENT_TEXT, (double)float_of((uint32_t)bits), 9);
	return buf;
}

/* --- statistics ------------------------------------------------------------------------------- */

/*
 * A tensor in one line: range, mean, number of zeros and NaNs, distribution.
 */

struct dump_stats_sum {
	double value, rest; /* rest: rounding error of value */
};

/* Compensated sum: accuracy of the mean does not depend on the size of the tensor. */
static void dump_stats_sum_add(struct dump_stats_sum *s, double v)
{
	double t = s->value + v;

	s->rest += fabs(s->value) >= fabs(v) ? (s->value - t) + v : (v - t) + s->value;
	s->value = t;
}

/* False: the value is not finite; it is counted as such. */
static bool dump_stats_take_value(struct value_stats *s, double v)
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

static void dump_stats_take_integer(
	struct value_stats *s, unsigned dtype, uint64_t bits, bool is_first)
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
	struct dump_stats_sum sum = {0};
	__int128 whole = 0; /* of integers: exact */
	uint64_t finite;

	*out = (struct value_stats){.min = (double)NAN, .max = (double)NAN, .mean = (double)NAN};
	for (uint64_t i = 0; i < n; i++)
		for (unsigned k = 0; k < dtype_values(dtype); k++) {
			double v = value_double(dtype, p, i, k);

			if (!dump_stats_take_value(out, v))
				continue;
			if (!dtype_is_float(dtype)) {
				uint64_t bits = value_bits(dtype, p, i);

				dump_stats_take_integer(out, dtype, bits, i == 0);
				whole += dtype == DTYPE_UINT64 ? (__int128)bits
							       : value_i64(dtype, bits);
			}
			/* true also for the first value, when min is NAN */
			if (!(v >= out->min))
				out->min = v;
			if (!(v <= out->max))
				out->max = v;
			dump_stats_sum_add(&sum, v);
		}
	finite = out->n - out->nans - out->pos_infs - out->neg_infs;
	if (!finite)
		return;
	out->mean = dtype_is_float(dtype) ? (sum.value + sum.rest) / (double)finite
					  : (double)whole / (double)finite;
	fill_bins(dtype, p, n, out);
}
