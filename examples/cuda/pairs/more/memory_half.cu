/* SPDX-License-Identifier: Apache-2.0 */
/* A long array is added up: B has it in 16 bits. */
#include <cuda_fp16.h>

#include "../pair.h"

#ifdef PAIR_B
typedef half2 pair_t;
#else
typedef float2 pair_t;
#endif

__global__ void PAIR(memory_half)(const pair_t *in, float *out, unsigned n)
{
	unsigned all = gridDim.x * blockDim.x;
	float sum = 0;

#pragma unroll 4
	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += all) {
		float2 v = IF_B(in[i], __half22float2(in[i])); // FASTER CHANGED
		sum += v.x + v.y;
	}
	out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

PAIR_RUN(memory_half)
{
	const unsigned n = 132 * 8 * 256 * 128;
	static pair_t *in = device_zeros<pair_t>(n);
	static float *out = device_zeros<float>(132 * 8 * 256);

	PAIR(memory_half)<<<132 * 8, 256>>>(in, out, n);
}
