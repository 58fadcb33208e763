/* SPDX-License-Identifier: Apache-2.0 */
/* registers.cpp: scalar code: masks, caches, counters, values put into a tile. */
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
	__gm__ float *p = at<float>(args, 0);
	Gm gx(p);
	Ub x, view;
	uint64_t until;

	set_mask_norm();
	set_vector_mask((uint64_t)-1, (uint64_t)-1);
	set_mask_count();
	set_mask_norm();
	set_ffts_base_addr((uint64_t)0);
	set_atomic_none();
	set_atomic_add();
	set_atomic_f32();
	set_atomic_max();
	set_atomic_f16();
	set_atomic_min();
	set_atomic_bf16();
	set_atomic_s8();
	set_atomic_s16();
	set_atomic_s32();
	set_atomic_none();
	TASSIGN(x, 0x0);
	TSUBVIEW(view, x, 0, 0);
	TPRINT(x);
	TSYNC();
	dcci(p, cache_line_t::ENTIRE_DATA_CACHE, dcci_dst_t::CACHELINE_OUT);
	dsb(DSB_DDR);
	for (until = get_sys_cnt() + 1000; get_sys_cnt() < until;)
		;
	if (get_coreid() < 0 || get_subblockdim() < 0 || get_subblockid() < 0)
		return;
	x.SetValue(0, (float)get_sub_block_id(args));
	set_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
	wait_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
	TSTORE(gx, x);
	set_flag(PIPE_MTE3, PIPE_S, EVENT_ID0); // bug race:
	wait_flag(PIPE_MTE3, PIPE_S, EVENT_ID0); // bug race:
	x.SetValue(1, 1.0f);
	pipe_barrier(PIPE_MTE1);
	pipe_barrier(PIPE_MTE2);
	pipe_barrier(PIPE_MTE3);
	pipe_barrier(PIPE_M);
	pipe_barrier(PIPE_FIX);
	pipe_barrier(PIPE_ALL);
}
