/* SPDX-License-Identifier: Apache-2.0 */
/* beyond.cpp: loads one row more than the buffer of slot 0 has. */
#include "../slots.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	using Rows = GlobalTensor<float, Shape<1, 1, 1, 17, 16>, Stride<272, 272, 272, 16, 1>>;
	Rows g(floats(args, 0));
	Tile<TileType::Vec, float, 17, 16> x;

	TASSIGN(x, 0x0);
	TLOAD(x, g);
	pipe_sync();
}
