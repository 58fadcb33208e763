/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles are copied to shared memory and worked on by a block: A waits for each copy, B has the next one on its way. */
#include "pair.h"

#define AHEAD IF_B(0, 1) // CHANGED
#define STAGES (AHEAD + 1)

static __device__ void copy_part(float4 *to, const float4 *from)
{
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
	asm volatile("cp.async.commit_group;");
}

__global__ void PAIR(copy_wait)(const float4 *in, float *out, unsigned mask, int tiles)
{
	__shared__ float4 tile[STAGES][256];
	unsigned me = threadIdx.x;
	float sum = 0;

	for (int t = 0; t < AHEAD; t++)
		copy_part(&tile[t][me], in + (((unsigned)t * gridDim.x + blockIdx.x) * 256 + me & mask));
	for (int t = 0; t < tiles; t++) {
		int u = t + AHEAD;
		copy_part(&tile[u % STAGES][me], in + (((unsigned)u * gridDim.x + blockIdx.x) * 256 + me & mask));
		asm volatile("cp.async.wait_group %0;" ::"n"(AHEAD) : "memory"); // WAIT
		__syncthreads();
#pragma unroll
		for (unsigned k = 0; k < 8; k++) {
			float4 v = tile[t % STAGES][me + 33 * k & 255];
			sum = fmaf(sum, v.x, v.y) + fmaf(sum, v.z, v.w);
		}
		__syncthreads();
	}
	out[blockIdx.x * blockDim.x + me] = sum;
}

PAIR_RUN(copy_wait)
{
	static float4 *in = device_zeros<float4>(1u << 20);
	static float *out = device_zeros<float>(132 * 2 * 256);

	PAIR(copy_wait)<<<132 * 2, 256>>>(in, out, (1u << 20) - 1, 128);
}
