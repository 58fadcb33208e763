/* SPDX-License-Identifier: Apache-2.0 */
/* small_copies.cpp: z = x * x, loaded row by row: each copy costs its start. */
#include <cstdint>
#include <pto/pto-inst.hpp>

#include "tensor.h"

using namespace pto;

template <typename T> static AICORE inline __gm__ T *at(__gm__ int64_t *args, int slot)
{
	__gm__ ChipTensor *t = reinterpret_cast<__gm__ ChipTensor *>(args[slot]);

	return reinterpret_cast<__gm__ T *>(t->buffer.addr) + t->start_offset;
}

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	using Row = GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<64, 64, 64, 64, 1>>;
	using Gm = GlobalTensor<float, Shape<1, 1, 1, 64, 64>, Stride<4096, 4096, 4096, 64, 1>>;
	using Line = Tile<TileType::Vec, float, 1, 64>;
	using Ub = Tile<TileType::Vec, float, 64, 64>;
	Gm z(at<float>(args, 1));
	Ub a, c;

	TASSIGN(a, 0x0);
	TASSIGN(c, 0x4000);
	for (int i = 0; i < 64; i++) {
		Row x(at<float>(args, 0) + i * 64);
		Line part;

		TASSIGN(part, i * 256);
		TLOAD(part, x); /* GUILTY */
	}
	set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
	wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
	TMUL(c, a, a);
	set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
	wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
	TSTORE(z, c);
}
