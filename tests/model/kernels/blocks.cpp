/* SPDX-License-Identifier: Apache-2.0 */
/* blocks.cpp: each block takes its rows; all add into one result. */
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
	using Gm = GlobalTensor<float, Shape<1, 1, 1, 8, 64>, Stride<512, 512, 512, 64, 1>>;
	using Ub = Tile<TileType::Vec, float, 8, 64>;
	const int block = get_block_idx(args), blocks = get_block_num(args);
	Ub x;

	TASSIGN(x, 0x0);
	for (int r = block; r < 8; r += blocks) {
		Gm gx(at<float>(args, 0) + r * 512), gy(at<float>(args, 1));

		TLOAD(x, gx);
		set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
		wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
		TSTORE<Ub, Gm, AtomicType::AtomicAdd>(gy, x);
		set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0); // bug race:
		wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0); // bug race:
	}
	pipe_sync();
}
