/* SPDX-License-Identifier: Apache-2.0 */
/* branch.cpp: as many loads of slot 0 as the first element of slot 1 says. */
#include "../slots.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	using Rows = GlobalTensor<float, Shape<1, 1, 1, 1, 16>, Stride<16, 16, 16, 16, 1>>;
	const int n = (int)floats(args, 1)[0];
	Rows g(floats(args, 0));
	Tile<TileType::Vec, float, 1, 16> x;

	TASSIGN(x, 0x0);
	for (int i = 0; i < n; i++) {
		TLOAD(x, g);
		pipe_barrier(PIPE_MTE2);
	}
	pipe_sync();
}
