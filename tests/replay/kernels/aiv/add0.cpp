/* SPDX-License-Identifier: Apache-2.0 */
/* add0.cpp: a vector side of a mixed task: TADD of slots 0 and 1 into 2. */
#include "../vector.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	HALVES(TADD, 0);
}
