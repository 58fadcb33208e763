/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sf.cpp: softmax of one cache block, not yet divided. Slots: 0 sij (FLOAT32; the last block's view has
 * fewer columns), 1 pij (BF16), 2 mij, 3 lij (FLOAT32[16]), 4 the scale's bits.
 */
#include "../slots.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	using GmS = GlobalTensor<float, Shape<1, 1, 1, TILE, TILE>, Stride<256, 256, 256, TILE, 1>>;
	using GmP = GlobalTensor<bfloat16_t, Shape<1, 1, 1, TILE, TILE>, Stride<256, 256, 256, TILE, 1>>;
	using GmCol = GlobalTensor<float, Shape<1, 1, 1, TILE, 1>, Stride<TILE, TILE, TILE, 1, TILE>, Layout::DN>;
	using Whole = Tile<TileType::Vec, float, TILE, TILE>;
	using Valid = Tile<TileType::Vec, float, TILE, TILE, BLayout::RowMajor, TILE, -1>;
	using Padded = Tile<TileType::Vec, float, TILE, TILE, BLayout::RowMajor, TILE, TILE, SLayout::NoneBox, 512,
		PadValue::Min>;
	using Half = Tile<TileType::Vec, bfloat16_t, TILE, TILE>;
	using Col = Tile<TileType::Vec, float, TILE, 1, BLayout::ColMajor>;
	const int columns = (int)tensor_of(args, 0)->shapes[1];
	const float scale = float_of(args[4]);
	GmS gs(data_of<float>(args, 0));
	GmP gp(data_of<bfloat16_t>(args, 1));
	GmCol gm(data_of<float>(args, 2)), gl(data_of<float>(args, 3));
	Whole loaded, e, tmp;
	Valid valid(columns);
	Padded s;
	Half p;
	Col top, sum;

	/* one buffer, three readings of it: as loaded, as valid, as padded */
	TASSIGN(loaded, 0x0);
	TASSIGN(valid, 0x0);
	TASSIGN(s, 0x0);
	TASSIGN(e, 0x400);
	TASSIGN(tmp, 0x800);
	TASSIGN(p, 0xc00);
	TASSIGN(top, 0x1000);
	TASSIGN(sum, 0x1100);

	TLOAD(loaded, gs);
	set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
	wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
	TFILLPAD_INPLACE(s, valid);
	pipe_barrier(PIPE_V);
	TMULS(s, s, scale);
	pipe_barrier(PIPE_V);
	TROWMAX(top, s, tmp);
	pipe_barrier(PIPE_V);
	TROWEXPANDSUB(e, s, top);
	pipe_barrier(PIPE_V);
	TEXP(e, e);
	pipe_barrier(PIPE_V);
	TCVT(p, e, RoundMode::CAST_ROUND);
	pipe_barrier(PIPE_V);
	TCVT(e, p, RoundMode::CAST_ROUND); /* the sum is that of what is stored */
	pipe_barrier(PIPE_V);
	TROWSUM(sum, e, tmp);
	set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
	wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
	TSTORE(gm, top);
	TSTORE(gl, sum);
	TSTORE(gp, p);
	pipe_sync();
}
