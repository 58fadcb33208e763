/* SPDX-License-Identifier: Apache-2.0 */
/* Neighbouring lanes write words that lie 128 bytes apart: a sector of 32 bytes for each of 4. */
#include "../run.h"

__global__ void uncoalesced_stores(float *out, unsigned n, int rounds)
{
	unsigned me = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
	float v = (float)me;

	for (int r = 0; r < rounds; r++) {
		v = v * 1.5f + 1.0f;
		out[((me + r * all) * 32u + r) & (n - 1)] = v; // GUILTY
	}
}

RUN(uncoalesced_stores)
{
	static float *out = device_zeros<float>(1u << 24);

	uncoalesced_stores<<<132 * 4, 256>>>(out, 1u << 24, 16);
}
