/* SPDX-License-Identifier: Apache-2.0 */
/* Words of a table that stays in L2: lanes of A ask for them 32 bytes apart, those of B beside each other. */
#include "pair.h"

__global__ void PAIR(gather_l2)(const float *table, float *out, unsigned mask, unsigned apart)
{
	unsigned me = blockIdx.x * blockDim.x + threadIdx.x, at = me / 32 * 2654435761u;
	float sum = 0;

#pragma unroll 4
	for (int r = 0; r < 32; r++, at += 40503u * 1024)
		sum += table[((at >> 7 & ~255u) + me % 32 * apart) & mask]; // FASTER
	out[me] = sum;
}

PAIR_RUN(gather_l2)
{
	const unsigned n = 1u << 22;
	static float *table = device_zeros<float>(n), *out = device_zeros<float>(132 * 8 * 256);

	PAIR(gather_l2)<<<132 * 8, 256>>>(table, out, n - 1, IF_B(8, 1)); // CHANGED
}
