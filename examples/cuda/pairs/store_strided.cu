/* SPDX-License-Identifier: Apache-2.0 */
/* Every thread writes eight words: A beside each other, so that those of a warp lie 32 bytes apart, B an array of each. */
#include "pair.h"

__global__ void PAIR(store_strided)(const float *in, float *out, unsigned mine, unsigned next)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	float v = in[i];

#pragma unroll
	for (unsigned k = 0; k < 8; k++)
		out[i * mine + k * next] = v + (float)k; // FASTER
}

PAIR_RUN(store_strided)
{
	const unsigned n = 132 * 32 * 256;
	static float *in = device_zeros<float>(n), *out = device_zeros<float>(8 * n);

	PAIR(store_strided)<<<n / 256, 256>>>(in, out, IF_B(8, 1), IF_B(1, n)); // CHANGED
}
