/* SPDX-License-Identifier: Apache-2.0 */
/* One field of records of 32 bytes; B has the fields in arrays of their own. */
#include "pair.h"

__global__ void PAIR(coalescing)(const float *in, float *out, unsigned n)
{
	unsigned all = gridDim.x * blockDim.x;
	float sum = 0;

	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += all)
		sum = sum * 0.5f + in[IF_B(i * 8, i)]; // FASTER CHANGED
	out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

PAIR_RUN(coalescing)
{
	const unsigned n = 132 * 8 * 256 * 24;
	static float *in = device_zeros<float>((size_t)n * 8), *out = device_zeros<float>(132 * 8 * 256);

	PAIR(coalescing)<<<132 * 8, 256>>>(in, out, n);
}
