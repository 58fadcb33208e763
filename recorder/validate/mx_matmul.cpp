/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mx_matmul.cpp: C = A B of fp8 or fp4 with a scale per 32 elements of K, bfloat16 out, the share of one core (workload W5, a5).
 *
 *	0	A: fp8 or fp4, row-major, M rows of K
 *	1	B: the same type, stored as N rows of K, read transposed
 *	2, 3	scales: e8m0 [M, K / 32] and [K / 32, N]
 *	4	C: bfloat16, rows of N
 *	5	0: fp8, 1: fp4
 *	6, 7, 8	M, K, N; M and N need not fill their last block
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

/* BM x BK x BN is one product, PER of them along K are loaded at once, scales for EVERY of them. */
template <typename T, int BM, int BK, int BN, int PER, int EVERY, int PACK> struct product {
	using S = float8_e8m0_t;
	static constexpr int SK = BK / 32; /* scales along K of one product */
	using L1A = Tile<TileType::Mat, T, BM, BK * PER, BLayout::ColMajor, DYNAMIC, BK * PER, SLayout::RowMajor>;
	using L1B = Tile<TileType::Mat, T, BK * PER, BN, BLayout::RowMajor, BK * PER, DYNAMIC, SLayout::ColMajor>;
	using L1SA = Tile<TileType::Mat, S, BM, SK * EVERY, BLayout::RowMajor, DYNAMIC, DYNAMIC, SLayout::RowMajor, 32>;
	using L1SB = Tile<TileType::Mat, S, SK * EVERY, BN, BLayout::ColMajor, DYNAMIC, DYNAMIC, SLayout::ColMajor, 32>;
	using L0A = TileLeft<T, BM, BK, DYNAMIC, BK>;
	using L0B = TileRight<T, BK, BN, BK, DYNAMIC>;
	using L0SA = TileLeftScale<S, BM, SK, DYNAMIC, SK>;
	using L0SB = TileRightScale<S, SK, BN, SK, DYNAMIC>;
	using Acc = TileAcc<float, BM, BN, DYNAMIC, DYNAMIC>;
	using Pitch = Stride<1, 1, 1, DYNAMIC, 1>;
	using PitchT = Stride<1, 1, 1, 1, DYNAMIC>;
	using Rect = Shape<1, 1, 1, DYNAMIC, DYNAMIC>;

	__gm__ T *a, *b;
	__gm__ S *sa, *sb;
	__gm__ bfloat16_t *c;
	int M, K, N, rows, cols; /* rows, cols: of this block */
	L1A a1[2] = {L1A(BM), L1A(BM)};
	L1B b1[2] = {L1B(BN), L1B(BN)};
	L1SA sa1[2] = {L1SA(BM, SK * EVERY), L1SA(BM, SK * EVERY)};
	L1SB sb1[2] = {L1SB(SK * EVERY, BN), L1SB(SK * EVERY, BN)};
	L0A a0[2] = {L0A(BM), L0A(BM)};
	L0B b0[2] = {L0B(BN), L0B(BN)};
	L0SA sa0[2] = {L0SA(BM), L0SA(BM)};
	L0SB sb0[2] = {L0SB(BN), L0SB(BN)};
	Acc acc = Acc(BM, BN);
	int n1 = 0, n0 = 0, ns = 0; /* loads of A and B, of L0, of scales so far */

	AICORE void assign()
	{
		constexpr int A1 = BM * BK * PER / PACK, B1 = BN * BK * PER / PACK;
		constexpr int SA1 = BM * SK * EVERY, SB1 = BN * SK * EVERY;

		TASSIGN(acc, 0x0);
		for (int i = 0; i < 2; i++) {
			TASSIGN(a1[i], A1 * i);
			TASSIGN(b1[i], 2 * A1 + B1 * i);
			TASSIGN(sa1[i], 2 * A1 + 2 * B1 + SA1 * i);
			TASSIGN(sb1[i], 2 * A1 + 2 * B1 + 2 * SA1 + SB1 * i);
			TASSIGN(a0[i], BM * BK / PACK * i);
			TASSIGN(b0[i], BN * BK / PACK * i);
			TASSIGN(sa0[i], BM * SK * i);
			TASSIGN(sb0[i], BN * SK * i);
			set_flag(PIPE_MTE1, PIPE_MTE2, (event_t)i);
			set_flag(PIPE_MTE1, PIPE_MTE2, (event_t)(2 + i));
			set_flag(PIPE_M, PIPE_MTE1, (event_t)i);
		}
	}

	AICORE void load(int64_t m, int64_t n, int64_t k)
	{
		const int i = n1 % 2, span = BK * PER;
		GlobalTensor<T, Rect, Pitch> ga(a + (m * K + k) / PACK, Rect(rows, span), Pitch(K));
		GlobalTensor<T, Rect, PitchT, Layout::DN> gb(
			b + (n * K + k) / PACK, Rect(span, cols), PitchT(K));

		a1[i].SetValidShape(rows, span);
		b1[i].SetValidShape(span, cols);
		wait_flag(PIPE_MTE1, PIPE_MTE2, (event_t)i);
		TLOAD(a1[i], ga);
		set_flag(PIPE_MTE2, PIPE_MTE1, (event_t)i);
		TLOAD(b1[i], gb);
		set_flag(PIPE_MTE2, PIPE_MTE1, (event_t)(2 + i));
	}

	AICORE void load_scales(int64_t m, int64_t n, int64_t k)
	{
		const int i = ns % 2, left = (int)(K - k) / 32, span = left < SK * EVERY ? left : SK * EVERY;
		GlobalTensor<S, Rect, Pitch, Layout::MX_A_ND> ga(
			sa + m * (K / 32) + k / 32, Rect(rows, span), Pitch(K / 32));
		GlobalTensor<S, Rect, Pitch, Layout::MX_B_ND> gb(
			sb + k / 32 * N + n, Rect(span, cols), Pitch(N));

		sa1[i].SetValidShape(rows, span);
		sb1[i].SetValidShape(span, cols);
		wait_flag(PIPE_MTE1, PIPE_MTE2, (event_t)(2 + i));
		TLOAD(sa1[i], ga);
		TLOAD(sb1[i], gb);
		set_flag(PIPE_MTE2, PIPE_MTE1, (event_t)(4 + i));
	}

	AICORE void extract(int i, int k)
	{
		const int i1 = n1 % 2, is = ns % 2;

		a0[i].SetValidShape(rows, BK);
		sa0[i].SetValidShape(rows, SK);
		b0[i].SetValidShape(BK, cols);
		sb0[i].SetValidShape(SK, cols);
		if (k % PER == 0)
			wait_flag(PIPE_MTE2, PIPE_MTE1, (event_t)i1);
		TEXTRACT(a0[i], a1[i1], 0, BK * (k % PER));
		if (k % EVERY == 0)
			wait_flag(PIPE_MTE2, PIPE_MTE1, (event_t)(4 + is));
		TEXTRACT(sa0[i], sa1[is], 0, SK * (k % EVERY));
		if (k % PER == 0)
			wait_flag(PIPE_MTE2, PIPE_MTE1, (event_t)(2 + i1));
		TEXTRACT(b0[i], b1[i1], BK * (k % PER), 0);
		TEXTRACT(sb0[i], sb1[is], SK * (k % EVERY), 0);
	}

	AICORE void step(int k, int steps)
	{
		const int i = n0++ % 2;

		wait_flag(PIPE_M, PIPE_MTE1, (event_t)i);
		extract(i, k);
		if (k % PER == PER - 1)
			set_flag(PIPE_MTE1, PIPE_MTE2, (event_t)(n1++ % 2));
		if (k % EVERY == EVERY - 1 || k == steps - 1)
			set_flag(PIPE_MTE1, PIPE_MTE2, (event_t)(2 + ns++ % 2));
		set_flag(PIPE_MTE1, PIPE_M, (event_t)i);
		wait_flag(PIPE_MTE1, PIPE_M, (event_t)i);
		if (k)
			TMATMUL_MX(acc, acc, a0[i], sa0[i], b0[i], sb0[i]);
		else
			TMATMUL_MX(acc, a0[i], sa0[i], b0[i], sb0[i]);
		set_flag(PIPE_M, PIPE_MTE1, (event_t)i);
	}

	AICORE void block(int64_t m, int64_t n)
	{
		const int steps = K / BK;
		GlobalTensor<bfloat16_t, Rect, Pitch> gc(c + m * N + n, Rect(rows, cols), Pitch(N));

		acc.SetValidShape(rows, cols);
		for (int k = 0; k < steps; k++) {
			if (k % PER == 0)
				load(m, n, (int64_t)k * BK);
			if (k % EVERY == 0)
				load_scales(m, n, (int64_t)k * BK);
			step(k, steps);
		}
		set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
		wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
		TSTORE(gc, acc);
		set_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
		wait_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
	}

	AICORE void run(__gm__ int64_t *args)
	{
		a = at<T>(args, 0);
		b = at<T>(args, 1);
		sa = at<S>(args, 2);
		sb = at<S>(args, 3);
		c = at<bfloat16_t>(args, 4);
		M = (int)args[6];
		K = (int)args[7];
		N = (int)args[8];
		assign();
		for (int m = 0; m < M; m += BM)
			for (int n = 0; n < N; n += BN) {
				rows = M - m < BM ? M - m : BM;
				cols = N - n < BN ? N - n : BN;
				block(m, n);
			}
		for (int i = 0; i < 2; i++) {
			wait_flag(PIPE_MTE1, PIPE_MTE2, (event_t)i);
			wait_flag(PIPE_MTE1, PIPE_MTE2, (event_t)(2 + i));
			wait_flag(PIPE_M, PIPE_MTE1, (event_t)i);
		}
		pipe_barrier(PIPE_ALL);
	}
};

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	if (args[5]) {
		product<float4_e2m1x2_t, 256, 256, 256, 2, 8, 2> p;

		p.run(args);
	} else {
		product<float8_e4m3_t, 128, 128, 256, 4, 32, 1> p;

		p.run(args);
	}
}
