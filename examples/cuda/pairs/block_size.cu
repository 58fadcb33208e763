/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of one warp, of which a multiprocessor holds 32; B has two warps in a block, and half as many blocks. */
#include "pair.h"

#define THREADS IF_B(32, 64) // CHANGED

__global__ void PAIR(block_size)(const float *in, float *out, unsigned n, int rounds)
{
	unsigned me = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
	float sum = 0;

#pragma unroll 1
	for (int r = 0; r < rounds; r++)
		sum = sum * 0.5f + in[(me + r * all) & (n - 1)];
	out[me] = sum;
}

PAIR_RUN(block_size)
{
	const unsigned threads = 132 * 64 * 32 * 4;
	static float *in = device_zeros<float>(1u << 22), *out = device_zeros<float>(threads);

	PAIR(block_size)<<<threads / THREADS, THREADS>>>(in, out, 1u << 22, 32);
}
