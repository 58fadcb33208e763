/* SPDX-License-Identifier: Apache-2.0 */
/* data_loop.cpp: sums as many pages as a table in memory says, page by page as it says. */
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
	using Gm = GlobalTensor<float, Shape<1, 1, 1, 16, 64>, Stride<1024, 1024, 1024, 64, 1>>;
	using Ub = Tile<TileType::Vec, float, 16, 64>;
	__gm__ int32_t *lens = at<int32_t>(args, 1), *table = at<int32_t>(args, 2);
	__gm__ float *pages = at<float>(args, 0);
	Gm gy(at<float>(args, 3));
	Ub x, sum;

	TASSIGN(x, 0x0);
	TASSIGN(sum, 0x1000);
	TEXPANDS(sum, 0.0f);
	dcci(lens, SINGLE_CACHE_LINE);
	for (int i = 0; i < lens[0]; i++) { // bug value: for (int i = 0; i < sum.GetValue(0); i++) {
		Gm gx(pages + table[i] * 1024);

		TLOAD(x, gx);
		set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
		wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
		TADD(sum, sum, x);
		set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0); // bug race:
		wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0); // bug race:
	}
	set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
	wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
	TSTORE(gy, sum);
	pipe_barrier(PIPE_ALL);
	table[7] = lens[0];
}
