/* SPDX-License-Identifier: Apache-2.0 */
/* cube_extra.cpp: bias, quantisation, vectors and what else the cube and its fixpipe do. */
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
	using Gm = GlobalTensor<half, Shape<1, 1, 1, 64, 64>, Stride<4096, 4096, 4096, 64, 1>>;
	using GmV = GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<64, 64, 64, 64, 1>>;
	using GmS = GlobalTensor<uint64_t, Shape<1, 1, 1, 1, 64>, Stride<64, 64, 64, 64, 1>>;
	using GmC = GlobalTensor<float, Shape<1, 1, 1, 64, 64>, Stride<4096, 4096, 4096, 64, 1>>;
	using GmQ = GlobalTensor<int8_t, Shape<1, 1, 1, 64, 64>, Stride<4096, 4096, 4096, 64, 1>>;
	using L1 = Tile<TileType::Mat, half, 64, 64, BLayout::ColMajor, 64, 64, SLayout::RowMajor>;
	using L1V = Tile<TileType::Mat, float, 1, 64>;
	using L1S = Tile<TileType::Mat, uint64_t, 1, 64>;
	using Bias = Tile<TileType::Bias, float, 1, 64>;
	using Fp = Tile<TileType::Scaling, uint64_t, 1, 64>;
	Gm ga(at<half>(args, 0)), gb(at<half>(args, 1));
	GmV gv(at<float>(args, 2));
	GmS gs(at<uint64_t>(args, 3));
	GmC gc(at<float>(args, 4));
	GmQ gq(at<int8_t>(args, 5));
	L1 a1, b1, d1;
	L1V v1;
	L1S s1;
	Bias bias;
	Fp fp;
	TileLeft<half, 64, 64> a0;
	TileRight<half, 64, 64> b0;
	TileAcc<float, 64, 64> c;

	TASSIGN(a1, 0x0);
	TASSIGN(b1, 0x2000);
	TASSIGN(d1, 0x4000);
	TASSIGN(v1, 0x6000);
	TASSIGN(s1, 0x7000);
	TASSIGN(bias, 0x0);
	TASSIGN(fp, 0x0);
	TASSIGN(a0, 0x0);
	TASSIGN(b0, 0x0);
	TASSIGN(c, 0x0);
	TPREFETCH(a1, ga);
	TLOAD(a1, ga);
	TLOAD(b1, gb);
	TLOAD(v1, gv);
	TLOAD(s1, gs);
	TEXPANDS(d1, (half)0);
	TFILLPAD(a1, a1);
	set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
	set_flag(PIPE_MTE2, PIPE_FIX, EVENT_ID0);
	wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
	TMOV(a0, a1);
	TEXTRACT(b0, b1, 0, 0);
	TMOV(bias, v1);
	set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
	wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
	TMATMUL_BIAS(c, a0, b0, bias);
	TMATMUL_ACC<AccPhase::Partial>(c, c, a0, b0);
	TGEMV(c, a0, b0);
	TGEMV_ACC(c, c, a0, b0);
	TGEMV_BIAS(c, a0, b0, bias);
	TMATMUL<AccPhase::Final>(c, a0, b0);
	set_flag(PIPE_M, PIPE_FIX, EVENT_ID0); // bug race:
	wait_flag(PIPE_MTE2, PIPE_FIX, EVENT_ID0);
	TMOV(fp, s1);
	SET_QUANT_SCALAR(1);
	SET_QUANT_VECTOR(fp);
	wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0); // bug race:
	TMOV(d1, c);
	TMOV_FP(d1, c, fp);
	TINSERT(d1, c, 0, 0);
	TEXTRACT(d1, c, 0, 0);
	TEXTRACT_FP(d1, c, fp, 0, 0);
	TSTORE<STPhase::Final>(gc, c);
	TSTORE_FP(gq, c, fp);
	set_flag(PIPE_FIX, PIPE_MTE3, EVENT_ID0);
	wait_flag(PIPE_FIX, PIPE_MTE3, EVENT_ID0);
	TSTORE(gb, d1);
	pipe_sync();
	pipe_barrier(PIPE_ALL);
}
