/* SPDX-License-Identifier: Apache-2.0 */
/* a5_mx.cpp: a5: a matrix product of fp8 with a scale per 32 elements of K. */
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
	using T = float8_e4m3_t;
	using S = float8_e8m0_t;
	using GmA = GlobalTensor<T, Shape<1, 1, 1, 64, 64>, Stride<4096, 4096, 4096, 64, 1>>;
	using GmSA = GlobalTensor<S, Shape<1, 1, 1, 64, 2>, Stride<128, 128, 128, 2, 1>, Layout::MX_A_ND>;
	using GmSB = GlobalTensor<S, Shape<1, 1, 1, 2, 64>, Stride<128, 128, 128, 64, 1>, Layout::MX_B_ND>;
	using GmC = GlobalTensor<bfloat16_t, Shape<1, 1, 1, 64, 64>, Stride<4096, 4096, 4096, 64, 1>>;
	using L1 = Tile<TileType::Mat, T, 64, 64, BLayout::ColMajor, 64, 64, SLayout::RowMajor>;
	using L1SA = Tile<TileType::Mat, S, 64, 2, BLayout::RowMajor, 64, 2, SLayout::RowMajor, 32>;
	using L1SB = Tile<TileType::Mat, S, 2, 64, BLayout::ColMajor, 2, 64, SLayout::ColMajor, 32>;
	using Bias = Tile<TileType::Bias, float, 1, 64>;
	GmA ga(at<T>(args, 0)), gb(at<T>(args, 1));
	GmSA gsa(at<S>(args, 2));
	GmSB gsb(at<S>(args, 3));
	GmC gc(at<bfloat16_t>(args, 4));
	L1 a1, b1;
	L1SA sa1;
	L1SB sb1;
	TileLeft<T, 64, 64> a0;
	TileRight<T, 64, 64> b0;
	TileLeftScale<S, 64, 2> sa0;
	TileRightScale<S, 2, 64> sb0;
	TileAcc<float, 64, 64> c;
	Bias bias;

	TASSIGN(a1, 0x0);
	TASSIGN(b1, 0x1000);
	TASSIGN(sa1, 0x2000);
	TASSIGN(sb1, 0x3000);
	TASSIGN(a0, 0x0);
	TASSIGN(b0, 0x0);
	TASSIGN(sa0, 0x0);
	TASSIGN(sb0, 0x0);
	TASSIGN(c, 0x0);
	TASSIGN(bias, 0x0);
	TGET_SCALE_ADDR(sa0, a0);
	TLOAD(a1, ga);
	TLOAD(b1, gb);
	TLOAD(sa1, gsa);
	TLOAD(sb1, gsb);
	set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
	wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
	TEXTRACT(a0, a1, 0, 0);
	TEXTRACT(b0, b1, 0, 0);
	TMOV(sa0, sa1);
	TMOV(sb0, sb1);
	set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0); // bug race:
	wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0); // bug race:
	TMATMUL_MX(c, a0, sa0, b0, sb0);
	TMATMUL_MX(c, c, a0, sa0, b0, sb0);
	TMATMUL_MX(c, a0, sa0, b0, sb0, bias);
	TGEMV_MX(c, a0, sa0, b0, sb0);
	set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
	wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
	TSTORE(gc, c);
	pipe_barrier(PIPE_ALL);
}
