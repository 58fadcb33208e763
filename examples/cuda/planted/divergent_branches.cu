/* SPDX-License-Identifier: Apache-2.0 */
/* Every lane takes a way of its own: a warp goes all of them one after the other. */
#include "../run.h"

__device__ __noinline__ float longer(float v, int n)
{
	for (int i = 0; i < n; i++)
		v = v * 0.999f + 0.25f;
	return v;
}

__global__ void divergent_branches(const int *way, float *out, int rounds)
{
	float v = (float)threadIdx.x;
	int w = way[threadIdx.x];

	for (int r = 0; r < rounds; r++) {
		switch ((w + r) & 15) { // GUILTY
		case 0: v = longer(v, 3); break;
		case 1: v = v * v; break;
		case 2: v = v + 3.0f; break;
		case 3: v = fabsf(v) - 1.0f; break;
		case 4: v = v * 0.125f + 9.0f; break;
		case 5: v = rsqrtf(fabsf(v) + 1.0f); break;
		case 6: v = longer(v, 2) + 1.0f; break;
		case 7: v = fminf(v, 100.0f); break;
		case 8: v = fmaxf(v, -100.0f) + 2.0f; break;
		case 9: v = v - 11.0f; break;
		case 10: v = v * v * 0.01f; break;
		case 11: v = longer(v, 1); break;
		case 12: v = v * 3.0f - 7.0f; break;
		case 13: v = truncf(v) + 0.5f; break;
		case 14: v = v > 0 ? v * 0.25f : 1.0f; break;
		default: v = 0.5f - v; break;
		}
	}
	out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

RUN(divergent_branches)
{
	static int *way = device_array<int>(256, [](size_t i) { return (int)(i * 7); });
	static float *out = device_zeros<float>(132 * 256);

	divergent_branches<<<132, 256>>>(way, out, 100);
}
