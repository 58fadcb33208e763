/* SPDX-License-Identifier: Apache-2.0 */
/* Three words are made of each: A writes them one behind the other, B in an array for each of the three. */
#include "../pair.h"

__global__ void PAIR(store_soa)(
	const float *in, float *out, unsigned n, unsigned apart, unsigned next)
{
	unsigned all = gridDim.x * blockDim.x;

#pragma unroll 2
	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += all) {
		float v = in[i];
		out[i * apart] = v + 1;
		out[i * apart + next] = v + 2;
		out[i * apart + 2 * next] = v + 3;
	}
}

PAIR_RUN(store_soa)
{
	const unsigned n = 132 * 8 * 256 * 32;
	static float *in = device_zeros<float>(n), *out = device_zeros<float>(3 * (size_t)n);

	PAIR(store_soa)<<<132 * 8, 256>>>(in, out, n, IF_B(3, 1), IF_B(1, n)); // CHANGED
}
