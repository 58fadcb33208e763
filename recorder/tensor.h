/* SPDX-License-Identifier: Apache-2.0 */
/* tensor.h: the tensor descriptor behind an argument slot. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

struct alignas(64) ChipTensor {
	struct {
		uint64_t addr;
		uint64_t size; /* bytes */
	} buffer;
	uint64_t owner_task_id;
	uint64_t start_offset; /* elements */
	int32_t version;
	uint32_t ndims;
	uint8_t dtype;
	uint8_t manual_dep;
	uint8_t is_contiguous;
	uint8_t address_space;
	uint32_t shapes[5];
	uint64_t extent;
	uint32_t strides[5]; /* elements */
};
static_assert(sizeof(ChipTensor) == 128, "tensor descriptor");
static_assert(offsetof(ChipTensor, start_offset) == 24 && offsetof(ChipTensor, dtype) == 40, "");
static_assert(offsetof(ChipTensor, shapes) == 44 && offsetof(ChipTensor, strides) == 72, "");

/* the name of ChipTensor before August 2026 */
using Tensor = ChipTensor;

/* Reads a scalar argument: the low bytes of its slot. */
template <class T> inline T from_u64(uint64_t bits)
{
	T v;

	std::memcpy(&v, &bits, sizeof(v));
	return v;
}
