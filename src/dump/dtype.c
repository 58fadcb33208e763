/* SPDX-License-Identifier: Apache-2.0 */
/* dtype.c: the table of element types. */
#include "dump/dtype.h"

#include <string.h>
#include <strings.h>

static const struct {
	const char *name;
	unsigned bytes;
} DTYPES[DTYPE_COUNT] = {
	[DTYPE_FLOAT32] = {"FLOAT32", 4},
	[DTYPE_FLOAT16] = {"FLOAT16", 2},
	[DTYPE_INT32] = {"INT32", 4},
	[DTYPE_INT16] = {"INT16", 2},
	[DTYPE_INT8] = {"INT8", 1},
	[DTYPE_UINT8] = {"UINT8", 1},
	[DTYPE_BFLOAT16] = {"BFLOAT16", 2},
	[DTYPE_INT64] = {"INT64", 8},
	[DTYPE_UINT64] = {"UINT64", 8},
	[DTYPE_UINT16] = {"UINT16", 2},
	[DTYPE_UINT32] = {"UINT32", 4},
	[DTYPE_BOOL] = {"BOOL", 1},
	[DTYPE_FP8E4M3FN] = {"FP8E4M3FN", 1},
	[DTYPE_FP8E8M0] = {"FP8E8M0", 1},
	[DTYPE_FP4E2M1] = {"FP4E2M1", 1},
};

const char *dtype_name(unsigned dtype)
{
	return dtype < DTYPE_COUNT ? DTYPES[dtype].name : "UNKNOWN";
}

unsigned dtype_bytes(unsigned dtype)
{
	return dtype < DTYPE_COUNT ? DTYPES[dtype].bytes : 0;
}

unsigned dtype_of_name(const char *name, size_t n)
{
	for (unsigned i = 0; i < DTYPE_COUNT; i++)
		if (strlen(DTYPES[i].name) == n && strncasecmp(DTYPES[i].name, name, n) == 0)
			return i;
	return DTYPE_UNKNOWN;
}

bool dtype_is_signed(unsigned dtype)
{
	return dtype == DTYPE_INT8 || dtype == DTYPE_INT16 || dtype == DTYPE_INT32 ||
	       dtype == DTYPE_INT64;
}
