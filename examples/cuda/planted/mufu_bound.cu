/* SPDX-License-Identifier: Apache-2.0 */
/* Sines and little else, enough of them at once: the unit for special functions is full. */
#include "../run.h"

__global__ void mufu_bound(float *out, int rounds)
{
	float v[8];

	for (int i = 0; i < 8; i++)
		v[i] = (float)(threadIdx.x + i) * 0.01f;
	for (int r = 0; r < rounds; r++)
#pragma unroll
		for (int i = 0; i < 8; i++)
			asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(v[i])); // GUILTY
	float sum = 0;
	for (int i = 0; i < 8; i++)
		sum += v[i];
	out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

RUN(mufu_bound)
{
	static float *out = device_zeros<float>(132 * 1024);

	mufu_bound<<<132, 1024>>>(out, 400);
}
