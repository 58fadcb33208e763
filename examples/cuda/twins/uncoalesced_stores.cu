/* SPDX-License-Identifier: Apache-2.0 */
/* Words are written 128 bytes apart; B writes them side by side. */
#include "../pairs/pair.h"

__global__ void PAIR(uncoalesced_stores)(float *out, unsigned n, int rounds)
{
	unsigned me = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
	float v = (float)me;

	for (int r = 0; r < rounds; r++) {
		v = v * 1.5f + 1.0f;
		out[((me + r * all) * IF_B(32u, 1u) + r) & (n - 1)] = v; // GUILTY
	}
}

PAIR_RUN(uncoalesced_stores)
{
	static float *out = device_zeros<float>(1u << 24);

	PAIR(uncoalesced_stores)<<<132 * 4, 256>>>(out, 1u << 24, 80);
}
