/* SPDX-License-Identifier: Apache-2.0 */
/* softmax.cpp: softmax of the rows of x, written as half; the rows come in two halves. */
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
	using In = GlobalTensor<float, Shape<1, 1, 1, 32, 128>, Stride<4096, 4096, 4096, 128, 1>>;
	using Out = GlobalTensor<half, Shape<1, 1, 1, 32, 128>, Stride<4096, 4096, 4096, 128, 1>>;
	using Ub = Tile<TileType::Vec, float, 32, 128>;
	using UbH = Tile<TileType::Vec, half, 32, 128>;
	using Col = Tile<TileType::Vec, float, 32, 1, BLayout::ColMajor>;
	union { uint64_t u; float f; } scale;
	Ub x, e, tmp;
	UbH y;
	Col top, sum;

	scale.u = (uint64_t)args[2];
	TASSIGN(x, 0x0);
	TASSIGN(e, 0x4000);
	TASSIGN(tmp, 0x8000);
	TASSIGN(y, 0xc000);
	TASSIGN(top, 0x10000);
	TASSIGN(sum, 0x10200);
	for (int i = 0; i < 2; i++) {
		In gx(at<float>(args, 0) + i * 4096);
		Out gy(at<half>(args, 1) + i * 4096);

		if (i)
			wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID1); // bug race: ;
		TLOAD(x, gx);
		set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
		wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
		TMULS(x, x, scale.f);
		TROWMAX(top, x, tmp);
		pipe_barrier(PIPE_V); // bug barrier: ;
		TROWEXPANDSUB(e, x, top);
		if (!i)
			set_flag(PIPE_V, PIPE_MTE2, EVENT_ID1); // bug race: ;
		pipe_barrier(PIPE_V);
		TEXP(e, e);
		pipe_barrier(PIPE_V);
		TROWSUM(sum, e, tmp);
		pipe_barrier(PIPE_V);
		TROWEXPANDDIV(e, e, sum);
		pipe_barrier(PIPE_V);
		if (i)
			wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID2);
		TCVT(y, e, tmp, RoundMode::CAST_RINT, SaturationMode::ON);
		set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
		wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
		TSTORE(gy, y);
		if (!i)
			set_flag(PIPE_MTE3, PIPE_V, EVENT_ID2);
	}
	pipe_sync();
}
