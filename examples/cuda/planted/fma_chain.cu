/* SPDX-License-Identifier: Apache-2.0 */
/* One warp a scheduler, and every multiplication needs the one before it. */
#include "../run.h"

__global__ void fma_chain(float *out, int rounds, float a, float b)
{
	float v = (float)threadIdx.x;

#pragma unroll 16
	for (int r = 0; r < rounds; r++)
		v = v * a + b; // GUILTY
	out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

RUN(fma_chain)
{
	static float *out = device_zeros<float>(132 * 128);

	fma_chain<<<132, 128>>>(out, 40000, 0.999f, 0.001f);
}
