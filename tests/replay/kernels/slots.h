/* SPDX-License-Identifier: Apache-2.0 */
/* slots.h: tensors behind argument slots. */
#pragma once

#include <cstdint>
#include <pto/pto-inst.hpp>

#include "tensor.h"

using namespace pto;

#include "intrinsic.h"
#include "pipe_sync.h"

inline AICORE __gm__ float *floats(__gm__ int64_t *args, int slot)
{
	__gm__ ChipTensor *t = reinterpret_cast<__gm__ ChipTensor *>(args[slot]);

	return reinterpret_cast<__gm__ float *>(t->buffer.addr) + t->start_offset;
}

constexpr int SIDE = 128; /* tensors are 128 x 128, given flat */
using Gm = GlobalTensor<float, Shape<1, 1, 1, SIDE, SIDE>,
	Stride<SIDE * SIDE, SIDE * SIDE, SIDE * SIDE, SIDE, 1>>;
using GmHalf = GlobalTensor<float, Shape<1, 1, 1, SIDE / 2, SIDE>,
	Stride<SIDE * SIDE, SIDE * SIDE, SIDE * SIDE, SIDE, 1>>;
