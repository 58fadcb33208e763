/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm.cpp: C = A B, half in and float out, the share of one core (workload W2).
 *
 *	0	A: half, row-major, 128 * M blocks rows of K
 *	1	B: half, stored as 256 * N blocks rows of K, read transposed
 *	2	C: float, row-major, rows of N
 *	3, 4	blocks of 128 rows, blocks of 256 columns
 *	5	steps of 64 along K, a multiple of 4: K = 64 * steps
 *	6	elements of a row of C
 */
#include <cstdint>
#include <pto/pto-inst.hpp>

#include "tensor.h"

using namespace pto;

#include "intrinsic.h"

template <typename T> static AICORE inline __gm__ T *at(__gm__ int64_t *args, int slot)
{
	__gm__ ChipTensor *t = reinterpret_cast<__gm__ ChipTensor *>(args[slot]);

	return reinterpret_cast<__gm__ T *>(t->buffer.addr) + t->start_offset;
}

using L1A = Tile<TileType::Mat, half, 128, 256, BLayout::ColMajor, 128, 256, SLayout::RowMajor>;
using L1B = Tile<TileType::Mat, half, 256, 256, BLayout::RowMajor, 256, 256, SLayout::ColMajor>;

struct buffers {
	L1A a1[2];
	L1B b1[2];
	TileLeft<half, 128, 64> a0[2];
	TileRight<half, 64, 256> b0[2];
	TileAcc<float, 128, 256> c;
	int n1, n0; /* loads of L1 and of L0 so far */
};

static AICORE void load(buffers &b, __gm__ half *pa, __gm__ half *pb, int pitch)
{
	using StrideA = Stride<1, 1, 1, DYNAMIC, 1>;
	using StrideB = Stride<1, 1, 1, 1, DYNAMIC>;
	using GmA = GlobalTensor<half, Shape<1, 1, 1, 128, 256>, StrideA>;
	using GmB = GlobalTensor<half, Shape<1, 1, 1, 256, 256>, StrideB, Layout::DN>;
	const int i = b.n1 % 2;
	GmA ga(pa, Shape<1, 1, 1, 128, 256>(), StrideA(pitch));
	GmB gb(pb, Shape<1, 1, 1, 256, 256>(), StrideB(pitch));

	wait_flag(PIPE_MTE1, PIPE_MTE2, (event_t)i);
	TLOAD(b.a1[i], ga);
	set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
	TLOAD(b.b1[i], gb);
	set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID1);
}

static AICORE void step(buffers &b, int k)
{
	const int i = b.n0++ % 2, i1 = b.n1 % 2;

	wait_flag(PIPE_M, PIPE_MTE1, (event_t)i);
	if (k % 4 == 0)
		wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
	TEXTRACT(b.a0[i], b.a1[i1], 0, 64 * (k % 4));
	if (k % 4 == 0)
		wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID1);
	TEXTRACT(b.b0[i], b.b1[i1], 64 * (k % 4), 0);
	if (k % 4 == 3) {
		set_flag(PIPE_MTE1, PIPE_MTE2, (event_t)i1);
		b.n1++;
	}
	set_flag(PIPE_MTE1, PIPE_M, (event_t)i);
	wait_flag(PIPE_MTE1, PIPE_M, (event_t)i);
	if (k)
		TMATMUL_ACC(b.c, b.c, b.a0[i], b.b0[i]);
	else
		TMATMUL(b.c, b.a0[i], b.b0[i]);
	set_flag(PIPE_M, PIPE_MTE1, (event_t)i);
}

static AICORE void store(buffers &b, __gm__ float *pc, int pitch)
{
	using StrideC = Stride<1, 1, 1, DYNAMIC, 1>;
	GlobalTensor<float, Shape<1, 1, 1, 128, 256>, StrideC> gc(
		pc, Shape<1, 1, 1, 128, 256>(), StrideC(pitch));

	set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
	wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
	TSTORE(gc, b.c);
	set_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
	wait_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
}

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	const int m_blocks = (int)args[3], n_blocks = (int)args[4], steps = (int)args[5];
	const int64_t K = 64 * steps, pitch = args[6];
	buffers b;

	b.n1 = b.n0 = 0;
	TASSIGN(b.c, 0x0);
	for (int i = 0; i < 2; i++) {
		TASSIGN(b.a1[i], 0x10000 * i);
		TASSIGN(b.b1[i], 0x20000 + 0x20000 * i);
		TASSIGN(b.a0[i], 0x4000 * i);
		TASSIGN(b.b0[i], 0x8000 * i);
		set_flag(PIPE_MTE1, PIPE_MTE2, (event_t)i);
		set_flag(PIPE_M, PIPE_MTE1, (event_t)i);
	}
	for (int m = 0; m < m_blocks; m++)
		for (int n = 0; n < n_blocks; n++) {
			for (int k = 0; k < steps; k++) {
				if (k % 4 == 0)
					load(b, at<half>(args, 0) + m * 128 * K + k * 64,
						at<half>(args, 1) + n * 256 * K + k * 64, (int)K);
				step(b, k);
			}
			store(b, at<float>(args, 2) + m * 128 * pitch + n * 256, (int)pitch);
		}
	for (int i = 0; i < 2; i++) {
		wait_flag(PIPE_MTE1, PIPE_MTE2, (event_t)i);
		wait_flag(PIPE_M, PIPE_MTE1, (event_t)i);
	}
	pipe_barrier(PIPE_ALL);
}
