/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous copies of a tile: A waits for each when it was started, B has three more on their way. */
#include "pair.h"

#define AHEAD IF_B(0, 3) // CHANGED
#define STAGES (AHEAD + 1)

static __device__ void copy_tile(float4 *to, const float4 *from)
{
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
	asm volatile("cp.async.commit_group;");
}

__global__ void PAIR(copy_depth)(const float4 *in, float *out, unsigned n, int tiles)
{
	__shared__ float4 tile[STAGES][128];
	unsigned me = threadIdx.x;
	float sum = 0;

	for (int t = 0; t < AHEAD; t++)
		copy_tile(&tile[t][me], in + (((unsigned)t * gridDim.x + blockIdx.x) * 128 + me) % n);
	for (int t = 0; t < tiles; t++) {
		int u = t + AHEAD;
		copy_tile(&tile[u % STAGES][me], in + (((unsigned)u * gridDim.x + blockIdx.x) * 128 + me) % n);
		asm volatile("cp.async.wait_group %0;" ::"n"(AHEAD) : "memory"); // WAIT
		float4 v = tile[t % STAGES][me];
		sum += v.x + v.y + v.z + v.w;
	}
	out[blockIdx.x * blockDim.x + me] = sum;
}

PAIR_RUN(copy_depth)
{
	static float4 *in = device_zeros<float4>(1u << 22);
	static float *out = device_zeros<float>(132 * 2 * 128);

	PAIR(copy_depth)<<<132 * 2, 128>>>(in, out, 1u << 22, 200);
}
