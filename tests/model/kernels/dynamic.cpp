/* SPDX-License-Identifier: Apache-2.0 */
/* dynamic.cpp: rows and columns come from the tensor's shape; the last tile of each is cut. */
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
	using Dyn = Shape<1, 1, 1, DYNAMIC, DYNAMIC>;
	using DynStride = Stride<1, 1, 1, DYNAMIC, 1>;
	using Gm = GlobalTensor<float, Dyn, DynStride>;
	using Ub = Tile<TileType::Vec, float, 16, 64, BLayout::RowMajor, DYNAMIC, DYNAMIC>;
	__gm__ ChipTensor *shape = reinterpret_cast<__gm__ ChipTensor *>(args[0]);
	const int rows = (int)shape->shapes[0], cols = (int)shape->shapes[1];
	Ub x(16, 64), y(16, 64);

	TASSIGN(x, 0x0);
	TASSIGN(y, 0x1000);
	set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
	set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
	for (int r = 0; r < rows; r += 16)
		for (int c = 0; c < cols; c += 64) {
			const int vr = rows - r < 16 ? rows - r : 16; // bug bounds: const int vr = 16;
			const int vc = cols - c < 64 ? cols - c : 64;
			Gm gx(at<float>(args, 0) + r * cols + c, Dyn(vr, vc), DynStride(cols));
			Gm gy(at<float>(args, 1) + r * cols + c, Dyn(vr, vc), DynStride(cols));

			x.SetValidShape(vr, vc);
			y.SetValidShape(vr, vc);
			wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
			TLOAD(x, gx);
			set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
			wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
			wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
			TABS(y, x);
			set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
			set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
			wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
			TSTORE(gy, y);
			set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
		}
	wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
	wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
	pipe_barrier(PIPE_ALL);
}
