/* SPDX-License-Identifier: Apache-2.0 */
/* Words of a long array are kept or dropped by a mask of integers: B has the mask in bytes. */
#include "../pair.h"

#ifdef PAIR_B
typedef unsigned char mask_t;
#else
typedef int mask_t;
#endif

__global__ void PAIR(mask_bytes)(const float *in, const mask_t *mask, float *out, unsigned n)
{
	unsigned all = gridDim.x * blockDim.x;

#pragma unroll 4
	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += all) {
		mask_t keep = mask[i]; // FASTER CHANGED
		float v = in[i];
		out[i] = keep ? v : -1.0f;
	}
}

PAIR_RUN(mask_bytes)
{
	const unsigned n = 132 * 8 * 256 * 64;
	static float *in = device_zeros<float>(n), *out = device_zeros<float>(n);
	static mask_t *mask =
		device_array<mask_t>(n, [](size_t i) { return (mask_t)(i % 3 == 0); });

	PAIR(mask_bytes)<<<132 * 8, 256>>>(in, mask, out, n);
}
