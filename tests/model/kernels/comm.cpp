/* SPDX-License-Identifier: Apache-2.0 */
/* comm.cpp: a tile is put into a neighbour's window and the neighbour is told. */
#include <cstdint>
#include <pto/pto-inst.hpp>

#include "tensor.h"

using namespace pto;

#include "intrinsic.h"
#include "pipe_sync.h"
#include "platform_comm/comm_context.h"
#include "pto/comm/comm_types.hpp"
#include "pto/comm/pto_comm_inst.hpp"
#include "pto_async_kernel_api.h"

template <typename T> static AICORE inline __gm__ T *at(__gm__ int64_t *args, int slot)
{
	__gm__ ChipTensor *t = reinterpret_cast<__gm__ ChipTensor *>(args[slot]);

	return reinterpret_cast<__gm__ T *>(t->buffer.addr) + t->start_offset;
}

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	using Gm = GlobalTensor<float, Shape<1, 1, 1, 16, 64>, Stride<1024, 1024, 1024, 64, 1>>;
	using Ub = Tile<TileType::Vec, float, 16, 64>;
	Gm src(at<float>(args, 0)), dst(at<float>(args, 1));
	pto::comm::Signal ready(at<int32_t>(args, 2));
	Ub stage;

	TASSIGN(stage, 0x0);
	pto::comm::TPUT(dst, src, stage);
	pto::comm::TPUT<AtomicType::AtomicAdd>(dst, src, stage);
	pipe_barrier(PIPE_ALL);
	pto::comm::TNOTIFY(ready, 1, pto::comm::NotifyOp::Set);
	pto::comm::TWAIT(ready, 1, pto::comm::WaitCmp::GE);
	pto::comm::TPUT_ASYNC(dst, src);
	TPREFETCH_ASYNC(src);
	pipe_barrier(PIPE_ALL);
}
