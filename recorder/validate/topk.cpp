/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topk.cpp: the best k of rows of 1024, two rows a step, two steps in flight (workload W4).
 *
 *	0	x: float or half, rows of pitch 1280
 *	1	indices: uint32 [1024]
 *	2, 3	values (as x) and indices (uint32) of the result, rows of k
 *	4	rows, an even number
 *	5	0: float, k = 1000; 1: half, k = 1008
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

/* Structures of value and index are 8 bytes; E elements of T each. */
template <typename T, int K, MaskPattern VALUES> struct sorter {
	static constexpr int E = 8 / (int)sizeof(T);
	using In = Tile<TileType::Vec, T, 2, 1024>;
	using InRow = Tile<TileType::Vec, T, 1, 1024>;
	using Index = Tile<TileType::Vec, uint32_t, 1, 1024>;
	using All = Tile<TileType::Vec, T, 1, 1024 * E>;
	using Half = Tile<TileType::Vec, T, 1, 512 * E>;
	using Best = Tile<TileType::Vec, T, 1, K * E>;
	using BestU = Tile<TileType::Vec, uint32_t, 1, 2 * K>;
	using OutRow = Tile<TileType::Vec, T, 1, K>;
	using OutRowU = Tile<TileType::Vec, uint32_t, 1, K>;
	using Out = Tile<TileType::Vec, T, 2, K>;
	using OutU = Tile<TileType::Vec, uint32_t, 2, K>;
	using GmIn = GlobalTensor<T, Shape<1, 1, 1, 2, 1024>, Stride<2560, 2560, 2560, 1280, 1>>;
	using GmIndex = GlobalTensor<uint32_t, Shape<1, 1, 1, 1, 1024>, Stride<1024, 1024, 1024, 1024, 1>>;
	using GmOut = GlobalTensor<T, Shape<1, 1, 1, 2, K>, Stride<2 * K, 2 * K, 2 * K, K, 1>>;
	using GmOutU = GlobalTensor<uint32_t, Shape<1, 1, 1, 2, K>, Stride<2 * K, 2 * K, 2 * K, K, 1>>;

	/* bytes of the vector buffer */
	static constexpr int INDEX = 0, IN = 0x1000, SORTED = 0x5000, MERGED = 0x9000, TMP = 0xd000;
	static constexpr int BEST = 0x11000, VALUE = 0x15000, PLACE = 0x19000;
	Index index;
	In in[2];
	InRow row[2][2];
	All sorted[2], merged[2], tmp;
	Half low[2], high[2];
	Best head[2], best[2];
	BestU best_u[2];
	Out out[2];
	OutRow value[2][2];
	OutU out_u[2];
	OutRowU place[2][2];
	MrgSortExecutedNumList done;

	AICORE void assign()
	{
		TASSIGN(index, INDEX);
		TASSIGN(tmp, TMP);
		for (int i = 0; i < 2; i++) {
			TASSIGN(in[i], IN + 0x2000 * i);
			TASSIGN(sorted[i], SORTED + 0x2000 * i);
			TASSIGN(merged[i], MERGED + 0x2000 * i);
			TASSIGN(low[i], SORTED + 0x2000 * i);
			TASSIGN(high[i], SORTED + 0x2000 * i + 0x1000);
			TASSIGN(head[i], MERGED + 0x2000 * i);
			TASSIGN(best[i], BEST + 0x2000 * i);
			TASSIGN(best_u[i], BEST + 0x2000 * i);
			TASSIGN(out[i], VALUE + 0x2000 * i);
			TASSIGN(out_u[i], PLACE + 0x2000 * i);
			for (int r = 0; r < 2; r++) {
				TASSIGN(row[i][r], IN + 0x2000 * i + r * 1024 * (int)sizeof(T));
				TASSIGN(value[i][r], VALUE + 0x2000 * i + r * K * (int)sizeof(T));
				TASSIGN(place[i][r], PLACE + 0x2000 * i + r * K * 4);
			}
		}
	}

	AICORE void sort(int i, __gm__ T *x)
	{
		GmIn gx(x);

		wait_flag(PIPE_V, PIPE_MTE2, (event_t)i);
		TLOAD(in[i], gx);
		set_flag(PIPE_MTE2, PIPE_V, (event_t)i);
		wait_flag(PIPE_MTE2, PIPE_V, (event_t)i);
		for (int r = 0; r < 2; r++) {
			TSORT32(sorted[r], row[i][r], index);
			pipe_barrier(PIPE_V);
		}
		set_flag(PIPE_V, PIPE_MTE2, (event_t)i);
		pipe_barrier(PIPE_V);
	}

	AICORE void merge()
	{
		const int block = 32 * E;

		for (int r = 0; r < 2; r++) {
			for (int n = block; n <= 4 * block; n *= 4) {
				TMRGSORT(merged[r], sorted[r], n);
				pipe_barrier(PIPE_V);
				TMOV(sorted[r], merged[r]);
				pipe_barrier(PIPE_V);
			}
			TMRGSORT<All, All, Half, Half, false>(merged[r], done, tmp, low[r], high[r]);
			pipe_barrier(PIPE_V);
			pipe_barrier(PIPE_V);
			TMOV(best[r], head[r]);
		}
	}

	AICORE void store(int i, __gm__ T *values, __gm__ uint32_t *places)
	{
		GmOut gv(values);
		GmOutU gp(places);

		pipe_barrier(PIPE_V);
		wait_flag(PIPE_MTE3, PIPE_V, (event_t)i);
		for (int r = 0; r < 2; r++)
			TGATHER<OutRow, All, VALUES>(value[i][r], merged[r]);
		set_flag(PIPE_V, PIPE_MTE3, (event_t)i);
		pipe_barrier(PIPE_V);
		for (int r = 0; r < 2; r++)
			TGATHER<OutRowU, BestU, MaskPattern::P1010>(place[i][r], best_u[r]);
		set_flag(PIPE_V, PIPE_MTE3, (event_t)(i + 2));
		wait_flag(PIPE_V, PIPE_MTE3, (event_t)i);
		TSTORE(gv, out[i]);
		wait_flag(PIPE_V, PIPE_MTE3, (event_t)(i + 2));
		TSTORE(gp, out_u[i]);
		set_flag(PIPE_MTE3, PIPE_V, (event_t)i);
	}

	AICORE void run(__gm__ int64_t *args)
	{
		const int steps = (int)args[4] / 2;
		GmIndex gi(at<uint32_t>(args, 1));

		assign();
		for (int i = 0; i < 2; i++) {
			set_flag(PIPE_V, PIPE_MTE2, (event_t)i);
			set_flag(PIPE_MTE3, PIPE_V, (event_t)i);
		}
		TLOAD(index, gi);
		for (int s = 0; s < steps; s++) {
			sort(s % 2, at<T>(args, 0) + s * 2560);
			merge();
			store(s % 2, at<T>(args, 2) + s * 2 * K, at<uint32_t>(args, 3) + s * 2 * K);
		}
		for (int i = 0; i < 2; i++) {
			wait_flag(PIPE_V, PIPE_MTE2, (event_t)i);
			wait_flag(PIPE_MTE3, PIPE_V, (event_t)i);
		}
		pipe_barrier(PIPE_ALL);
	}
};

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	if (args[5]) {
		sorter<half, 1008, MaskPattern::P0001> s;

		s.run(args);
	} else {
		sorter<float, 1000, MaskPattern::P0101> s;

		s.run(args);
	}
}
