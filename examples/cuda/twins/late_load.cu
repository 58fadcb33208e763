/* SPDX-License-Identifier: Apache-2.0 */
/* A value is loaded and used; B loads the next one first. */
#include "../pairs/pair.h"

#define WORK 1024

/* As assembler: the compiler would put it where it is used. */
static __device__ float load(const float *at)
{
	float v;

	asm volatile("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(at)); // the load
	return v;
}

__global__ void PAIR(late_load)(const float *in, float *out, unsigned n, int rounds)
{
	unsigned me = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
	float v = 0, ahead = IF_B(0, load(&in[me])), sum[4] = {};

#pragma unroll 1
	for (int r = 0; r < rounds; r++) {
		v = IF_B(load(&in[(me + r * all) & (n - 1)]), ahead);
		ahead = IF_B(0, load(&in[(me + (r + 1) * all) & (n - 1)]));
#pragma unroll 64
		for (int k = 0; k < WORK; k++)
			sum[k % 4] = sum[k % 4] * 0.5f + v; // GUILTY
	}
	out[me] = sum[0] + sum[1] + sum[2] + sum[3] + ahead;
}

PAIR_RUN(late_load)
{
	static float *in = device_zeros<float>(1u << 24), *out = device_zeros<float>(132 * 256);

	PAIR(late_load)<<<132, 256>>>(in, out, 1u << 24, 100);
}
