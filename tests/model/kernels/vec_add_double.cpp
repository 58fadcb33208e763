/* SPDX-License-Identifier: Apache-2.0 */
/* vec_add_double.cpp: z = x + y over eight tiles, two buffers used in turn. */
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
	using Gm = GlobalTensor<half, Shape<1, 1, 1, 32, 128>, Stride<4096, 4096, 4096, 128, 1>>;
	using Ub = Tile<TileType::Vec, half, 32, 128>;
	const int tiles = 8, elems = 32 * 128;
	Ub a[2], b[2], c[2];

	for (int i = 0; i < 2; i++) {
		TASSIGN(a[i], 0x2000 * i);
		TASSIGN(b[i], 0x4000 + 0x2000 * i);
		TASSIGN(c[i], 0x8000 + 0x2000 * i);
		set_flag(PIPE_V, PIPE_MTE2, (event_t)i);
		set_flag(PIPE_MTE3, PIPE_V, (event_t)i); // bug race:
	}
	for (int t = 0; t < tiles; t++) {
		const int i = t % 2;
		Gm x(at<half>(args, 0) + t * elems), y(at<half>(args, 1) + t * elems);
		Gm z(at<half>(args, 2) + t * elems);

		wait_flag(PIPE_V, PIPE_MTE2, (event_t)i); // bug deadlock: wait_flag(PIPE_V, PIPE_MTE2, (event_t)(t == 7 ? 2 : i));
		TLOAD(a[i], x);
		TLOAD(b[i], y); // bug buffer: TLOAD(b[1 - i], y);
		set_flag(PIPE_MTE2, PIPE_V, (event_t)i);
		wait_flag(PIPE_MTE2, PIPE_V, (event_t)i);
		wait_flag(PIPE_MTE3, PIPE_V, (event_t)i); // bug race:
		TADD(c[i], a[i], b[i]);
		set_flag(PIPE_V, PIPE_MTE2, (event_t)i);
		set_flag(PIPE_V, PIPE_MTE3, (event_t)i);
		wait_flag(PIPE_V, PIPE_MTE3, (event_t)i);
		TSTORE(z, c[i]);
		set_flag(PIPE_MTE3, PIPE_V, (event_t)i); // bug race:
	}
	for (int i = 0; i < 2; i++) {
		wait_flag(PIPE_V, PIPE_MTE2, (event_t)i); // bug leak:
		wait_flag(PIPE_MTE3, PIPE_V, (event_t)i); // bug race:
	}
	pipe_barrier(PIPE_ALL);
}
