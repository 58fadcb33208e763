/* SPDX-License-Identifier: Apache-2.0 */
/* slots.h: what stands in the argument slots of a paged-attention kernel. */
#pragma once

#include <cstdint>
#include <pto/pto-inst.hpp>

#include "tensor.h"

using namespace pto;

#include "intrinsic.h"
#include "pipe_sync.h"

constexpr int TILE = 16; /* query rows, cache block size and head dimension of the example */

inline AICORE __gm__ ChipTensor *tensor_of(__gm__ int64_t *args, int slot)
{
	return reinterpret_cast<__gm__ ChipTensor *>(args[slot]);
}

template <typename T> inline AICORE __gm__ T *data_of(__gm__ int64_t *args, int slot)
{
	__gm__ ChipTensor *t = tensor_of(args, slot);

	return reinterpret_cast<__gm__ T *>(t->buffer.addr) + t->start_offset;
}

inline AICORE float float_of(int64_t bits)
{
	union {
		uint64_t u;
		float f;
	} v;

	v.u = (uint64_t)bits;
	return v.f;
}
