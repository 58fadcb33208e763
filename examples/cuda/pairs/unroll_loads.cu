/* SPDX-License-Identifier: Apache-2.0 */
/* A sum over memory, one load at a time; B has four loads on their way and four sums. */
#include "pair.h"

#define SUMS IF_B(1, 4) // CHANGED

__global__ void PAIR(unroll_loads)(const float *in, float *out, unsigned n, int rounds)
{
	unsigned me = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
	float sum[4] = {0, 0, 0, 0};

#pragma unroll 1
	for (int r = 0; r < rounds; r += SUMS)
#pragma unroll
		for (int k = 0; k < SUMS; k++)
			sum[k] += in[(me + (r + k) * all) & (n - 1)];
	out[me] = sum[0] + sum[1] + sum[2] + sum[3];
}

PAIR_RUN(unroll_loads)
{
	static float *in = device_zeros<float>(1u << 22), *out = device_zeros<float>(132 * 512);

	PAIR(unroll_loads)<<<132, 512>>>(in, out, 1u << 22, 256);
}
