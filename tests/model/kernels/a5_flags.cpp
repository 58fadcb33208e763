/* SPDX-License-Identifier: Apache-2.0 */
/* a5_flags.cpp: a5: AIC and AIVs order their work with flags of the block. */
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
	using Gm = GlobalTensor<float, Shape<1, 1, 1, 16, 64>, Stride<1024, 1024, 1024, 64, 1>>;
#if defined(__DAV_CUBE__)
	using L1 = Tile<TileType::Mat, float, 16, 64>;
	L1 a;
	Gm g0(at<float>(args, 0)), g1(at<float>(args, 0) + 1024);

	TASSIGN(a, 0x0);
	wait_intra_block(PIPE_MTE2, 2); // bug race:
	TLOAD(a, g0);
	wait_intra_block(PIPE_MTE2, 18);
	TLOAD(a, g1);
	pipe_barrier(PIPE_ALL);
#endif
#if defined(__DAV_VEC__)
	using Ub = Tile<TileType::Vec, float, 16, 64>;
	Ub a;
	Gm g(at<float>(args, 0) + get_sub_block_id(args) * 1024);

	TASSIGN(a, 0x0);
	TEXPANDS(a, 1.0f);
	set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
	wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
	TSTORE(g, a);
	set_intra_block(PIPE_MTE3, 2); // bug race: if (get_sub_block_id(args)) set_intra_block(PIPE_MTE3, 2);
	pipe_barrier(PIPE_ALL);
#endif
}
