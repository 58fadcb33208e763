/* SPDX-License-Identifier: Apache-2.0 */
/* vec_add.cpp: z = x + y, one tile. */
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
	using Gm = GlobalTensor<float, Shape<1, 1, 1, 64, 64>, Stride<4096, 4096, 4096, 64, 1>>;
	using Ub = Tile<TileType::Vec, float, 64, 64>;
	Gm x(at<float>(args, 0)), y(at<float>(args, 1)), z(at<float>(args, 2));
	Ub a, b, c;

	TASSIGN(a, 0x0);
	TASSIGN(b, 0x4000);
	TASSIGN(c, 0x8000);
	TLOAD(a, x); // bug bounds: TASSIGN(a, 0x2f000); TLOAD(a, x);
	TLOAD(b, y); // bug gm: y.SetAddr(at<float>(args, 1) + 64); TLOAD(b, y);
	set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0); // bug race: // bug missing: // bug double: set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0); set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
	wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0); // bug race: // bug leak:
	TADD(c, a, b);
	set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0); // bug badid: set_flag(PIPE_V, PIPE_MTE3, (event_t)9);
	wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
	TSTORE(z, c);
	pipe_sync();
}
