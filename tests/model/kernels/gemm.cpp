/* SPDX-License-Identifier: Apache-2.0 */
/* gemm.cpp: C = A B, 128 x 512 x 128, K in steps of 64, two buffers of everything but C. */
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
	using GmA = GlobalTensor<half, Shape<1, 1, 1, 128, 64>, Stride<65536, 65536, 65536, 512, 1>>;
	using GmB = GlobalTensor<half, Shape<1, 1, 1, 64, 128>, Stride<65536, 65536, 65536, 128, 1>>;
	using GmC = GlobalTensor<float, Shape<1, 1, 1, 128, 128>, Stride<16384, 16384, 16384, 128, 1>>;
	using L1A = Tile<TileType::Mat, half, 128, 64, BLayout::ColMajor, 128, 64, SLayout::RowMajor>;
	using L1B = Tile<TileType::Mat, half, 64, 128, BLayout::ColMajor, 64, 128, SLayout::RowMajor>;
	const int steps = 8;
	L1A a1[2];
	L1B b1[2];
	TileLeft<half, 128, 64> a0[2];
	TileRight<half, 64, 128> b0[2];
	TileAcc<float, 128, 128> c;
	GmC gc(at<float>(args, 2));

	TASSIGN(c, 0x0);
	for (int i = 0; i < 2; i++) {
		TASSIGN(a1[i], 0x4000 * i);
		TASSIGN(b1[i], 0x10000 + 0x4000 * i);
		TASSIGN(a0[i], 0x4000 * i);
		TASSIGN(b0[i], 0x4000 * i);
		set_flag(PIPE_MTE1, PIPE_MTE2, (event_t)i);
		set_flag(PIPE_M, PIPE_MTE1, (event_t)i); // bug race:
	}
	for (int k = 0; k < steps; k++) {
		const int i = k % 2;
		GmA ga(at<half>(args, 0) + k * 64);
		GmB gb(at<half>(args, 1) + k * 64 * 128);

		wait_flag(PIPE_MTE1, PIPE_MTE2, (event_t)i);
		TLOAD(a1[i], ga);
		TLOAD(b1[i], gb);
		set_flag(PIPE_MTE2, PIPE_MTE1, (event_t)i);
		wait_flag(PIPE_MTE2, PIPE_MTE1, (event_t)i);
		wait_flag(PIPE_M, PIPE_MTE1, (event_t)i); // bug race:
		TEXTRACT(a0[i], a1[i], 0, 0);
		TEXTRACT(b0[i], b1[i], 0, 0);
		set_flag(PIPE_MTE1, PIPE_MTE2, (event_t)i); // bug deadlock: wait_flag(PIPE_M, PIPE_MTE1, (event_t)(2 + i)); set_flag(PIPE_MTE1, PIPE_MTE2, (event_t)i);
		set_flag(PIPE_MTE1, PIPE_M, (event_t)i);
		wait_flag(PIPE_MTE1, PIPE_M, (event_t)i);
		if (k)
			TMATMUL_ACC(c, c, a0[i], b0[i]);
		else
			TMATMUL(c, a0[i], b0[i]);
		set_flag(PIPE_M, PIPE_MTE1, (event_t)i); // bug race: // bug deadlock: set_flag(PIPE_M, PIPE_MTE1, (event_t)i); set_flag(PIPE_M, PIPE_MTE1, (event_t)(2 + i));
	}
	set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
	wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
	TSTORE(gc, c);
	for (int i = 0; i < 2; i++) {
		wait_flag(PIPE_MTE1, PIPE_MTE2, (event_t)i); // bug leak:
		wait_flag(PIPE_M, PIPE_MTE1, (event_t)i); // bug race:
	}
	pipe_sync();
}
