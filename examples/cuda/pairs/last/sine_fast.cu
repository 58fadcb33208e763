/* SPDX-License-Identifier: Apache-2.0 */
/* A phase is turned step by step, with the sine of the library; B takes that of the hardware. */
#include "../pair.h"

__global__ void PAIR(sine_fast)(float *out, int rounds)
{
	unsigned me = blockIdx.x * blockDim.x + threadIdx.x;
	float phase = me % 64 * 0.1f, sum = 0;

#pragma unroll 2
	for (int r = 0; r < rounds; r++, phase += 0.01f)
		sum += IF_B(sinf(phase), __sinf(phase)); // FASTER CHANGED
	out[me] = sum;
}

PAIR_RUN(sine_fast)
{
	static float *out = device_zeros<float>(132 * 8 * 256);

	PAIR(sine_fast)<<<132 * 8, 256>>>(out, 512);
}
