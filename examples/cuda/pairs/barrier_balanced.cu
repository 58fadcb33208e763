/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes exchange values within their warp; A waits for the whole block each time, B does not. */
#include "pair.h"

__global__ void PAIR(barrier_balanced)(float *out, int steps, float a)
{
	__shared__ float box[256];
	float v = (float)threadIdx.x;

	for (int s = 0; s < steps; s++) {
		box[threadIdx.x] = v;
		IF_B(__syncthreads(), __syncwarp()); // CHANGED
		v = v * a + box[threadIdx.x ^ 1];
		IF_B(__syncthreads(), __syncwarp()); // CHANGED
	}
	out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

PAIR_RUN(barrier_balanced)
{
	static float *out = device_zeros<float>(132 * 4 * 256);

	PAIR(barrier_balanced)<<<132 * 4, 256>>>(out, 2000, 0.5f);
}
