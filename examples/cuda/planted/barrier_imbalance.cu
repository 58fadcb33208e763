/* SPDX-License-Identifier: Apache-2.0 */
/* One warp of eight does the work of a step, the others wait for it at the barrier. */
#include "../run.h"

__global__ void barrier_imbalance(float *out, int steps, float a)
{
	__shared__ float box[32];
	float v = (float)threadIdx.x;

	for (int s = 0; s < steps; s++) {
		if (threadIdx.x < 32) {
			for (int k = 0; k < 200; k++)
				v = v * a + 0.5f;
			box[threadIdx.x] = v;
		}
		__syncthreads(); // GUILTY
		v += box[threadIdx.x % 32];
	}
	out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

RUN(barrier_imbalance)
{
	static float *out = device_zeros<float>(132 * 256);

	barrier_imbalance<<<132, 256>>>(out, 100, 0.99f);
}
