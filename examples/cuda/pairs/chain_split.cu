/* SPDX-License-Identifier: Apache-2.0 */
/* A sum of products in one chain; B has four chains, a quarter as long each. */
#include "pair.h"

__global__ void PAIR(chain_split)(float *out, int rounds, float a, float b)
{
	float v[4] = {(float)threadIdx.x, 1, 2, 3};

#pragma unroll 4
	for (int r = 0; r < rounds; r++)
#pragma unroll
		for (int k = 0; k < 4; k++)
			v[IF_B(0, k)] = v[IF_B(0, k)] * a + b; // FASTER CHANGED
	out[blockIdx.x * blockDim.x + threadIdx.x] = v[0] + v[1] + v[2] + v[3];
}

PAIR_RUN(chain_split)
{
	static float *out = device_zeros<float>(132 * 128);

	PAIR(chain_split)<<<132, 128>>>(out, 20000, 0.999f, 0.001f);
}
