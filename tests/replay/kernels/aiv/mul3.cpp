/* SPDX-License-Identifier: Apache-2.0 */
/* mul3.cpp: a vector side of a mixed task: TMUL of slots 3 and 4 into 5. */
#include "../vector.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	HALVES(TMUL, 3);
}
