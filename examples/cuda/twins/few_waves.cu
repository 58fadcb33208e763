/* SPDX-License-Identifier: Apache-2.0 */
/* Loads with a use right behind, in blocks of four warps that take 200 KB of shared memory: one fits. B takes 2 KB. */
#include "../pairs/pair.h"

#define TAKEN IF_B(200 * 1024, 2 * 1024) // GUILTY

__global__ void PAIR(few_waves)(const float *in, float *out, unsigned n, int rounds)
{
	extern __shared__ float taken[];
	unsigned me = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
	float sum = 0;

	taken[threadIdx.x] = 0;
	for (int r = 0; r < rounds; r++)
		sum = sum * 0.5f + in[(me + r * all) & (n - 1)]; // the wait itself
	out[me] = sum + taken[threadIdx.x];
}

PAIR_RUN(few_waves)
{
	static float *in = device_zeros<float>(1u << 24), *out = device_zeros<float>(132 * 8 * 128);
	static cudaError_t set = cudaFuncSetAttribute(PAIR(few_waves), cudaFuncAttributeMaxDynamicSharedMemorySize, TAKEN);

	check(set, "shared memory");
	PAIR(few_waves)<<<132 * 8, 128, TAKEN>>>(in, out, 1u << 24, 96);
}
