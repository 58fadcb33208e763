/* SPDX-License-Identifier: Apache-2.0 */
/*
 * descriptor.cpp: tells what a kernel finds in its arguments: the descriptor of slot 0, the contexts,
 * and where the bytes of a strided view are. Each figure is the scalar of one TEXPANDS.
 */
#include "../slots.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	__gm__ ChipTensor *t = reinterpret_cast<__gm__ ChipTensor *>(args[0]);
	const float figures[] = {(float)t->ndims, (float)t->dtype, (float)t->is_contiguous, (float)t->shapes[0],
		(float)t->shapes[1], (float)t->strides[0], (float)t->strides[1], (float)t->extent,
		(float)t->buffer.size, (float)t->start_offset, t->owner_task_id == UINT64_MAX ? 1.0f : 0.0f,
		(float)get_block_idx(args), (float)get_block_num(args), (float)get_sub_block_id(args)};
	Tile<TileType::Vec, float, 1, 16> x;

	TASSIGN(x, 0x0);
	for (float f : figures) {
		TEXPANDS(x, f);
		pipe_barrier(PIPE_V);
	}
	pipe_sync();
}
