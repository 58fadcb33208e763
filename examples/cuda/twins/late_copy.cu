/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous copies of a tile: A waits for each when it was started, B has two more on their way. */
#include "../pairs/pair.h"

#define AHEAD IF_B(0, 2)
#define STAGES (AHEAD + 1)
#define WORK 96

static __device__ void copy_tile(float4 *to, const float4 *from)
{
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory"); // the copy
	asm volatile("cp.async.commit_group;");
}

__global__ void PAIR(late_copy)(const float4 *in, float *out, unsigned n, int tiles)
{
	__shared__ float4 tile[STAGES][128];
	unsigned me = threadIdx.x;
	float4 sum = {};

	for (int t = 0; t < AHEAD; t++)
		copy_tile(&tile[t][me], in + (((unsigned)t * gridDim.x + blockIdx.x) * 128 + me) % n);
#pragma unroll 1
	for (int t = 0; t < tiles; t++) {
		int u = t + AHEAD;
		copy_tile(&tile[u % STAGES][me], in + (((unsigned)u * gridDim.x + blockIdx.x) * 128 + me) % n); // GUILTY
		asm volatile("cp.async.wait_group %0;" ::"n"(AHEAD) : "memory");
		float4 v = tile[t % STAGES][me];
#pragma unroll
		for (int k = 0; k < WORK; k++) {
			sum.x = sum.x * 0.5f + v.x;
			sum.y = sum.y * 0.5f + v.y;
			sum.z = sum.z * 0.5f + v.z;
			sum.w = sum.w * 0.5f + v.w;
		}
	}
	out[blockIdx.x * blockDim.x + me] = sum.x + sum.y + sum.z + sum.w;
}

PAIR_RUN(late_copy)
{
	static float4 *in = device_zeros<float4>(1u << 22);
	static float *out = device_zeros<float>(132 * 2 * 128);

	PAIR(late_copy)<<<132 * 2, 128>>>(in, out, 1u << 22, 200);
}
