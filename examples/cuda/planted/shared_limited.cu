/* SPDX-License-Identifier: Apache-2.0 */
/* Loads from memory with a use right behind, and a block that takes nearly all shared memory: four warps an SM. */
#include "../run.h"

__global__ void shared_limited(const float *in, float *out, unsigned n, int rounds)
{
	extern __shared__ float big[]; // GUILTY: 200 KB a block
	unsigned me = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
	float sum = 0;

	big[threadIdx.x] = 0;
	for (int r = 0; r < rounds; r++) {
		float v = in[(me + r * all) & (n - 1)];
		sum = sum * 0.5f + v; // the wait itself
	}
	out[me] = sum + big[threadIdx.x];
}

RUN(shared_limited)
{
	static float *in = device_array<float>(1u << 24, [](size_t i) { return (float)(i % 13); });
	static float *out = device_zeros<float>(132 * 4 * 128);
	static cudaError_t set = cudaFuncSetAttribute(shared_limited, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024);

	check(set, "shared memory");
	shared_limited<<<132 * 4, 128, 200 * 1024>>>(in, out, 1u << 24, 96);
}
