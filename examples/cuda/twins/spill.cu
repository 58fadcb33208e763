/* SPDX-License-Identifier: Apache-2.0 */
/* 40 values a thread and 32 registers for them, so that four blocks fit; B is content with one block. */
#include "../pairs/pair.h"

#define KEPT 40

__global__ __launch_bounds__(512, IF_B(4, 1)) void PAIR(spill)(const float *in, float *out, int rounds)
{
	float kept[KEPT], sum = in[threadIdx.x];

#pragma unroll
	for (int i = 0; i < KEPT; i++)
		kept[i] = sum + (float)i;
#pragma unroll 1
	for (int r = 0; r < rounds; r++)
#pragma unroll
		for (int i = 0; i < KEPT; i++)
			kept[i] = kept[i] * 0.5f + kept[(i + 17) % KEPT]; // GUILTY
#pragma unroll
	for (int i = 0; i < KEPT; i++)
		sum += kept[i];
	out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

PAIR_RUN(spill)
{
	static float *in = device_zeros<float>(512), *out = device_zeros<float>(132 * 4 * 512);

	PAIR(spill)<<<132 * 4, 512>>>(in, out, 100);
}
