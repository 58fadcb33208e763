/* SPDX-License-Identifier: Apache-2.0 */
/* Each step hands values round in the block between two barriers; B has two boxes in turn and needs one barrier. */
#include "pair.h"

__global__ void PAIR(barrier_second)(float *out, int steps, float a)
{
	__shared__ float box[IF_B(1, 2)][256]; // CHANGED
	float v = (float)threadIdx.x;

#pragma unroll 1
	for (int s = 0; s < steps; s++) {
		float *own = box[IF_B(0, s & 1)];
		own[threadIdx.x] = v;
		__syncthreads();
#pragma unroll
		for (int k = 1; k <= 8; k++)
			v = v * a + own[(threadIdx.x + 32 * k) & 255];
		IF_B(__syncthreads(), (void)0); // REMOVED CHANGED
	}
	out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

PAIR_RUN(barrier_second)
{
	static float *out = device_zeros<float>(132 * 2 * 256);

	PAIR(barrier_second)<<<132 * 2, 256>>>(out, 1500, 0.125f);
}
