/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks add up in shared memory: pairs of A are twice as far from each other at each step, those of B stand beside each other. */
#include "../pair.h"

__global__ void PAIR(reduce_banks)(const float *in, float *out, int rounds)
{
	__shared__ float box[256];
	unsigned me = threadIdx.x;
	float sum = 0;

#pragma unroll 1
	for (int r = 0; r < rounds; r++) {
		box[me] = in[(blockIdx.x * rounds + r) * 256 + me];
		__syncthreads();
#pragma unroll
		for (unsigned k = 0; k < 8; k++) {
			unsigned to = IF_B(me << k + 1, me);		 // CHANGED
			unsigned from = to + (IF_B(1u << k, 128u >> k)); // CHANGED
			if (me < 128u >> k)
				box[to] += box[from]; // FASTER
			__syncthreads();
		}
		sum += box[0];
		__syncthreads();
	}
	out[blockIdx.x * 256 + me] = sum;
}

PAIR_RUN(reduce_banks)
{
	static float *in = device_zeros<float>(132 * 8 * 256 * 32),
		     *out = device_zeros<float>(132 * 8 * 256);

	PAIR(reduce_banks)<<<132 * 8, 256>>>(in, out, 32);
}
