/* SPDX-License-Identifier: Apache-2.0 */
/* a5_mix_c2v.cpp: a5: AIC multiplies, results go to the AIVs without global memory. */
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

using Fifo = TPipe<0, Direction::DIR_C2V, 64 * 64 * 4, 2>;

#if defined(__DAV_CUBE__)
static AICORE void cube(__gm__ int64_t *args)
{
	using Gm = GlobalTensor<half, Shape<1, 1, 1, 64, 64>, Stride<4096, 4096, 4096, 64, 1>>;
	using L1 = Tile<TileType::Mat, half, 64, 64, BLayout::ColMajor, 64, 64, SLayout::RowMajor>;
	using Acc = TileAcc<float, 64, 64>;
	Fifo pipe((__gm__ void *)nullptr, 0x0, 0x0);
	L1 a1;
	TileLeft<half, 64, 64> a0;
	TileRight<half, 64, 64> b0;
	Acc c;

	TASSIGN(a1, 0x0);
	TASSIGN(a0, 0x0);
	TASSIGN(b0, 0x0);
	TASSIGN(c, 0x0);
	for (int i = 0; i < 4; i++) {
		Gm ga(at<half>(args, 0) + i * 4096);

		TLOAD(a1, ga);
		set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
		wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
		TMOV(a0, a1);
		TMOV(b0, a1);
		set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
		wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
		TMATMUL(c, a0, b0);
		set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
		wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
		TPUSH<Fifo, Acc, TileSplitAxis::TILE_UP_DOWN>(pipe, c);
		set_flag(PIPE_FIX, PIPE_MTE2, EVENT_ID0);
		wait_flag(PIPE_FIX, PIPE_MTE2, EVENT_ID0);
	}
	pipe_barrier(PIPE_ALL);
}
#endif

#if defined(__DAV_VEC__)
static AICORE void vector(__gm__ int64_t *args)
{
	using Gm = GlobalTensor<float, Shape<1, 1, 1, 32, 64>, Stride<2048, 2048, 2048, 64, 1>>;
	using Ub = Tile<TileType::Vec, float, 32, 64>;
	Fifo pipe((__gm__ void *)nullptr, 0x0, 0x0);
	const int lane = get_sub_block_id(args);
	Ub x, y;

	TASSIGN(y, 0x10000);
	for (int i = 0; i < 4; i++) {
		Gm gy(at<float>(args, 1) + i * 4096 + lane * 2048);

		TPOP<Fifo, Ub, TileSplitAxis::TILE_UP_DOWN>(pipe, x);
		if (i)
			wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
		TRELU(y, x);
		TFREE<Fifo, TileSplitAxis::TILE_UP_DOWN>(pipe); // bug deadlock:
		set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
		wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
		TSTORE(gy, y);
		if (i < 3)
			set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
	}
	pipe_barrier(PIPE_ALL);
}
#endif

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
#if defined(__DAV_CUBE__)
	cube(args);
#endif
#if defined(__DAV_VEC__)
	vector(args);
#endif
}
