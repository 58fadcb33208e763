/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value.h: values of arguments as bits, and extents of views as bytes. Halves are rounded to nearest
 * even, overflow is infinity. Pure.
 */
#pragma once

#include "args/args.h"
#include "codec/json_reader.h"

/* A number as written: 1 and 1.0 differ when raw bits are requested. */
struct arg_number {
	bool is_float;
	double f;
	uint64_t bits; /* of an integer: two's complement */
};

/* DTYPE_UNKNOWN for unknown names. FLOAT32_BITS and FLOAT64_BITS set *is_bits. */
unsigned arg_dtype_of(struct str name, bool *is_bits);
bool arg_number_get(struct json_reader *r, struct arg_number *out);
bool arg_number_of(struct str text, struct arg_number *out);
/* Makes the 64 bits of the slot. False: the value does not fit. */
bool arg_pack(unsigned dtype, bool is_bits, const struct arg_number *v, uint64_t *out);

/* Converts a value written by a user to the bits of its type. "0x..." are raw bits; "f32:1.5" is a
 * single-precision float, for slots that carry one in an integer. False: not a value of that type,
 * or out of range. */
bool arg_value_parse(unsigned dtype, struct str text, uint64_t *bits);
uint32_t float_bits(double v);
uint16_t half_bits(double v);
uint16_t bfloat_bits(double v);

void arg_default_strides(struct arg *s);
/* Bytes up to the end of the last element; false on overflow. */
bool arg_extent_bytes(const struct arg *s, uint64_t *bytes);
