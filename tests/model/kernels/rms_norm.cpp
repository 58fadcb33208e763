/* SPDX-License-Identifier: Apache-2.0 */
/* rms_norm.cpp: rms normalisation of rows with a weight per column. */
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
	using Gm = GlobalTensor<float, Shape<1, 1, 1, 16, 256>, Stride<4096, 4096, 4096, 256, 1>>;
	using GmW = GlobalTensor<float, Shape<1, 1, 1, 1, 256>, Stride<256, 256, 256, 256, 1>>;
	using Ub = Tile<TileType::Vec, float, 16, 256>;
	using Row = Tile<TileType::Vec, float, 1, 256>;
	using Col = Tile<TileType::Vec, float, 16, 1, BLayout::ColMajor>;
	using Flat = Tile<TileType::Vec, float, 1, 16>;
	Gm gx(at<float>(args, 0)), gy(at<float>(args, 2));
	GmW gw(at<float>(args, 1));
	Ub x, s, tmp;
	Row w;
	Col c;
	Flat f, g;

	TASSIGN(x, 0x0);
	TASSIGN(s, 0x4000);
	TASSIGN(tmp, 0x8000);
	TASSIGN(w, 0xc000);
	TASSIGN(c, 0xd000);
	TASSIGN(g, 0xd100);
	TLOAD(x, gx);
	set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
	TLOAD(w, gw);
	set_flag(PIPE_MTE2, PIPE_V, EVENT_ID1); // bug race:
	wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
	TMUL(s, x, x);
	pipe_barrier(PIPE_V);
	TROWSUM(c, s, tmp);
	pipe_barrier(PIPE_V);
	TRESHAPE(f, c);
	TMULS(f, f, 1.0f / 256); pipe_barrier(PIPE_V);
	TADDS(f, f, 1e-6f); pipe_barrier(PIPE_V);
	TEXPANDS(g, 1.0f); pipe_barrier(PIPE_V); // bug waw: TEXPANDS(g, 1.0f);
	TRSQRT(g, f, tmp); pipe_barrier(PIPE_V); // bug war: TRSQRT(g, f, tmp);
	TSQRT(f, f); pipe_barrier(PIPE_V);
	TRECIP(f, f);
	pipe_barrier(PIPE_V);
	TROWEXPANDMUL(x, x, c, tmp);
	wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID1); // bug race:
	TCOLEXPANDMUL(x, x, w);
	set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
	wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
	TSTORE(gy, x);
	pipe_barrier(PIPE_ALL);
}
