/* SPDX-License-Identifier: Apache-2.0 */
/* expands.cpp: every operation of a tile and a vector per row or per column. */
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
	using Gm = GlobalTensor<float, Shape<1, 1, 1, 32, 64>, Stride<2048, 2048, 2048, 64, 1>>;
	using GmR = GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<64, 64, 64, 64, 1>>;
	using GmC = GlobalTensor<float, Shape<1, 1, 1, 32, 1>, Stride<32, 32, 32, 1, 1>, Layout::DN>;
	using Ub = Tile<TileType::Vec, float, 32, 64>;
	using Row = Tile<TileType::Vec, float, 1, 64>;
	using Col = Tile<TileType::Vec, float, 32, 1, BLayout::ColMajor>;
	Gm gx(at<float>(args, 0)), gz(at<float>(args, 3));
	GmR gr(at<float>(args, 1));
	GmC gc(at<float>(args, 2));
	Ub x, z, tmp;
	Row r;
	Col c;

	TASSIGN(x, 0x0);
	TASSIGN(z, 0x2000);
	TASSIGN(tmp, 0x4000);
	TASSIGN(r, 0x6000);
	TASSIGN(c, 0x7000);
	TLOAD(x, gx);
	TLOAD(r, gr);
	TLOAD(c, gc);
	set_flag(PIPE_MTE2, PIPE_V, EVENT_ID5);
	wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID5);
	TROWEXPAND(z, c);
	TROWEXPANDMUL(z, z, c, tmp);
	TROWEXPANDDIV(z, z, c, tmp);
	TROWEXPANDSUB(z, z, c);
	TROWEXPANDADD(z, z, c);
	TROWEXPANDMAX(z, z, c);
	TROWEXPANDMIN(z, z, c);
	TROWEXPANDEXPDIF(z, z, c);
	TCOLEXPAND(z, r);
	TCOLEXPANDMUL(z, x, r);
	TCOLEXPANDADD(z, z, r);
	TCOLEXPANDSUB(z, z, r);
	TCOLEXPANDDIV(z, z, r);
	TCOLEXPANDMAX(z, z, r);
	TCOLEXPANDMIN(z, z, r);
	TCOLEXPANDEXPDIF(z, z, r);
	set_flag(PIPE_V, PIPE_MTE3, EVENT_ID5);
	wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID5);
	TSTORE(gz, z);
	pipe_barrier(PIPE_ALL);
}
