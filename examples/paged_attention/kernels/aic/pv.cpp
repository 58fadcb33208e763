/* SPDX-License-Identifier: Apache-2.0 */
/* pv.cpp: output of one cache block: oi_new = pij * vj. Slots: 0 pij, 1 vj (BF16), 2 oi_new (FLOAT32). */
#include "../slots.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	using GmIn = GlobalTensor<bfloat16_t, Shape<1, 1, 1, TILE, TILE>, Stride<256, 256, 256, TILE, 1>>;
	using GmOut = GlobalTensor<float, Shape<1, 1, 1, TILE, TILE>, Stride<256, 256, 256, TILE, 1>>;
	using L1 = Tile<TileType::Mat, bfloat16_t, TILE, TILE, BLayout::ColMajor, TILE, TILE, SLayout::RowMajor>;
	GmIn gp(data_of<bfloat16_t>(args, 0));
	GmIn gv(data_of<bfloat16_t>(args, 1));
	GmOut go(data_of<float>(args, 2));
	L1 p1, v1;
	TileLeft<bfloat16_t, TILE, TILE> p0;
	TileRight<bfloat16_t, TILE, TILE> v0;
	TileAcc<float, TILE, TILE> o;

	TASSIGN(p1, 0x0);
	TASSIGN(v1, 0x1000);
	TASSIGN(p0, 0x0);
	TASSIGN(v0, 0x0);
	TASSIGN(o, 0x0);

	TLOAD(p1, gp);
	TLOAD(v1, gv);
	set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
	wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
	TMOV(p0, p1);
	TMOV(v0, v1);
	set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
	wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
	TMATMUL(o, p0, v0);
	set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
	wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
	TSTORE(go, o);
	pipe_sync();
}
