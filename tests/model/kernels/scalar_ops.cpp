/* SPDX-License-Identifier: Apache-2.0 */
/* scalar_ops.cpp: every operation of a tile and a scalar, and of one tile. */
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
	using Gm = GlobalTensor<float, Shape<1, 1, 1, 32, 64>, Stride<2048, 2048, 2048, 64, 1>>;
	using F = Tile<TileType::Vec, float, 32, 64>;
	using B = Tile<TileType::Vec, bfloat16_t, 32, 64>;
	using I = Tile<TileType::Vec, int32_t, 32, 64>;
	using M = Tile<TileType::Vec, uint8_t, 32, 32>;
	Gm gx(at<float>(args, 0)), gz(at<float>(args, 1));
	F x, z, tmp;
	B b;
	I i;
	M mask;

	TASSIGN(x, 0x0);
	TASSIGN(z, 0x2000);
	TASSIGN(tmp, 0x4000);
	TASSIGN(i, 0x6000);
	TASSIGN(b, 0x8000);
	TASSIGN(mask, 0xa000);
	TEXPANDS(z, 2.5f);
	TLOAD(x, gx);
	set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
	wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
	TMULS(z, x, 3.0f);
	TADDS(z, z, 1.0f);
	TMAXS(z, z, 0.0f);
	TMINS(z, z, 9.0f);
	TSUBS(z, z, 4.0f);
	TDIVS(z, z, 7.0f);
	TREMS(z, z, 2.0f, tmp);
	TFMODS(z, z, 2.0f);
	TPOWS(z, z, 2.0f, tmp);
	TLRELU(z, z, 0.1f);
	TAXPY(z, x, 0.5f);
	TNEG(z, z);
	TABS(z, z);
	TEXP(z, z);
	TLOG(z, z);
	TSQRT(z, z);
	TRECIP(z, z);
	TRSQRT(z, z);
	TRELU(z, z);
	TCVT(b, z, RoundMode::CAST_ROUND, SaturationMode::OFF);
	TCVT(z, b, RoundMode::CAST_NONE);
	TCVT(i, z, tmp, RoundMode::CAST_CEIL, SaturationMode::ON);
	TNOT(i, i);
	TANDS(i, i, 15);
	TORS(i, i, 1);
	TXORS(i, i, 3, i);
	TSHLS(i, i, 2);
	TSHRS(i, i, 1);
	TCMPS(mask, x, 0.0f, CmpMode::GE); pipe_barrier(PIPE_V);
	TSELS(z, mask, x, tmp, 0.0f);
	TCVT(z, i, RoundMode::CAST_ODD);
	set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
	wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
	TSTORE(gz, z);
	pipe_barrier(PIPE_ALL);
}
