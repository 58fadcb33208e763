/* SPDX-License-Identifier: Apache-2.0 */
/* Every other lane takes the other way; in B every other warp. */
#include "pair.h"

__global__ void PAIR(branch_uniform)(float *out, int rounds, float a)
{
	float v = (float)threadIdx.x;

	for (int r = 0; r < rounds; r++)
		if (threadIdx.x / IF_B(1, 32) & 1) { // CHANGED
#pragma unroll
			for (int k = 0; k < 16; k++)
				v = v * a + 1.0f; // FASTER
		} else {
#pragma unroll
			for (int k = 0; k < 16; k++)
				v = v * v - a; // FASTER
		}
	out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

PAIR_RUN(branch_uniform)
{
	static float *out = device_zeros<float>(132 * 4 * 256);

	PAIR(branch_uniform)<<<132 * 4, 256>>>(out, 500, 0.5f);
}
