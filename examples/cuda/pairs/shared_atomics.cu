/* SPDX-License-Identifier: Apache-2.0 */
/* Counters in shared memory: a warp of A adds to eight words, where lanes wait for each other, B has eight of each lane. */
#include "pair.h"

__global__ void PAIR(shared_atomics)(unsigned *out, int rounds)
{
	__shared__ unsigned bins[8 * 32];
	unsigned me = threadIdx.x, v = blockIdx.x * blockDim.x + me;

	bins[me] = 0;
	__syncthreads();
#pragma unroll 4
	for (int r = 0; r < rounds; r++) {
		v = v * 1664525u + 1013904223u;
		atomicAdd(&bins[(v >> 28 & 7) * IF_B(1, 32) + IF_B(0, me % 32)], v); // FASTER CHANGED
	}
	__syncthreads();
	out[blockIdx.x * blockDim.x + me] = bins[me];
}

PAIR_RUN(shared_atomics)
{
	static unsigned *out = device_zeros<unsigned>(132 * 4 * 256);

	PAIR(shared_atomics)<<<132 * 4, 256>>>(out, 128);
}
