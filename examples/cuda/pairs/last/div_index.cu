/* SPDX-License-Identifier: Apache-2.0 */
/* Places in a picture of any width, by a division and its remainder; B knows the width to be a power of two. */
#include "../pair.h"

__global__ void PAIR(div_index)(
	const float *in, float *out, unsigned width, unsigned shift, unsigned mask, int rounds)
{
	unsigned me = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
	float sum = 0;

#pragma unroll 2
	for (int r = 0; r < rounds; r++) {
		unsigned i = me + r * all;
		unsigned y = IF_B(i / width, i >> shift);	 // FASTER CHANGED
		unsigned x = IF_B(i - y * width, i & width - 1); // FASTER CHANGED
		sum += in[x * 32 + y & mask];
	}
	out[me] = sum;
}

PAIR_RUN(div_index)
{
	static float *in = device_zeros<float>(1u << 10), *out = device_zeros<float>(132 * 8 * 256);

	PAIR(div_index)<<<132 * 8, 256>>>(in, out, 1024, 10, 31, 128);
}
