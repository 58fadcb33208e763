/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that fill the FMA pipe, with 50 KB of shared memory each; B takes 25 KB, and twice as many fit. The pipe is what holds it. */
#include "pair.h"

#define SHARED (IF_B(50, 25) * 1024) // CHANGED

__global__ void PAIR(occupancy_compute)(float *out, int rounds, float a, float b)
{
	extern __shared__ float box[];
	float v[4] = {(float)threadIdx.x, 1, 2, 3};

	box[threadIdx.x] = 0;
	for (int r = 0; r < rounds; r++)
#pragma unroll
		for (int k = 0; k < 4; k++)
			v[k] = v[k] * a + b;
	out[blockIdx.x * blockDim.x + threadIdx.x] = v[0] + v[1] + v[2] + v[3] + box[threadIdx.x];
}

PAIR_RUN(occupancy_compute)
{
	static float *out = device_zeros<float>(132 * 16 * 256);
	static cudaError_t set = cudaFuncSetAttribute(
		PAIR(occupancy_compute), cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED);

	check(set, "shared memory");
	PAIR(occupancy_compute)<<<132 * 16, 256, SHARED>>>(out, 1000, 0.999f, 0.001f);
}
