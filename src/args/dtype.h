/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dtype.h: the element types of arguments: codes, names, sizes. The codes of records are those
 * found in existing dumps. No memory, no failure, any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum dump_dtype {
	DTYPE_FLOAT32 = 0,
	DTYPE_FLOAT16 = 1,
	DTYPE_INT32 = 2,
	DTYPE_INT16 = 3,
	DTYPE_INT8 = 4,
	DTYPE_UINT8 = 5,
	DTYPE_BFLOAT16 = 6,
	DTYPE_INT64 = 7,
	DTYPE_UINT64 = 8,
	DTYPE_UINT16 = 9,
	DTYPE_UINT32 = 10,
	DTYPE_BOOL = 11,
	DTYPE_FP8E4M3FN = 12,
	DTYPE_FP8E8M0 = 13,
	DTYPE_FP4E2M1 = 14, /* an element is a byte with two values, the first in the low half */
	DTYPE_UNKNOWN = 15, /* every code above 14 in a record */
	/* only in an arg-spec: no record and no descriptor has a code for these */
	DTYPE_FLOAT64 = 16,
	DTYPE_FP8E5M2 = 17,
	DTYPE_HIF8 = 18,
	DTYPE_FP4E1M2 = 19,
};

#define DTYPE_COUNT 15	    /* types of records */
#define DTYPE_SPEC_COUNT 20 /* types of records and arg-specs */

/* "FLOAT32"; "UNKNOWN" for a code above 14. */
const char *dtype_name(unsigned dtype);
/* Bytes of one element of a record; 0 for a code above 14. */
unsigned dtype_bytes(unsigned dtype);
/* Bits of one value; 0 for DTYPE_UNKNOWN; 4 for one value of a pair. */
unsigned dtype_bits(unsigned dtype);
/* The code of a name in any case (n bytes, no NUL needed); DTYPE_UNKNOWN for other names. */
unsigned dtype_of_name(const char *name, size_t n);
/* The code of an arg-spec's type name, "FLOAT32" or "f32", case-sensitive; DTYPE_UNKNOWN for other
 * names. */
unsigned dtype_of_spec_name(const char *name, size_t n);
/* The code used for it in a record or a descriptor: that of a type of the same size if it has
 * none. */
unsigned dtype_in_record(unsigned dtype);
/* Are the elements signed integers (whose raw bits need sign extension)? */
bool dtype_is_signed(unsigned dtype);
/* Are they floats of a record's types? */
bool dtype_is_float(unsigned dtype);
