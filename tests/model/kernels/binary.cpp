/* SPDX-License-Identifier: Apache-2.0 */
/* binary.cpp: every operation on two tiles, on int32 and float. */
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
	using I = Tile<TileType::Vec, int32_t, 32, 64>;
	using M = Tile<TileType::Vec, uint8_t, 32, 32>;
	Gm gx(at<float>(args, 0)), gy(at<float>(args, 1)), gz(at<float>(args, 2));
	F x, y, z, tmp;
	I i, j, k;
	M mask;

	TASSIGN(x, 0x0);
	TASSIGN(y, 0x2000);
	TASSIGN(z, 0x4000);
	TASSIGN(tmp, 0x6000);
	TASSIGN(i, 0x8000);
	TASSIGN(j, 0xa000);
	TASSIGN(k, 0xc000);
	TASSIGN(mask, 0xe000);
	TLOAD(x, gx);
	TLOAD(y, gy);
	set_flag(PIPE_MTE2, PIPE_V, EVENT_ID3);
	wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID3); // bug leak:
	TADD(z, x, y);
	TSUB(z, z, y);
	TMUL(z, z, y);
	TDIV(z, z, y);
	TMAX(z, z, y);
	TMIN(z, z, y);
	TREM(z, z, y, tmp);
	TFMOD(z, z, y);
	TPOW(z, z, y, tmp);
	TADDC(z, z, x, y);
	TSUBC(z, z, x, y);
	TPARTADD(z, z, y);
	TPARTMUL(z, z, y);
	TPARTMAX(z, z, y);
	TPARTMIN(z, z, y);
	TPRELU(z, z, y, tmp);
	TFUSEDMULADD(z, x, y);
	TFUSEDMULADDRELU(z, x, y);
	TMULADDDST(z, x, y);
	TCVT(i, x, RoundMode::CAST_TRUNC);
	TCVT(j, y, tmp, RoundMode::CAST_FLOOR);
	TAND(k, i, j);
	TOR(k, i, j);
	TXOR(k, i, j, i); pipe_barrier(PIPE_V);
	TSHL(k, i, j);
	TSHR(k, i, j);
	TCMP(mask, x, y, CmpMode::LT); pipe_barrier(PIPE_V);
	TSEL(z, mask, x, z, tmp);
	set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
	wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
	TSTORE(gz, z);
	pipe_barrier(PIPE_ALL);
}
