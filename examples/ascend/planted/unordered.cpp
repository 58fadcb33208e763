/* SPDX-License-Identifier: Apache-2.0 */
/* unordered.cpp: z = x + y, and nothing says that the load of y is done when the sum begins. */
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
	Gm x(at<float>(args, 0)), y(at<float>(args, 1)), z(at<float>(args, 2));
	Ub a, b, c;

	TASSIGN(a, 0x0);
	TASSIGN(b, 0x4000);
	TASSIGN(c, 0x8000);
	TLOAD(a, x);
	set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
	TLOAD(b, y); /* GUILTY */
	wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
	TADD(c, a, b);
	set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
	wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
	TSTORE(z, c);
}
