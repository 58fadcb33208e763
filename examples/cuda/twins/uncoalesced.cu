/* SPDX-License-Identifier: Apache-2.0 */
/* One field of records of 32 bytes; B has an array of that field. */
#include "../pairs/pair.h"

__global__ void PAIR(uncoalesced)(const float *in, float *out, unsigned n)
{
	unsigned all = gridDim.x * blockDim.x;
	float sum = 0;

	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += all)
		sum = sum * 0.5f + in[i * IF_B(8, 1)]; // GUILTY
	out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

PAIR_RUN(uncoalesced)
{
	const unsigned n = 132 * 8 * 256 * 32;
	static float *in = device_zeros<float>((size_t)n * 8), *out = device_zeros<float>(132 * 8 * 256);

	PAIR(uncoalesced)<<<132 * 8, 256>>>(in, out, n);
}
