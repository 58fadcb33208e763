/* SPDX-License-Identifier: Apache-2.0 */
/* One warp a scheduler. All products of a step go into one sum; B has a sum for each. */
#include "../pairs/pair.h"

__global__ void PAIR(dependent_chain)(float *out, int rounds, float a, float b)
{
	float v[8] = {(float)threadIdx.x, 1, 2, 3, 4, 5, 6, 7};

#pragma unroll 4
	for (int r = 0; r < rounds; r++)
#pragma unroll
		for (int k = 0; k < 8; k++)
			v[IF_B(0, k)] = v[IF_B(0, k)] * a + b; // GUILTY
	out[blockIdx.x * blockDim.x + threadIdx.x] = v[0] + v[1] + v[2] + v[3] + v[4] + v[5] + v[6] + v[7];
}

PAIR_RUN(dependent_chain)
{
	static float *out = device_zeros<float>(132 * 128);

	PAIR(dependent_chain)<<<132, 128>>>(out, 8000, 0.999f, 0.001f);
}
