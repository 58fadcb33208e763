/* SPDX-License-Identifier: Apache-2.0 */
/* topk.cpp: the best 64 of 1024 by blocks of 32, merged twice. */
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
	using Gm = GlobalTensor<float, Shape<1, 1, 1, 1, 1024>, Stride<1024, 1024, 1024, 1024, 1>>;
	using GmK = GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<64, 64, 64, 64, 1>>;
	using GmI = GlobalTensor<uint32_t, Shape<1, 1, 1, 1, 64>, Stride<64, 64, 64, 64, 1>>;
	using Val = Tile<TileType::Vec, float, 1, 1024>;
	using Idx = Tile<TileType::Vec, uint32_t, 1, 1024>;
	using Pairs = Tile<TileType::Vec, float, 1, 2048>;
	using Part = Tile<TileType::Vec, float, 1, 1024>;
	using Best = Tile<TileType::Vec, float, 1, 128>;
	using BestU = Tile<TileType::Vec, uint32_t, 1, 128>;
	using K = Tile<TileType::Vec, float, 1, 64>;
	using KI = Tile<TileType::Vec, uint32_t, 1, 64>;
	Gm gx(at<float>(args, 0));
	GmK gk(at<float>(args, 1));
	GmI gi(at<uint32_t>(args, 2));
	MrgSortExecutedNumList done;
	Val x;
	Idx idx;
	Pairs s, m, tmp;
	Part lo, hi;
	Best best;
	BestU bestu;
	K k;
	KI ki;

	TASSIGN(x, 0x0);
	TASSIGN(idx, 0x1000);
	TASSIGN(s, 0x2000);
	TASSIGN(m, 0x4000);
	TASSIGN(lo, 0x4000);
	TASSIGN(hi, 0x5000);
	TASSIGN(tmp, 0x6000);
	TASSIGN(best, 0x2000);
	TASSIGN(bestu, 0x2000);
	TASSIGN(k, 0x8000);
	TASSIGN(ki, 0x8100);
	TLOAD(x, gx);
	set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
	TCI<Idx, uint32_t, 0>(idx, 0);
	set_flag(PIPE_S, PIPE_V, EVENT_ID0);
	wait_flag(PIPE_S, PIPE_V, EVENT_ID0);
	wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
	TSORT32(s, x, idx);
	pipe_barrier(PIPE_V);
	TMRGSORT(m, s, 64);
	pipe_barrier(PIPE_V);
	TMRGSORT(s, m, 256);
	pipe_barrier(PIPE_V);
	TMOV(m, s);
	pipe_barrier(PIPE_V);
	TMRGSORT<Pairs, Pairs, Part, Part, false>(s, done, tmp, lo, hi);
	pipe_barrier(PIPE_V);
	TGATHER<K, Best, MaskPattern::P0101>(k, best);
	TGATHER<KI, BestU, MaskPattern::P1010>(ki, bestu);
	set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0); // bug deadlock: set_flag(PIPE_V, PIPE_MTE3, EVENT_ID1);
	wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
	TSTORE(gk, k);
	TSTORE(gi, ki);
	pipe_sync();
}
