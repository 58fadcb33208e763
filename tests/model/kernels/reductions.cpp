/* SPDX-License-Identifier: Apache-2.0 */
/* reductions.cpp: every reduction along rows and along columns. */
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
	using Gm = GlobalTensor<float, Shape<1, 1, 1, 64, 64>, Stride<4096, 4096, 4096, 64, 1>>;
	using GmR = GlobalTensor<float, Shape<1, 1, 1, 4, 64>, Stride<256, 256, 256, 64, 1>>;
	using GmC = GlobalTensor<float, Shape<1, 1, 1, 64, 1>, Stride<64, 64, 64, 1, 1>, Layout::DN>;
	using Ub = Tile<TileType::Vec, float, 64, 64>;
	using Row = Tile<TileType::Vec, float, 1, 64>;
	using RowI = Tile<TileType::Vec, uint32_t, 1, 64>;
	using Rows = Tile<TileType::Vec, float, 4, 64>;
	using Col = Tile<TileType::Vec, float, 64, 1, BLayout::ColMajor>;
	using ColI = Tile<TileType::Vec, uint32_t, 64, 1, BLayout::ColMajor>;
	Gm gx(at<float>(args, 0));
	GmR gr(at<float>(args, 1));
	GmC gc(at<float>(args, 2));
	Ub x, tmp;
	Row r[4];
	Rows all;
	RowI ri;
	Col c;
	ColI ci;

	TASSIGN(x, 0x0);
	TASSIGN(tmp, 0x4000);
	TASSIGN(all, 0x8000);
	for (int i = 0; i < 4; i++)
		TASSIGN(r[i], 0x8000 + 0x100 * i);
	TASSIGN(ri, 0x9000);
	TASSIGN(c, 0xa000);
	TASSIGN(ci, 0xb000);
	TLOAD(x, gx);
	set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0); // bug race:
	wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0); // bug race:
	TROWSUM(c, x, tmp); pipe_barrier(PIPE_V);
	TROWMAX(c, x, tmp); pipe_barrier(PIPE_V);
	TROWMIN(c, x, tmp); pipe_barrier(PIPE_V);
	TROWPROD(c, x, tmp); pipe_barrier(PIPE_V);
	TROWARGMAX(ci, x, tmp); pipe_barrier(PIPE_V);
	TROWARGMIN(ci, x, tmp); pipe_barrier(PIPE_V);
	set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
	TCOLSUM(r[0], x, tmp, true);
	TCOLMAX(r[1], x);
	TCOLMIN(r[2], x); pipe_barrier(PIPE_V);
	TCOLPROD(r[3], x, tmp); pipe_barrier(PIPE_V);
	TCOLARGMAX(ri, x, tmp); pipe_barrier(PIPE_V);
	TCOLARGMIN(ri, x, tmp); pipe_barrier(PIPE_V);
	set_flag(PIPE_V, PIPE_MTE3, EVENT_ID1);
	wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
	TSTORE(gc, c);
	wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID1);
	TSTORE(gr, all); // bug bounds: gr.SetAddr(at<float>(args, 1) + 1024); TSTORE(gr, all);
	pipe_barrier(PIPE_ALL);
}
