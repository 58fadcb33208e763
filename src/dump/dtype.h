/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dtype.h: the element types of a dump: codes, names, sizes. The codes are those of the records in
 * the field. No memory, no failure, any thread.
 */
#ifndef DUMP_DTYPE_H
#define DUMP_DTYPE_H

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
	DTYPE_FP4E2M1 = 14, /* an element is a byte: a pair of values, the first in the low half */
	DTYPE_UNKNOWN = 15, /* every code above 14 */
};

#define DTYPE_COUNT 15 /* the known ones */

/* "FLOAT32"; "UNKNOWN" for a code above 14. */
const char *dtype_name(unsigned dtype);
/* Bytes of one element; 0 for a code above 14. */
unsigned dtype_bytes(unsigned dtype);
/* The code of a name in any case (n bytes, no NUL needed); DTYPE_UNKNOWN if it is none. */
unsigned dtype_of_name(const char *name, size_t n);
/* Elements are signed integers (their raw bits want sign extension to be read). */
bool dtype_is_signed(unsigned dtype);

#endif
