/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv2d.cpp: a 3 x 3 convolution, stride 1, padding 1, half in and out, one image and its share of channels (workload W3).
 *
 *	0	X: half [c1, h, w, 16]
 *	1	weights: half [9 * c1, n / 16, 16, 16]
 *	2	Y: half, rows of n
 *	3, 4, 5	c1, h, w
 *	6	n: all output channels
 *	7, 8	blocks of 128 pixels, blocks of 256 channels
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

using L1X = Tile<TileType::Mat, half, 512, 16, BLayout::ColMajor, DYNAMIC, 16, SLayout::RowMajor>;
using L1W = Tile<TileType::Mat, half, 144, 256, BLayout::ColMajor, 144, 256, SLayout::RowMajor>;

struct buffers {
	L1X x1[2] = {L1X(512), L1X(512)};
	L1W w1[2];
	TileLeft<half, 128, 48> a0[2];
	TileRight<half, 48, 256> b0[2];
	TileAcc<float, 128, 256> c;
	int n1, n0;
};

struct image {
	__gm__ half *x, *weights;
	int h, w, n, first, rows; /* input rows of this block */
};

static AICORE void load(buffers &b, const image &g, int c1, int n)
{
	using ShapeX = Shape<1, 1, 1, DYNAMIC, 16>;
	using StrideW = Stride<1, 1, DYNAMIC, 16, 1>;
	using GmX = GlobalTensor<half, ShapeX, Stride<1, 1, 1, 16, 1>>;
	/* nine fractal rows of 16 x 256 each: whole 8192-byte pieces */
	using GmW = GlobalTensor<half, Shape<1, 1, 9, 256, 16>, StrideW, Layout::FRACTAL_Z>;
	const int i = b.n1 % 2, pixels = g.rows * g.w;
	GmX gx(g.x + ((int64_t)c1 * g.h + g.first) * g.w * 16, ShapeX(pixels));
	GmW gw(g.weights + ((int64_t)9 * c1 * (g.n / 16) + 16 * n) * 256,
		Shape<1, 1, 9, 256, 16>(), StrideW(g.n / 16 * 256));

	wait_flag(PIPE_MTE1, PIPE_MTE2, (event_t)i);
	b.x1[i].SetValidShape(pixels, 16);
	TLOAD(b.x1[i], gx);
	set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
	TLOAD(b.w1[i], gw);
	set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID1);
}

static AICORE void step(buffers &b, int k)
{
	const int i = b.n0++ % 2, i1 = b.n1 % 2;

	wait_flag(PIPE_M, PIPE_MTE1, (event_t)i);
	if (k % 3 == 0)
		wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
	TIMG2COL(b.a0[i], b.x1[i1], 0, 48 * (k % 3));
	if (k % 3 == 0)
		wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID1);
	TEXTRACT(b.b0[i], b.w1[i1], 48 * (k % 3), 0);
	if (k % 3 == 2) {
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

static AICORE void store(buffers &b, __gm__ half *py, int pitch)
{
	using StrideY = Stride<1, 1, 1, DYNAMIC, 1>;
	GlobalTensor<half, Shape<1, 1, 1, 128, 256>, StrideY> gy(
		py, Shape<1, 1, 1, 128, 256>(), StrideY(pitch));

	set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
	wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
	TSTORE(gy, b.c);
	set_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
	wait_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
}

static AICORE void start(buffers &b)
{
	b.n1 = b.n0 = 0;
	TASSIGN(b.c, 0x0);
	for (int i = 0; i < 2; i++) {
		TASSIGN(b.x1[i], 0x4000 * i);
		TASSIGN(b.w1[i], 0x8000 + 0x12000 * i);
		TASSIGN(b.a0[i], 0x4000 * i);
		TASSIGN(b.b0[i], 0x8000 * i);
		set_flag(PIPE_MTE1, PIPE_MTE2, (event_t)i);
		set_flag(PIPE_M, PIPE_MTE1, (event_t)i);
	}
}

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	const int c1 = (int)args[3], h = (int)args[4], w = (int)args[5], n = (int)args[6];
	const int m_blocks = (int)args[7], n_blocks = (int)args[8];
	image g = {at<half>(args, 0), at<half>(args, 1), h, w, n, 0, 0};
	buffers b;

	start(b);
	for (int m = 0; m < m_blocks; m++) {
		const int from = 128 * m / w - 1, to = (128 * m + 127) / w + 1;

		g.first = from < 0 ? 0 : from;
		g.rows = (to > h - 1 ? h - 1 : to) - g.first + 1;
		SETFMATRIX(b.x1[b.n1 % 2]);
		for (int j = 0; j < n_blocks; j++) {
			for (int k = 0; k < 3 * c1; k++) {
				if (k % 3 == 0)
					load(b, g, k / 3, j);
				step(b, k);
			}
			store(b, at<half>(args, 2) + (int64_t)m * 128 * n + j * 256, n);
		}
	}
	for (int i = 0; i < 2; i++) {
		wait_flag(PIPE_MTE1, PIPE_MTE2, (event_t)i);
		wait_flag(PIPE_M, PIPE_MTE1, (event_t)i);
	}
	pipe_barrier(PIPE_ALL);
}
