/* SPDX-License-Identifier: Apache-2.0 */
/* mul.cpp: a vector side of a mixed task: TMUL of slots 6 and 7 into 8. */
#include "../vector.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	HALVES(TMUL, 6);
}
