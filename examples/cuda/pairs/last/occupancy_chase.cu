/* SPDX-License-Identifier: Apache-2.0 */
/* Warps go from line to line of a table in L2, in blocks with 56 KB of shared memory; B takes 18 KB, and three times as many fit. */
#include "../pair.h"

#define SHARED (IF_B(56, 18) * 1024) // CHANGED

__global__ void PAIR(occupancy_chase)(const unsigned *next, unsigned *out, int rounds)
{
	extern __shared__ unsigned box[];
	unsigned at = (blockIdx.x * blockDim.x + threadIdx.x) % (1u << 20);

	box[threadIdx.x] = 0;
#pragma unroll 1
	for (int r = 0; r < rounds; r++)
		at = next[at];
	out[blockIdx.x * blockDim.x + threadIdx.x] = at + box[threadIdx.x];
}

PAIR_RUN(occupancy_chase)
{
	static unsigned *next = device_array<unsigned>(
		1u << 20, [](size_t i) { return (unsigned)(i + 32 * 12345) % (1u << 20); });
	static unsigned *out = device_zeros<unsigned>(132 * 24 * 128);
	static cudaError_t set = cudaFuncSetAttribute(
		PAIR(occupancy_chase), cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED);

	check(set, "shared memory");
	PAIR(occupancy_chase)<<<132 * 24, 128, SHARED>>>(next, out, 64);
}
