/* SPDX-License-Identifier: Apache-2.0 */
/* A factor that is read again in each step, because a store could have changed it; B says __restrict__, and it is read once. */
#include "pair.h"

#define OWN IF_B(, __restrict__) // CHANGED

__global__ void PAIR(reload)(const float *OWN factor, float *OWN out, int rounds)
{
	unsigned me = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
	float v = (float)me;

	for (int r = 0; r < rounds; r++) {
		float f = factor[threadIdx.x & 1]; // REMOVED
		v = v * f + 1.0f;
		out[me + (r & 7) * all] = v;
	}
}

PAIR_RUN(reload)
{
	static float *factor = device_array<float>(2, [](size_t) { return 0.5f; });
	static float *out = device_zeros<float>(8 * 132 * 2 * 256);

	PAIR(reload)<<<132 * 2, 256>>>(factor, out, 1000);
}
