/* SPDX-License-Identifier: Apache-2.0 */
/* Every warp takes its next piece of work from one counter: B takes eight at a time. */
#include "../pair.h"

__global__ void PAIR(counter_blocks)(unsigned *counter, float *out, unsigned start, unsigned pieces)
{
	const unsigned some = IF_B(1, 8); // CHANGED
	float x = threadIdx.x;

	for (;;) {
		unsigned at = 0;
		if (threadIdx.x % 32 == 0)
			at = atomicAdd(counter, some) - start; // FASTER
		at = __shfl_sync(~0u, at, 0);
		if (at >= pieces)
			break;
		for (unsigned k = 0; k < some; k++)
#pragma unroll 16
			for (int j = 0; j < 64; j++)
				x = fmaf(x, 0.5f, 1.0f);
	}
	out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

PAIR_RUN(counter_blocks)
{
	static unsigned *counter = device_zeros<unsigned>(1);
	static float *out = device_zeros<float>(132 * 4 * 128);

	check(cudaMemsetAsync(counter, 0, 4), "cudaMemset");
	PAIR(counter_blocks)<<<132 * 4, 128>>>(counter, out, 0, 132 * 16 * 32);
}
