/* SPDX-License-Identifier: Apache-2.0 */
/* argspec_value.h: dtypes, numbers and extents of arguments; for argspec.c. Pure. */
#ifndef MODEL_RECORD_ARGSPEC_VALUE_H
#define MODEL_RECORD_ARGSPEC_VALUE_H

#include "codec/json_reader.h"
#include "model/record/argspec.h"

#define ARG_MAX_BYTES (UINT64_C(1) << 34) /* of one buffer: half of what a slot's window has */

/* A number as written: 1 and 1.0 mean different things where bits are asked for. */
struct arg_number {
	bool is_float;
	double f;
	uint64_t bits; /* of an integer: two's complement */
};

/* DT_NONE if unknown. FLOAT32_BITS and FLOAT64_BITS set *is_bits. */
enum op_dtype arg_dtype_of(struct str name, bool *is_bits);
bool arg_number_get(struct json_reader *r, struct arg_number *out);
bool arg_number_of(struct str text, struct arg_number *out);
/* The 64 bits of the slot. False: does not fit. */
bool arg_pack(unsigned dtype, bool is_bits, const struct arg_number *v, uint64_t *out);
void arg_default_strides(struct arg_slot *s);
/* Bytes up to the end of the last element; false on overflow. */
bool arg_extent_bytes(const struct arg_slot *s, uint64_t *bytes);

#endif
