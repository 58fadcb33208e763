/* SPDX-License-Identifier: Apache-2.0 */
/* right.cpp: shares every name with left.cpp, and means other things by them. */
#include "../names.h"
#if defined(NEVER)
#include "not_there.h"
#endif
#define SLOT 1
#define STEP(x) ((x) * 2)

struct State {
	long a, b;
};

long shared_value = 2;

extern "C" __aicore__ int helper(int x)
{
	return STEP(x);
}

AICORE int plain_helper(State s)
{
	return (int)s.a + helper((int)shared_value);
}

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	args[SLOT] = plain_helper(State{1, 2}) + known(args);
}
