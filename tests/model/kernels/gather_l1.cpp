/* SPDX-License-Identifier: Apache-2.0 */
/* gather_l1.cpp: rows from anywhere in memory into L1, multiplied by their own transpose. */
#include <cstdint>
#include <pto/pto-inst.hpp>

#include "tensor.h"

using namespace pto;

#include "intrinsic.h"
#include "pipe_sync.h"

template <typename T> static AICORE inline __gm__ T *at(__gm__ int64_t *args, int slot)
{
	__gm__ ChipTensor *t = reinterpret_cast<__gm__ ChipTensor *>(args[slot]);

	return reinterpret_cast<__gm__ T *>(t->buffer.addr) + t->start_offset;
}

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	using Gm = GlobalTensor<half, Shape<1, 1, 1, 64, 64>, Stride<4096, 4096, 4096, 64, 1>>;
	using GmI = GlobalTensor<int32_t, Shape<1, 1, 1, 1, 64>, Stride<64, 64, 64, 64, 1>>;
	using GmC = GlobalTensor<float, Shape<1, 1, 1, 64, 64>, Stride<4096, 4096, 4096, 64, 1>>;
	using L1 = Tile<TileType::Mat, half, 64, 64, BLayout::ColMajor, 64, 64, SLayout::RowMajor>;
	Gm gx(at<half>(args, 0));
	GmI gi(at<int32_t>(args, 1));
	GmC gc(at<float>(args, 2));
	L1 x;
	TileLeftCompact<half, 64, 64> a;
	TileRightCompact<half, 64, 64> b;
	TileAccCompact<float, 64, 64> c;

	TASSIGN(x, 0x0);
	TASSIGN(a, 0x0);
	TASSIGN(b, 0x0);
	TASSIGN(c, 0x0);
	MGATHER(x, gx, gi);
	set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID7);
	wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID7); // bug leak:
	TMOV(a, x);
	TMOV(b, x);
	set_flag(PIPE_MTE1, PIPE_M, EVENT_ID7);
	wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID7);
	TMATMUL(c, a, b);
	set_flag(PIPE_M, PIPE_FIX, EVENT_ID7);
	wait_flag(PIPE_M, PIPE_FIX, EVENT_ID7);
	TSTORE(gc, c);
	pipe_barrier(PIPE_ALL);
}
