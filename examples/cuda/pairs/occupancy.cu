/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of two warps that load and use at once, with 100 KB of shared memory each; B takes 25 KB. */
#include "pair.h"

#define SHARED (IF_B(100, 25) * 1024) // CHANGED

__global__ void PAIR(occupancy)(const float *in, float *out, unsigned n, int rounds)
{
	extern __shared__ float box[];
	unsigned me = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
	float sum = 0;

	box[threadIdx.x] = 0;
	for (int r = 0; r < rounds; r++)
		sum = sum * 0.5f + in[(me + r * all) & (n - 1)];
	out[me] = sum + box[threadIdx.x];
}

PAIR_RUN(occupancy)
{
	static float *in = device_zeros<float>(1u << 24), *out = device_zeros<float>(132 * 16 * 64);
	static cudaError_t set = cudaFuncSetAttribute(PAIR(occupancy), cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED);

	check(set, "shared memory");
	PAIR(occupancy)<<<132 * 16, 64, SHARED>>>(in, out, 1u << 24, 64);
}
