/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared.cpp: slots 0 and 1 are views of one buffer. What a scalar store leaves through one must be
 * read through the other; a load of slot 1 behind a store to slot 0 must wait for it, and does not.
 */
#include <cstdint>
#include <pto/pto-inst.hpp>

#include "tensor.h"

using namespace pto;

#include "pipe_sync.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	using Gm = GlobalTensor<float, Shape<1, 1, 1, 8, 64>, Stride<512, 512, 512, 64, 1>>;
	using Vec = Tile<TileType::Vec, float, 8, 64>;
	__gm__ ChipTensor *a = reinterpret_cast<__gm__ ChipTensor *>(args[0]);
	__gm__ ChipTensor *b = reinterpret_cast<__gm__ ChipTensor *>(args[1]);
	__gm__ float *pa = reinterpret_cast<__gm__ float *>(a->buffer.addr) + a->start_offset;
	__gm__ float *pb = reinterpret_cast<__gm__ float *>(b->buffer.addr) + b->start_offset;
	Gm ga(pa), gb(pb);
	Vec x, y;

	TASSIGN(x, 0x0);
	TASSIGN(y, 0x1000);
	pa[3] = 5.0f;
	if (pb[3] != 5.0f) /* two memories: nothing else is done */
		return;
	TLOAD(x, ga);
	set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
	wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
	TSTORE(ga, x);
	TLOAD(y, gb);
	pipe_sync();
}
