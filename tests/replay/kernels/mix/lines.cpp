/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines.cpp: every core of every block writes one line of 16 floats of slot 0: line
 * args[1] + 3 * block + (AIC 0, AIV0 1, AIV1 2). Both sides are in this source.
 */
#include "../slots.h"

constexpr int LINE = 16;
using GmLine = GlobalTensor<float, Shape<1, 1, 1, 1, LINE>, Stride<LINE, LINE, LINE, LINE, 1>>;

static AICORE inline __gm__ float *line_of(__gm__ int64_t *args, int core)
{
	return floats(args, 0) + (args[1] + 3 * get_block_idx(args) + core) * LINE;
}

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
#if defined(__DAV_CUBE__)
	GmLine g(line_of(args, 0));
	TileAcc<float, LINE, LINE, 1, LINE> t;

	TASSIGN(t, 0x0);
	TSTORE(g, t);
#endif
#if defined(__DAV_VEC__)
	GmLine g(line_of(args, 1 + get_sub_block_id(args)));
	Tile<TileType::Vec, float, 1, LINE> t;

	TASSIGN(t, 0x0);
	TEXPANDS(t, 1.0f);
	set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
	wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
	TSTORE(g, t);
#endif
	pipe_sync();
}
