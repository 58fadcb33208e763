/* SPDX-License-Identifier: Apache-2.0 */
/* Threads follow a table in L2, in blocks that take 90 KB of shared memory each; B takes 22 KB. */
#include "pair.h"

#define SHARED (IF_B(90, 22) * 1024) // CHANGED

__global__ void PAIR(occupancy_smem)(const unsigned *table, unsigned *out, unsigned mask, int steps)
{
	extern __shared__ unsigned box[];
	unsigned me = blockIdx.x * blockDim.x + threadIdx.x, at = me * 64;

	box[threadIdx.x] = at;
	for (int s = 0; s < steps; s++)
		at = table[at + threadIdx.x % 32 & mask];
	out[me] = at + box[threadIdx.x];
}

PAIR_RUN(occupancy_smem)
{
	const unsigned n = 1u << 21;
	static unsigned *table = device_array<unsigned>(n, [](size_t i) { return (unsigned)(i / 32 * 2654435761u >> 8) & ~31u; });
	static unsigned *out = device_zeros<unsigned>(132 * 16 * 128);
	static cudaError_t set = cudaFuncSetAttribute(PAIR(occupancy_smem), cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED);

	check(set, "shared memory");
	PAIR(occupancy_smem)<<<132 * 16, 128, SHARED>>>(table, out, n - 1, 48);
}
