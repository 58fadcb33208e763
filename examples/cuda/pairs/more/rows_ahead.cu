/* SPDX-License-Identifier: Apache-2.0 */
/* A row of a matrix in L2 is walked with one load at a time: B asks for the next one before it uses this one. */
#include "../pair.h"

__global__ void PAIR(rows_ahead)(const float *in, float *out, unsigned mask, int rounds)
{
	unsigned me = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
	volatile const float *from = in;
	float sum = 0;
#ifdef PAIR_B
	float next = from[me & mask];
#endif

#pragma unroll 1
	for (int r = 0; r < rounds; r++) {
#ifdef PAIR_B
		float v = next;
		next = from[me + (r + 1) * all & mask];
#else
		float v = from[me + r * all & mask]; // CHANGED
#endif
#pragma unroll
		for (int k = 0; k < 24; k++)
			sum = fmaf(sum, v, 0.5f);
	}
	out[me] = sum;
}

PAIR_RUN(rows_ahead)
{
	static float *in = device_zeros<float>(1u << 21), *out = device_zeros<float>(132 * 4 * 128);

	PAIR(rows_ahead)<<<132 * 4, 128>>>(in, out, (1u << 21) - 1, 256);
}
