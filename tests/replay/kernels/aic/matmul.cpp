/* SPDX-License-Identifier: Apache-2.0 */
/* matmul.cpp: slot 2 = slot 0 x slot 1; the cube side of a mixed task. */
#include "../slots.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	using L1 = Tile<TileType::Mat, float, SIDE, SIDE, BLayout::ColMajor, SIDE, SIDE, SLayout::RowMajor>;
	Gm ga(floats(args, 0)), gb(floats(args, 1)), gc(floats(args, 2));
	L1 a1, b1;
	TileLeft<float, SIDE, SIDE> a0;
	TileRight<float, SIDE, SIDE> b0;
	TileAcc<float, SIDE, SIDE> c;

	TASSIGN(a1, 0x0);
	TASSIGN(b1, 0x10000);
	TASSIGN(a0, 0x0);
	TASSIGN(b0, 0x0);
	TASSIGN(c, 0x0);
	TLOAD(a1, ga);
	TLOAD(b1, gb);
	set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
	wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
	TMOV(a0, a1);
	TMOV(b0, b1);
	set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
	wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
	TMATMUL(c, a0, b0);
	set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
	wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
	TSTORE(gc, c);
	pipe_sync();
}
