/* SPDX-License-Identifier: Apache-2.0 */
/* Neighbours in a row, of words that stay in L1: B reads each once, and has the others from its lanes. */
#include "../pair.h"

__global__ void PAIR(stencil_shared)(const float *in, float *out, unsigned n, int rounds)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;

#pragma unroll 1
	for (int r = 0; r < rounds; r++, i += 4096) {
		float v = in[i & n];
#ifdef PAIR_B
		float a = __shfl_up_sync(~0u, v, 1), b = __shfl_down_sync(~0u, v, 1);
#else
		float a = in[i - 1 & n], b = in[i + 1 & n]; // CHANGED FASTER
#endif
		sum += 0.25f * a + 0.5f * v + 0.25f * b;
	}
	out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

PAIR_RUN(stencil_shared)
{
	static float *in = device_zeros<float>(1u << 22), *out = device_zeros<float>(132 * 8 * 256);

	PAIR(stencil_shared)<<<132 * 8, 256>>>(in, out, (1u << 22) - 1, 64);
}
