/* SPDX-License-Identifier: Apache-2.0 */
/* Loads from memory with a use right behind, and 200 values a thread that must stay: too few warps to hide it. */
#include "../run.h"

#define KEPT 200

__global__ __launch_bounds__(256, 1) void register_limited(const float *in, float *out, unsigned n, int rounds) // GUILTY
{
	float kept[KEPT], sum = 0;
	unsigned me = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;

#pragma unroll
	for (int i = 0; i < KEPT; i++)
		kept[i] = (float)(me ^ i);
	for (int r = 0; r < rounds; r++) {
		sum = sum * 0.5f + in[(me + r * all) & (n - 1)]; // the wait itself
#pragma unroll
		for (int i = 0; i < KEPT; i++)
			kept[i] = kept[i] * sum + 1.0f;
	}
#pragma unroll
	for (int i = 0; i < KEPT; i++)
		sum += kept[i];
	out[me] = sum;
}

RUN(register_limited)
{
	static float *in = device_array<float>(1u << 24, [](size_t i) { return (float)(i % 13); });
	static float *out = device_zeros<float>(132 * 256);

	register_limited<<<132, 256>>>(in, out, 1u << 24, 256);
}
