/* SPDX-License-Identifier: Apache-2.0 */
/*
 * values.h: elements of a payload as numbers and as text. The input is little-endian and untrusted.
 * Uses only the caller's buffers; any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "args/dtype.h"

#define ELEMENT_TEXT 64 /* bytes that hold any element's text */

enum value_style {
	VALUE_ROUND_TRIP, /* f32 9, f16 5, bf16 4 digits; small floats exactly */
	VALUE_LEGACY,	  /* like the old viewer: f32 %.6g, f16 %.4g, bf16 %.3g */
	VALUE_HEX,	  /* the bits */
};

/* Values per element: 2 for FP4E2M1 (a byte is a pair), else 1. */
unsigned dtype_values(unsigned dtype);
/* Value k of element i as a double. 64-bit integers above 2^53 lose digits here, but not in the
 * text. */
double value_double(unsigned dtype, const uint8_t *p, uint64_t i, unsigned k);
/* Bits of element i, zero-extended. */
uint64_t value_bits(unsigned dtype, const uint8_t *p, uint64_t i);
/* Integers and BOOL: exact, sign-extended. */
int64_t value_i64(unsigned dtype, uint64_t bits);
/* Text of element i; a pair is "a/b". */
const char *value_text(
	unsigned dtype, uint64_t bits, enum value_style style, char buf[ELEMENT_TEXT]);
/* Text of a scalar slot, read as its dtype. */
const char *scalar_text(unsigned dtype, uint64_t bits, char buf[ELEMENT_TEXT]);
/* UINT64 bits that look like a single-precision float, printed as one; else NULL. */
const char *scalar_as_float(unsigned dtype, uint64_t bits, char buf[ELEMENT_TEXT]);

float half_to_float(uint16_t bits);
float bfloat_to_float(uint16_t bits);

/* --- a tensor as a whole --- */
#define STATS_BINS 16

struct value_stats {
	uint64_t n, zeros, nans, pos_infs, neg_infs;
	double min, max, mean;	   /* over the finite ones; NAN if all are non-finite */
	int64_t min_i64, max_i64;  /* integers: exact; UINT64 as its bits */
	uint64_t bins[STATS_BINS]; /* finite values from min to max */
};

void value_stats_of(unsigned dtype, const uint8_t *p, uint64_t n, struct value_stats *out);
