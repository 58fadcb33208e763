/* SPDX-License-Identifier: Apache-2.0 */
/* one_buffer.cpp: z = x + y in tiles, one buffer for all: a load cannot begin before the sum of the tile before it has ended. */
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
	using Gm = GlobalTensor<float, Shape<1, 1, 1, 64, 64>, Stride<4096, 4096, 4096, 64, 1>>;
	using Ub = Tile<TileType::Vec, float, 64, 64>;
	Ub a, b, c;

	TASSIGN(a, 0x0);
	TASSIGN(b, 0x4000);
	TASSIGN(c, 0x8000);
	for (int i = 0; i < 8; i++) {
		Gm x(at<float>(args, 0) + i * 4096), y(at<float>(args, 1) + i * 4096), z(at<float>(args, 2) + i * 4096);

		if (i)
			wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID1); /* GUILTY */
		TLOAD(a, x);
		TLOAD(b, y);
		set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
		wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
		if (i)
			wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID2);
		TADD(c, a, b);
		if (i < 7)
			set_flag(PIPE_V, PIPE_MTE2, EVENT_ID1);
		set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
		wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
		TSTORE(z, c);
		if (i < 7)
			set_flag(PIPE_MTE3, PIPE_V, EVENT_ID2);
	}
}
