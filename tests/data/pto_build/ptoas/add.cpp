#include "pto/pto-inst.hpp"
using namespace pto;
static AICORE inline void aux(int x) { (void)x; }

extern "C" __global__ AICORE void add(__gm__ float* v1, __gm__ float* v2, __gm__ float* v3, int32_t v4)
{
	using G = GlobalTensor<float, Shape<1, 1, 1, 32, 64>, Stride<1, 1, 1, 64, 1>>;
	using T = Tile<TileType::Vec, float, 32, 64>;
	T a, b, c;

	TASSIGN(a, 0x0);
	TASSIGN(b, 0x4000);
	TASSIGN(c, 0x8000);
	for (int i = 0; i < v4 / 64; i++) {
		G ga(v1 + i * 32 * 64), gb((__gm__ float *)v2 + i * 32 * 64), gc(v3 + i * 32 * 64);

		if (i)
			wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID1);
		TLOAD(a, ga);
		TLOAD(b, gb);
		set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
		wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
		if (i)
			wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID2);
		TADD(c, a, b);
		if (i + 1 < v4 / 64)
			set_flag(PIPE_V, PIPE_MTE2, EVENT_ID1);
		set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
		wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
		TSTORE(gc, c);
		if (i + 1 < v4 / 64)
			set_flag(PIPE_MTE3, PIPE_V, EVENT_ID2);
	}
	pipe_barrier(PIPE_ALL);
}
