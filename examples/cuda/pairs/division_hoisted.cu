/* SPDX-License-Identifier: Apache-2.0 */
/* Divides by the same number in each step; B divides once and multiplies. */
#include "pair.h"

__global__ void PAIR(division_hoisted)(float *out, int rounds, float by)
{
	float v = (float)threadIdx.x;
#ifdef PAIR_B
	float part = 1.0f / by;
#endif

	for (int r = 0; r < rounds; r++)
		v = IF_B(v / by, v * part) + 1.0f; // FASTER CHANGED
	out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

PAIR_RUN(division_hoisted)
{
	static float *out = device_zeros<float>(132 * 4 * 256);

	PAIR(division_hoisted)<<<132 * 4, 256>>>(out, 1000, 1.7f);
}
