/* SPDX-License-Identifier: Apache-2.0 */
/* A fence after every store, for the whole device; B's is for its block. */
#include "../pairs/pair.h"

__global__ void PAIR(fence)(float *out, unsigned n, int rounds)
{
	unsigned me = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
	float v = (float)me;

	for (int r = 0; r < rounds; r++) {
		v = v * 0.5f + 1.0f;
		out[(me + r * all) & (n - 1)] = v;
		IF_B(__threadfence(), __threadfence_block()); // GUILTY
	}
}

PAIR_RUN(fence)
{
	static float *out = device_zeros<float>(1u << 24);

	PAIR(fence)<<<132 * 2, 256>>>(out, 1u << 24, 400);
}
