/* SPDX-License-Identifier: Apache-2.0 */
/* block.cpp: functions in one extern "C" block, which cannot share a unit with another source. */
#include "../names.h"

extern "C" {
__aicore__ int helper(int x)
{
	return x;
}
__aicore__ void kernel_entry(__gm__ int64_t *args)
{
	args[0] = helper(known(args));
}
}
