/* SPDX-License-Identifier: Apache-2.0 */
/* Two exponentials for each step, in enough warps to fill their unit; B has one and a multiplication. */
#include "pair.h"

__global__ void PAIR(mufu_halved)(float *out, int rounds)
{
	float v[4];

	for (int i = 0; i < 4; i++)
		v[i] = (float)(threadIdx.x + i) * 0.01f;
	for (int r = 0; r < rounds; r++)
#pragma unroll
		for (int i = 0; i < 4; i++) {
			asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(v[i]));
			asm volatile(IF_B("ex2.approx.ftz.f32 %0, %0;", "mul.ftz.f32 %0, %0, 0f3F000000;") : "+f"(v[i])); // FASTER CHANGED
		}
	out[blockIdx.x * blockDim.x + threadIdx.x] = v[0] + v[1] + v[2] + v[3];
}

PAIR_RUN(mufu_halved)
{
	static float *out = device_zeros<float>(132 * 1024);

	PAIR(mufu_halved)<<<132, 1024>>>(out, 600);
}
