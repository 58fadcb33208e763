/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes of a warp add up through shared memory; B shuffles. */
#include "pair.h"

__global__ void PAIR(shuffle)(float *out, int rounds)
{
#ifndef PAIR_B
	__shared__ float box[256];
#endif
	float v = (float)threadIdx.x;

	for (int r = 0; r < rounds; r++)
#pragma unroll
		for (int m = 16; m; m /= 2) {
#ifdef PAIR_B
			v = v * 0.5f + __shfl_xor_sync(~0u, v, m);
#else
			box[threadIdx.x] = v; // REMOVED CHANGED
			__syncwarp();	      // REMOVED CHANGED
			v = v * 0.5f + box[threadIdx.x ^ m];
			__syncwarp(); // REMOVED CHANGED
#endif
		}
	out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

PAIR_RUN(shuffle)
{
	static float *out = device_zeros<float>(132 * 2 * 256);

	PAIR(shuffle)<<<132 * 2, 256>>>(out, 400);
}
