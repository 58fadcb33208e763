/* SPDX-License-Identifier: Apache-2.0 */
/* mix_flags.cpp: AIC and AIVs hand a block over through memory with cross-core flags. */
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

/* Of the vendor's register: bit 0 set, mode from bit 4, id from bit 8. */
static AICORE inline uint64_t cross(int mode, int id)
{
	return 1u | (uint64_t)mode << 4 | (uint64_t)id << 8;
}

#if defined(__DAV_CUBE__)
static AICORE void cube(__gm__ int64_t *args)
{
	using Gm = GlobalTensor<half, Shape<1, 1, 1, 32, 32>, Stride<1024, 1024, 1024, 32, 1>>;
	using GmC = GlobalTensor<float, Shape<1, 1, 1, 32, 32>, Stride<1024, 1024, 1024, 32, 1>>;
	using L1 = Tile<TileType::Mat, half, 32, 32, BLayout::ColMajor, 32, 32, SLayout::RowMajor>;
	Gm ga(at<half>(args, 0));
	GmC gc(at<float>(args, 1));
	L1 a1;
	TileLeft<half, 32, 32> a0;
	TileRight<half, 32, 32> b0;
	TileAcc<float, 32, 32> c;

	TASSIGN(a1, 0x0);
	TASSIGN(a0, 0x0);
	TASSIGN(b0, 0x0);
	TASSIGN(c, 0x0);
	wait_flag_dev(3);
	TLOAD(a1, ga);
	set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
	wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
	TMOV(a0, a1);
	TMOV(b0, a1);
	set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
	wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
	TMATMUL(c, a0, b0);
	set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
	wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
	TSTORE(gc, c);
	ffts_cross_core_sync(PIPE_FIX, cross(2, 5));
	pipe_barrier(PIPE_ALL);
}
#endif

#if defined(__DAV_VEC__)
static AICORE void vector(__gm__ int64_t *args)
{
	using Gm = GlobalTensor<half, Shape<1, 1, 1, 16, 32>, Stride<512, 512, 512, 32, 1>>;
	using GmC = GlobalTensor<float, Shape<1, 1, 1, 16, 32>, Stride<512, 512, 512, 32, 1>>;
	using UbH = Tile<TileType::Vec, half, 16, 32>;
	using Ub = Tile<TileType::Vec, float, 16, 32>;
	const int lane = get_sub_block_id(args);
	Gm ga(at<half>(args, 0) + lane * 512);
	GmC gc(at<float>(args, 1) + lane * 512), gy(at<float>(args, 2) + lane * 512);
	UbH a;
	Ub c;

	TASSIGN(a, 0x0);
	TASSIGN(c, 0x1000);
	TEXPANDS(a, (half)1); // bug deadlock: TEXPANDS(a, (half)1); wait_flag_dev(5);
	set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
	wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
	TSTORE(ga, a);
	ffts_cross_core_sync(PIPE_MTE3, cross(2, 3));
	wait_flag_dev(5); // bug race: // bug deadlock:
	TLOAD(c, gc);
	set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
	wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
	TSTORE(gy, c);
	pipe_barrier(PIPE_ALL);
}
#endif

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
#if defined(__DAV_CUBE__)
	cube(args);
#endif
#if defined(__DAV_VEC__)
	vector(args);
#endif
}
