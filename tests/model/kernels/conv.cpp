/* SPDX-License-Identifier: Apache-2.0 */
/* conv.cpp: a 3 x 3 convolution of one image row block, im2col on the way to L0A. */
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
	using GmX = GlobalTensor<half, Shape<1, 1, 10, 16, 16>, Stride<2560, 2560, 256, 16, 1>, Layout::NC1HWC0>;
	using GmW = GlobalTensor<half, Shape<1, 1, 9, 16, 64>, Stride<9216, 9216, 1024, 64, 1>>;
	using GmY = GlobalTensor<half, Shape<1, 1, 1, 128, 64>, Stride<8192, 8192, 8192, 64, 1>>;
	using L1X = Tile<TileType::Mat, half, 160, 16, BLayout::ColMajor, 160, 16, SLayout::RowMajor>;
	using L1W = Tile<TileType::Mat, half, 144, 64, BLayout::ColMajor, 144, 64, SLayout::RowMajor>;
	GmX gx(at<half>(args, 0));
	GmW gw(at<half>(args, 1));
	GmY gy(at<half>(args, 2));
	L1X x;
	L1W w;
	TileLeft<half, 128, 48> a;
	TileRight<half, 48, 64> b;
	TileAcc<float, 128, 64> c;

	TASSIGN(x, 0x0);
	TASSIGN(w, 0x4000);
	TASSIGN(a, 0x0);
	TASSIGN(b, 0x0);
	TASSIGN(c, 0x0);
	TLOAD(x, gx);
	TLOAD(w, gw);
	set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
	wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
	SETFMATRIX(x);
	SET_IMG2COL_RPT(x);
	SET_IMG2COL_PADDING(x);
	for (int k = 0; k < 3; k++) {
		if (k)
			wait_flag(PIPE_M, PIPE_MTE1, EVENT_ID0); // bug race: ;
		TIMG2COL(a, x, 0, 48 * k);
		TEXTRACT(b, w, 48 * k, 0);
		set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
		wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
		if (k)
			TMATMUL_ACC(c, a, b);
		else
			TMATMUL(c, a, b);
		if (k < 2)
			set_flag(PIPE_M, PIPE_MTE1, EVENT_ID0); // bug race: ;
	}
	set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
	wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
	TSTORE(gy, c);
	pipe_barrier(PIPE_ALL);
}
