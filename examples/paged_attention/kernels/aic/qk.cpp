/* SPDX-License-Identifier: Apache-2.0 */
/* qk.cpp: scores of one cache block: sij = qi * kj^T. Slots: 0 qi, 1 kj (BF16), 2 sij (FLOAT32). */
#include "../slots.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	using GmQ = GlobalTensor<bfloat16_t, Shape<1, 1, 1, TILE, TILE>, Stride<256, 256, 256, TILE, 1>>;
	using GmK = GlobalTensor<bfloat16_t, Shape<1, 1, 1, TILE, TILE>, Stride<256, 256, 256, 1, TILE>, Layout::DN>;
	using GmS = GlobalTensor<float, Shape<1, 1, 1, TILE, TILE>, Stride<256, 256, 256, TILE, 1>>;
	using L1Q = Tile<TileType::Mat, bfloat16_t, TILE, TILE, BLayout::ColMajor, TILE, TILE, SLayout::RowMajor>;
	using L1K = Tile<TileType::Mat, bfloat16_t, TILE, TILE, BLayout::RowMajor, TILE, TILE, SLayout::ColMajor>;
	GmQ gq(data_of<bfloat16_t>(args, 0));
	GmK gk(data_of<bfloat16_t>(args, 1)); /* rows of the cache are the columns of k^T */
	GmS gs(data_of<float>(args, 2));
	L1Q q1;
	L1K k1;
	TileLeft<bfloat16_t, TILE, TILE> q0;
	TileRight<bfloat16_t, TILE, TILE> k0;
	TileAcc<float, TILE, TILE> s;

	TASSIGN(q1, 0x0);
	TASSIGN(k1, 0x1000);
	TASSIGN(q0, 0x0);
	TASSIGN(k0, 0x0);
	TASSIGN(s, 0x0);

	TLOAD(q1, gq);
	TLOAD(k1, gk);
	set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
	wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
	TMOV(q0, q1);
	TMOV(k0, k1);
	set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
	wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
	TMATMUL(s, q0, k0);
	set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
	wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
	TSTORE(gs, s);
	pipe_sync();
}
