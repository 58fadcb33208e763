/* SPDX-License-Identifier: Apache-2.0 */
/* Powers of two by the unit for special functions, more than it can take; B has a polynomial for values from 0 to 1. */
#include "../pairs/pair.h"

static __device__ float power(float v)
{
#ifdef PAIR_B
	return (((0.0135f * v + 0.0517f) * v + 0.2414f) * v + 0.6931f) * v + 1.0f;
#else
	asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(v)); // GUILTY
	return v;
#endif
}

__global__ void PAIR(special_functions)(float *out, int rounds)
{
	float v[8];

	for (int i = 0; i < 8; i++)
		v[i] = (float)(threadIdx.x + i) * 0.001f;
#pragma unroll 1
	for (int r = 0; r < rounds; r++)
#pragma unroll
		for (int i = 0; i < 8; i++)
			v[i] = power(v[i]) - 1.0f;
	out[blockIdx.x * blockDim.x + threadIdx.x] = v[0] + v[1] + v[2] + v[3] + v[4] + v[5] + v[6] + v[7];
}

PAIR_RUN(special_functions)
{
	static float *out = device_zeros<float>(132 * 1024);

	PAIR(special_functions)<<<132, 1024>>>(out, 1000);
}
