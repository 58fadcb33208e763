/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of a smoothing in two boxes of shared memory in turn: A meets twice a step, B once, which is enough. */
#include "../pair.h"

__global__ void PAIR(barrier_kept)(float *out, int rounds)
{
	__shared__ float box[2][512];
	unsigned me = threadIdx.x;

	box[0][me] = me;
	__syncthreads();
#pragma unroll 1
	for (int r = 0; r < rounds; r++)
#pragma unroll
		for (int k = 0; k < 2; k++) {
			float v = 0.25f * box[k][me - 1 & 511] + 0.5f * box[k][me] +
				  0.25f * box[k][me + 1 & 511];
#ifndef PAIR_B
			__syncthreads(); // REMOVED CHANGED
#endif
			box[!k][me] = v;
			__syncthreads();
		}
	out[blockIdx.x * blockDim.x + me] = box[0][me];
}

PAIR_RUN(barrier_kept)
{
	static float *out = device_zeros<float>(132 * 3 * 512);

	PAIR(barrier_kept)<<<132 * 3, 512>>>(out, 200);
}
