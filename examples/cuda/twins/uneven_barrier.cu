/* SPDX-License-Identifier: Apache-2.0 */
/* One warp of eight does the work of a step and the others wait for it at the barrier; in B each does an eighth. */
#include "../pairs/pair.h"

#define WORK 2048
#define SHARE IF_B(threadIdx.x < 32 ? WORK : 0, WORK / 8)

__global__ void PAIR(uneven_barrier)(float *out, int steps, float a)
{
	__shared__ float box[2][256];
	float v = (float)threadIdx.x;
	int share = SHARE;

	for (int s = 0; s < steps; s++) {
#pragma unroll 16
		for (int k = 0; k < share; k++)
			v = v * a + 0.5f;
		box[s & 1][threadIdx.x] = v;
		__syncthreads(); // GUILTY
		v += box[s & 1][threadIdx.x ^ 128];
	}
	out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

PAIR_RUN(uneven_barrier)
{
	static float *out = device_zeros<float>(132 * 256);

	PAIR(uneven_barrier)<<<132, 256>>>(out, 60, 0.99f);
}
