/* SPDX-License-Identifier: Apache-2.0 */
/* mix_both.cpp: AIVs scale the input, AIC multiplies it, AIVs store the result: one pipe, both ways. */
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

using Fifo = TPipe<0, Direction::DIR_BOTH, 64 * 64 * 4, 2>;

#if defined(__DAV_CUBE__)
static AICORE void cube(__gm__ int64_t *args)
{
	using Gm = GlobalTensor<float, Shape<1, 1, 1, 64, 64>, Stride<4096, 4096, 4096, 64, 1>>;
	using L1 = Tile<TileType::Mat, float, 64, 64, BLayout::ColMajor, 64, 64, SLayout::RowMajor>;
	using Acc = TileAcc<float, 64, 64>;
	Fifo pipe(at<float>(args, 3), 0x0, 0x20000);
	Gm gb(at<float>(args, 1));
	L1 a1, b1;
	TileLeft<float, 64, 64> a0;
	TileRight<float, 64, 64> b0;
	Acc c;

	TASSIGN(b1, 0x40000);
	TASSIGN(a0, 0x0);
	TASSIGN(b0, 0x0);
	TASSIGN(c, 0x0);
	TLOAD(b1, gb);
	for (int i = 0; i < 4; i++) {
		TPOP<Fifo, L1, TileSplitAxis::TILE_UP_DOWN>(pipe, a1);
		set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
		wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
		TMOV(a0, a1);
		if (!i)
			TMOV(b0, b1);
		set_flag(PIPE_MTE1, PIPE_MTE2, EVENT_ID0);
		set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
		wait_flag(PIPE_MTE1, PIPE_MTE2, EVENT_ID0);
		wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
		TMATMUL(c, a0, b0);
		set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
		wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
		TPUSH<Fifo, Acc, TileSplitAxis::TILE_UP_DOWN>(pipe, c);
		TFREE<Fifo, TileSplitAxis::TILE_UP_DOWN>(pipe);
		set_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
		wait_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
		set_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);
		wait_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);
	}
	pipe_barrier(PIPE_ALL);
}
#endif

#if defined(__DAV_VEC__)
static AICORE void vector(__gm__ int64_t *args)
{
	using Gm = GlobalTensor<float, Shape<1, 1, 1, 32, 64>, Stride<2048, 2048, 2048, 64, 1>>;
	using Ub = Tile<TileType::Vec, float, 32, 64>;
	Fifo pipe(at<float>(args, 3), 0x0, 0x20000);
	const int lane = get_sub_block_id(args);
	Ub x, y, z;

	TASSIGN(x, 0x10000);
	TASSIGN(y, 0x12000);
	for (int i = 0; i < 4; i++) {
		Gm gx(at<float>(args, 0) + i * 4096 + lane * 2048);
		Gm gz(at<float>(args, 2) + i * 4096 + lane * 2048);

		TLOAD(x, gx);
		set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0); // bug race:
		wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0); // bug race:
		TMULS(y, x, 2.0f);
		set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
		wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
		TPUSH<Fifo, Ub, TileSplitAxis::TILE_UP_DOWN>(pipe, y);
		TPOP<Fifo, Ub, TileSplitAxis::TILE_UP_DOWN>(pipe, z);
		set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
		wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
		TSTORE(gz, z);
		TFREE<Fifo, TileSplitAxis::TILE_UP_DOWN>(pipe);
		set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
		wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
		set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
		wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
		set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
		wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
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
