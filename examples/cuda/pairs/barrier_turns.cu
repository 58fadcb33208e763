/* SPDX-License-Identifier: Apache-2.0 */
/* In every round another warp of the block has work, and all meet: B does not meet. */
#include "pair.h"

__global__ void PAIR(barrier_turns)(float *out, int rounds, float a)
{
	unsigned warp = threadIdx.x / 32;
	float x = threadIdx.x;

	for (unsigned r = 0; r < rounds; r++) {
		if ((warp + r) % 8 == 0)
#pragma unroll 16
			for (int k = 0; k < 128; k++)
				x = fmaf(x, a, 1.0f);
#ifndef PAIR_B
		__syncthreads(); // REMOVED
#endif
	}
	out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

PAIR_RUN(barrier_turns)
{
	static float *out = device_zeros<float>(132 * 4 * 256);

	PAIR(barrier_turns)<<<132 * 4, 256>>>(out, 400, 0.5f);
}
