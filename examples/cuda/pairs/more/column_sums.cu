/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of columns: threads of A go along a row each, 4 KB from each other, those of B down a column each. */
#include "../pair.h"

__global__ void PAIR(column_sums)(const float *in, float *out, unsigned mine, unsigned next, int rounds)
{
	unsigned me = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;

#pragma unroll 4
	for (int r = 0; r < rounds; r++)
		sum += in[me * mine + r * next]; // FASTER
	out[me] = sum;
}

PAIR_RUN(column_sums)
{
	const unsigned n = 132 * 2 * 128, rounds = 512;
	static float *in = device_zeros<float>(n * rounds), *out = device_zeros<float>(n);

	PAIR(column_sums)<<<n / 128, 128>>>(in, out, IF_B(rounds, 1), IF_B(1, n), rounds); // CHANGED
}
