/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vector_add.cpp: y = x + bias on half, one contiguous range (workload W1 of incore model validate).
 *
 *	0, 1, 2	x, bias, y: half, tiles * rows * 128 each
 *	3	rows of 128 of a tile: the repeats of one add (at most 160)
 *	4	adds of each tile
 *	5	depth: buffers of each tile, 1 or 2
 *	6	tiles
 */
#include <cstdint>
#include <pto/pto-inst.hpp>

#include "tensor.h"

using namespace pto;

#include "intrinsic.h"

template <typename T> static AICORE inline __gm__ T *at(__gm__ int64_t *args, int slot)
{
	__gm__ ChipTensor *t = reinterpret_cast<__gm__ ChipTensor *>(args[slot]);

	return reinterpret_cast<__gm__ T *>(t->buffer.addr) + t->start_offset;
}

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	using Dyn = Shape<1, 1, 1, DYNAMIC, 128>;
	using Gm = GlobalTensor<half, Dyn, Stride<20480, 20480, 20480, 128, 1>>;
	using Ub = Tile<TileType::Vec, half, 160, 128, BLayout::RowMajor, DYNAMIC, 128>;
	const int rows = (int)args[3], adds = (int)args[4], depth = (int)args[5];
	const int64_t tiles = args[6], elems = rows * 128;
	Ub x[2] = {Ub(rows), Ub(rows)}, b[2] = {Ub(rows), Ub(rows)}, y[2] = {Ub(rows), Ub(rows)};

	for (int i = 0; i < depth; i++) {
		TASSIGN(x[i], (uint64_t)(3 * i) * elems * 2);
		TASSIGN(b[i], (uint64_t)(3 * i + 1) * elems * 2);
		TASSIGN(y[i], (uint64_t)(3 * i + 2) * elems * 2);
		set_flag(PIPE_V, PIPE_MTE2, (event_t)i);
		set_flag(PIPE_MTE3, PIPE_V, (event_t)i);
	}
	for (int64_t t = 0; t < tiles; t++) {
		const int i = (int)(t % depth);
		Gm gx(at<half>(args, 0) + t * elems, Dyn(rows));
		Gm gb(at<half>(args, 1) + t * elems, Dyn(rows));
		Gm gy(at<half>(args, 2) + t * elems, Dyn(rows));

		wait_flag(PIPE_V, PIPE_MTE2, (event_t)i);
		TLOAD(x[i], gx);
		TLOAD(b[i], gb);
		set_flag(PIPE_MTE2, PIPE_V, (event_t)i);
		wait_flag(PIPE_MTE2, PIPE_V, (event_t)i);
		wait_flag(PIPE_MTE3, PIPE_V, (event_t)i);
		for (int a = 0; a < adds; a++)
			TADD(y[i], x[i], b[i]);
		set_flag(PIPE_V, PIPE_MTE2, (event_t)i);
		set_flag(PIPE_V, PIPE_MTE3, (event_t)i);
		wait_flag(PIPE_V, PIPE_MTE3, (event_t)i);
		TSTORE(gy, y[i]);
		set_flag(PIPE_MTE3, PIPE_V, (event_t)i);
	}
	for (int i = 0; i < depth; i++) {
		wait_flag(PIPE_V, PIPE_MTE2, (event_t)i);
		wait_flag(PIPE_MTE3, PIPE_V, (event_t)i);
	}
	pipe_barrier(PIPE_ALL);
}
