/* SPDX-License-Identifier: Apache-2.0 */
/* left.cpp: shares every name with right.cpp, and means other things by them. */
#include "../names.h"
#if defined(NEVER)
#include "not_there.h"
#endif
#define SLOT 0
#define STEP(x) ((x) + 1)

struct State {
	int left;
};

int shared_value = 1;

extern "C" __aicore__ int helper(int x)
{
	return STEP(x);
}

AICORE int plain_helper(State s)
{
	return s.left + helper(shared_value);
}

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	args[SLOT] = plain_helper(State{1}) + known(args);
}
