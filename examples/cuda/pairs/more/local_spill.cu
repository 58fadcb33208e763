/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of a loop that are written to the device's memory at every step: B keeps them in registers until the end. */
#include "../pair.h"

__global__ void PAIR(local_spill)(float *out, int rounds, float a)
{
	unsigned me = blockIdx.x * blockDim.x + threadIdx.x;
	float x = me, y = 1;

#pragma unroll 4
	for (int r = 0; r < rounds; r++) {
		x = fmaf(x, a, y);
		y = fmaf(y, a, x);
#ifndef PAIR_B
		*(volatile float *)&out[me] = x; // REMOVED
#endif
	}
	out[me] = x + y;
}

PAIR_RUN(local_spill)
{
	static float *out = device_zeros<float>(132 * 8 * 256);

	PAIR(local_spill)<<<132 * 8, 256>>>(out, 256, 0.5f);
}
