/* SPDX-License-Identifier: Apache-2.0 */
/* Stores with a fence behind each; B has none. */
#include "pair.h"

__global__ void PAIR(fence_needless)(float *out, unsigned n, int rounds)
{
	unsigned me = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
	float v = (float)me;

	for (int r = 0; r < rounds; r++) {
		v = v * 0.5f + 1.0f;
		out[(me + r * all) & (n - 1)] = v;
		IF_B(__threadfence(), (void)0); // CHANGED
	}
}

PAIR_RUN(fence_needless)
{
	static float *out = device_zeros<float>(1u << 24);

	PAIR(fence_needless)<<<132 * 2, 256>>>(out, 1u << 24, 200);
}
