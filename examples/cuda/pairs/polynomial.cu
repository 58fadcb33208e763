/* SPDX-License-Identifier: Apache-2.0 */
/* A polynomial of sixteen terms, of eight numbers at a time; B takes eight terms. */
#include "pair.h"

#define TERMS IF_B(16, 8) // CHANGED
struct terms {
	float c[16];
};

__global__ void PAIR(polynomial)(float *out, terms t, int rounds)
{
	float x[8];

	for (int k = 0; k < 8; k++)
		x[k] = threadIdx.x * 0.001f + k;
#pragma unroll 1
	for (int r = 0; r < rounds; r++)
#pragma unroll
		for (int k = 0; k < 8; k++) {
			float y = x[k];
#pragma unroll
			for (int j = 0; j < TERMS; j++)
				y = fmaf(y, x[k], t.c[j]); // FASTER
			x[k] = y;
		}
	float sum = 0;
	for (int k = 0; k < 8; k++)
		sum += x[k];
	out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

PAIR_RUN(polynomial)
{
	static float *out = device_zeros<float>(132 * 4 * 256);

	PAIR(polynomial)<<<132 * 4, 256>>>(out, terms{{0.5f, 0.25f}}, 64);
}
