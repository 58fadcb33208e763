/* SPDX-License-Identifier: Apache-2.0 */
/* A polynomial in double; B in float. */
#include "pair.h"

typedef IF_B(double, float) number; // CHANGED

__global__ void PAIR(double_math)(number *out, int rounds, number a, number b)
{
	number v[4] = {(number)threadIdx.x, 1, 2, 3};

	for (int r = 0; r < rounds; r++)
#pragma unroll
		for (int k = 0; k < 4; k++)
			v[k] = v[k] * a + b; // FASTER
	out[blockIdx.x * blockDim.x + threadIdx.x] = v[0] + v[1] + v[2] + v[3];
}

PAIR_RUN(double_math)
{
	static number *out = device_zeros<number>(132 * 2 * 256);

	PAIR(double_math)<<<132 * 2, 256>>>(out, 2000, (number)0.999, (number)0.001);
}
