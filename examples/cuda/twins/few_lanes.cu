/* SPDX-License-Identifier: Apache-2.0 */
/* Every lane takes a way of its own, and a warp goes all of them; in B all lanes of a warp go the way of its first. */
#include "../pairs/pair.h"

__global__ void PAIR(few_lanes)(const int *ways, float *out, int rounds)
{
	float v = (float)threadIdx.x;
	int way = ways[threadIdx.x & IF_B(~0u, ~31u)];

	for (int r = 0; r < rounds; r++) {
		switch ((way + r) & 7) { // GUILTY
		case 0: v = v * v; break;
		case 1: v = rsqrtf(fabsf(v) + 1.0f); break;
		case 2: v = fminf(v * 3.0f - 7.0f, 100.0f); break;
		case 3: v = fmaxf(v, -100.0f) + 2.0f; break;
		case 4: v = v * v * 0.01f; break;
		case 5: v = truncf(v * 0.5f) + 0.5f; break;
		case 6: v = v > 0 ? v * 0.25f : 1.0f; break;
		default: v = 0.5f - v; break;
		}
	}
	out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

PAIR_RUN(few_lanes)
{
	static int *ways = device_array<int>(256, [](size_t i) { return (int)(i * 7); });
	static float *out = device_zeros<float>(132 * 4 * 256);

	PAIR(few_lanes)<<<132 * 4, 256>>>(ways, out, 400);
}
