/* SPDX-License-Identifier: Apache-2.0 */
/* gather.cpp: rows picked by an index that is made on the core, by mask, and scattered. */
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
	using GmI = GlobalTensor<int32_t, Shape<1, 1, 1, 16, 64>, Stride<1024, 1024, 1024, 64, 1>>;
	using GmH = GlobalTensor<float, Shape<1, 1, 1, 16, 32>, Stride<512, 512, 512, 32, 1>>;
	using Ub = Tile<TileType::Vec, float, 16, 64>;
	using Idx = Tile<TileType::Vec, int32_t, 16, 64>;
	using Half = Tile<TileType::Vec, float, 16, 32>;
	using Ramp = Tile<TileType::Vec, int32_t, 1, 64>;
	Gm gx(at<float>(args, 0)), gz(at<float>(args, 2)), gs(at<float>(args, 4));
	GmI gi(at<int32_t>(args, 1));
	GmH gh(at<float>(args, 3));
	Ub x, z;
	Idx idx, tmp;
	Half h;
	Ramp ramp;

	TASSIGN(x, 0x0);
	TASSIGN(z, 0x1000);
	TASSIGN(idx, 0x2000);
	TASSIGN(tmp, 0x3000);
	TASSIGN(h, 0x4000);
	TASSIGN(ramp, 0x5000);
	TLOAD(x, gx);
	TLOAD(idx, gi);
	set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
	TCI<Ramp, int32_t, 0>(ramp, 0);
	set_flag(PIPE_S, PIPE_V, EVENT_ID0);
	wait_flag(PIPE_S, PIPE_V, EVENT_ID0);
	wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
	TCOLEXPAND(tmp, ramp);
	TADD(idx, idx, tmp);
	TGATHER(z, x, idx, tmp);
	TGATHERB(z, x, idx);
	TGATHER<Half, Ub, MaskPattern::P1010>(h, x);
	TSCATTER(z, x, idx);
	set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0); // bug race:
	wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0); // bug race:
	TSTORE(gh, h);
	TSTORE(gz, z);
	pipe_barrier(PIPE_ALL);
	MSCATTER(gs, z, idx);
	pipe_barrier(PIPE_ALL);
}
