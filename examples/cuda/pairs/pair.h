/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pair.h: two kernels of which one thing differs: a file is compiled as it is (A) and with -DPAIR_B (B). IF_B(a, b) is the difference.
 */
#pragma once
#include "../run.h"

#ifdef PAIR_B
#define PAIR(name) name##_b
#define IF_B(a, b) b
#else
#define PAIR(name) name##_a
#define IF_B(a, b) a
#endif
#define PAIR_RUN(name) PAIR_RUN_(PAIR(name))
#define PAIR_RUN_(name) RUN(name)
