/* SPDX-License-Identifier: Apache-2.0 */
/* vector.h: slot first + 2 = OP(slot first, slot first + 1), in two halves. */
#pragma once

#include "slots.h"

#define HALVES(OP, FIRST)                                                                          \
	using Vec = Tile<TileType::Vec, float, SIDE / 2, SIDE>;                                    \
	Vec a, b;                                                                                  \
	TASSIGN(a, 0x0);                                                                           \
	TASSIGN(b, 0x8000);                                                                        \
	for (int i = 0; i < 2; i++) {                                                              \
		GmHalf ga(floats(args, FIRST) + i * SIDE * SIDE / 2);                              \
		GmHalf gb(floats(args, FIRST + 1) + i * SIDE * SIDE / 2);                          \
		GmHalf gc(floats(args, FIRST + 2) + i * SIDE * SIDE / 2);                          \
		TLOAD(a, ga);                                                                      \
		TLOAD(b, gb);                                                                      \
		set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);                                            \
		wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);                                           \
		OP(a, a, b);                                                                       \
		set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);                                            \
		wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);                                           \
		TSTORE(gc, a);                                                                     \
		pipe_barrier(PIPE_ALL);                                                            \
	}                                                                                          \
	pipe_sync()
