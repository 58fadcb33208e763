/* SPDX-License-Identifier: Apache-2.0 */
/* shuffle.cpp: padding, transposing, joining and splitting tiles. */
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
	using Gm = GlobalTensor<float, Shape<1, 1, 1, 30, 60>, Stride<1800, 1800, 1800, 60, 1>>;
	using GmZ = GlobalTensor<float, Shape<1, 1, 1, 64, 64>, Stride<4096, 4096, 4096, 64, 1>>;
	using In = Tile<TileType::Vec, float, 32, 64, BLayout::RowMajor, 30, 60, SLayout::NoneBox, 512,
		PadValue::Zero>;
	using Ub = Tile<TileType::Vec, float, 32, 64>;
	using Big = Tile<TileType::Vec, float, 64, 64>;
	using Wide = Tile<TileType::Vec, float, 32, 128>;
	using Q = Tile<TileType::Vec, int8_t, 32, 64>;
	using Hist = Tile<TileType::Vec, uint32_t, 1, 256>;
	using Row = Tile<TileType::Vec, float, 1, 64>;
	Gm gx(at<float>(args, 0));
	GmZ gz(at<float>(args, 1));
	In x;
	Ub p, q, u, v;
	Big z, tmp, half0;
	Wide w;
	Q q8;
	Hist hist;
	Row scale;

	TASSIGN(x, 0x0);
	TASSIGN(p, 0x2000);
	TASSIGN(q, 0x4000);
	TASSIGN(u, 0x6000);
	TASSIGN(v, 0x8000);
	TASSIGN(z, 0xc000);
	TASSIGN(tmp, 0x10000);
	TASSIGN(w, 0x14000);
	TASSIGN(half0, 0x18000);
	TASSIGN(q8, 0x1c000);
	TASSIGN(hist, 0x1d000);
	TASSIGN(scale, 0x1e000);
	TLOAD(x, gx);
	set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
	wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
	TFILLPAD(p, x);
	TFILLPAD_INPLACE(p, p);
	TFILLPAD_EXPAND(z, x);
	TTRI(q, 0);
	TCONCAT(w, p, q);
	TINTERLEAVE(u, v, p, q);
	TDEINTERLEAVE(p, q, u, v);
	TTRANS(z, half0, tmp);
	TRANDOM(q, u, 7);
	TEXPANDS(scale, 0.5f); pipe_barrier(PIPE_V);
	TQUANT(q8, q, scale); pipe_barrier(PIPE_V);
	TDEQUANT(q, q8, scale);
	THISTOGRAM(hist, q8, scale);
	TMOV(u, q);
	set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
	wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
	TSTORE(gz, z);
	pipe_barrier(PIPE_ALL);
}
