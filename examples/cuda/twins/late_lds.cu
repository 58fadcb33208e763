/* SPDX-License-Identifier: Apache-2.0 */
/* A word of shared memory is read and used, one warp a scheduler; B reads the next one first. */
#include "../pairs/pair.h"

#define WORK 64

static __device__ float read(unsigned at)
{
	float v;

	asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(at)); // the read
	return v;
}

__global__ void PAIR(late_lds)(float *out, int rounds)
{
	__shared__ float tile[1024];
	unsigned me = threadIdx.x, base = (unsigned)__cvta_generic_to_shared(tile);

	for (int i = me; i < 1024; i += blockDim.x)
		tile[i] = (float)i;
	__syncthreads();
	float v, ahead = IF_B(0, read(base + 4 * me)), sum[4] = {};
#pragma unroll 1
	for (int r = 0; r < rounds; r++) {
		v = IF_B(read(base + 4 * ((me + r) & 1023)), ahead);
		ahead = IF_B(0, read(base + 4 * ((me + r + 1) & 1023)));
#pragma unroll
		for (int k = 0; k < WORK; k++)
			sum[k % 4] = sum[k % 4] * 0.5f + v; // GUILTY
	}
	out[blockIdx.x * blockDim.x + me] = sum[0] + sum[1] + sum[2] + sum[3] + ahead;
}

PAIR_RUN(late_lds)
{
	static float *out = device_zeros<float>(132 * 128);

	PAIR(late_lds)<<<132, 128>>>(out, 1500);
}
