/* SPDX-License-Identifier: Apache-2.0 */
/* Neighbouring lanes read words that lie 4 KB apart: a line for every lane. */
#include "../run.h"

__global__ void uncoalesced_loads(const float *in, float *out, unsigned n, int rounds)
{
	unsigned me = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;

#pragma unroll 4
	for (int r = 0; r < rounds; r++)
		sum += in[(me * 1024u + r * 8u) & (n - 1)]; // GUILTY
	out[me] = sum;
}

RUN(uncoalesced_loads)
{
	static float *in = device_array<float>(1u << 24, [](size_t i) { return (float)(i % 13); });
	static float *out = device_zeros<float>(132 * 4 * 256);

	uncoalesced_loads<<<132 * 4, 256>>>(in, out, 1u << 24, 32);
}
