/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pto_range.h: what values can an integer of a .pto file take? Ranges with exact bounds; an
 * operation that may leave 64 bits has no range. Pure functions.
 */
#pragma once

#include "base/str.h"

struct pto_range {
	int64_t lo, hi;
};

/* Folds `op` ("arith.muli") over its operands; false: unknown operation, or no bound. */
bool pto_fold(struct str op, struct pto_range a, struct pto_range b, struct pto_range *out);
/* Wraps to a signed integer of `bits` (1..64). */
struct pto_range pto_wrap(struct pto_range a, unsigned bits);
struct pto_range pto_either(struct pto_range a, struct pto_range b);
