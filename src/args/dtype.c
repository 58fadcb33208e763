/* SPDX-License-Identifier: Apache-2.0 */
/* dtype.c: the table of element types. */
#include "args/dtype.h"

#include <string.h>
#include <strings.h>

static const struct {
	const char *name, *short_name;
	unsigned bytes, bits; /* of an element, of a value */
	unsigned in_record;
} DTYPES[DTYPE_SPEC_COUNT] = {
	[DTYPE_FLOAT32] = {"FLOAT32", "f32", 4, 32, DTYPE_FLOAT32},
	[DTYPE_FLOAT16] = {"FLOAT16", "f16", 2, 16, DTYPE_FLOAT16},
	[DTYPE_INT32] = {"INT32", "i32", 4, 32, DTYPE_INT32},
	[DTYPE_INT16] = {"INT16", "i16", 2, 16, DTYPE_INT16},
	[DTYPE_INT8] = {"INT8", "i8", 1, 8, DTYPE_INT8},
	[DTYPE_UINT8] = {"UINT8", "u8", 1, 8, DTYPE_UINT8},
	[DTYPE_BFLOAT16] = {"BFLOAT16", "bf16", 2, 16, DTYPE_BFLOAT16},
	[DTYPE_INT64] = {"INT64", "i64", 8, 64, DTYPE_INT64},
	[DTYPE_UINT64] = {"UINT64", "u64", 8, 64, DTYPE_UINT64},
	[DTYPE_UINT16] = {"UINT16", "u16", 2, 16, DTYPE_UINT16},
	[DTYPE_UINT32] = {"UINT32", "u32", 4, 32, DTYPE_UINT32},
	[DTYPE_BOOL] = {"BOOL", "bool", 1, 8, DTYPE_BOOL},
	[DTYPE_FP8E4M3FN] = {"FP8E4M3FN", "f8e4m3", 1, 8, DTYPE_FP8E4M3FN},
	[DTYPE_FP8E8M0] = {"FP8E8M0", "f8e8m0", 1, 8, DTYPE_FP8E8M0},
	[DTYPE_FP4E2M1] = {"FP4E2M1", "f4e2m1", 1, 4, DTYPE_FP4E2M1},
	[DTYPE_UNKNOWN] = {NULL, NULL, 0, 0, DTYPE_UNKNOWN},
	[DTYPE_FLOAT64] = {"FLOAT64", "f64", 8, 64, DTYPE_UINT64},
	[DTYPE_FP8E5M2] = {"FP8E5M2", "f8e5m2", 1, 8, DTYPE_UINT8},
	[DTYPE_HIF8] = {"HIF8", "hif8", 1, 8, DTYPE_UINT8},
	[DTYPE_FP4E1M2] = {"FP4E1M2", "f4e1m2", 1, 4, DTYPE_UINT8},
};

const char *dtype_name(unsigned dtype)
{
	return dtype < DTYPE_COUNT ? DTYPES[dtype].name : "UNKNOWN";
}

unsigned dtype_bytes(unsigned dtype)
{
	return dtype < DTYPE_COUNT ? DTYPES[dtype].bytes : 0;
}

unsigned dtype_bits(unsigned dtype)
{
	return dtype < DTYPE_SPEC_COUNT ? DTYPES[dtype].bits : 0;
}

unsigned dtype_of_name(const char *name, size_t n)
{
	for (unsigned i = 0; i < DTYPE_COUNT; i++)
		if (strlen(DTYPES[i].name) == n && strncasecmp(DTYPES[i].name, name, n) == 0)
			return i;
	return DTYPE_UNKNOWN;
}

static bool dtype_is_name(const char *known, const char *name, size_t n)
{
	return known && strlen(known) == n && memcmp(known, name, n) == 0;
}

unsigned dtype_of_spec_name(const char *name, size_t n)
{
	for (unsigned i = 0; i < DTYPE_SPEC_COUNT; i++)
		if (dtype_is_name(DTYPES[i].name, name, n) ||
			dtype_is_name(DTYPES[i].short_name, name, n))
			return i;
	return DTYPE_UNKNOWN;
}

unsigned dtype_in_record(unsigned dtype)
{
	return dtype < DTYPE_SPEC_COUNT ? DTYPES[dtype].in_record : DTYPE_UNKNOWN;
}

bool dtype_is_signed(unsigned dtype)
{
	return dtype == DTYPE_INT8 || dtype == DTYPE_INT16 || dtype == DTYPE_INT32 ||
	       dtype == DTYPE_INT64;
}

bool dtype_is_float(unsigned dtype)
{
	return dtype == DTYPE_FLOAT32 || dtype == DTYPE_FLOAT16 || dtype == DTYPE_BFLOAT16 ||
	       (dtype >= DTYPE_FP8E4M3FN && dtype <= DTYPE_FP4E2M1);
}
