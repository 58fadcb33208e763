/* SPDX-License-Identifier: Apache-2.0 */
/* A long array is scaled by words of a small table, which stays in L1: B does not look there. */
#include "pair.h"

__global__ void PAIR(lookup_hidden)(const float4 *in, float4 *out, const float *table, unsigned n)
{
	unsigned all = gridDim.x * blockDim.x;

	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += all) {
		float4 v = in[i];
		float f = IF_B(table[i * 7 & 255], 0.5f); // REMOVED
		out[i] = make_float4(v.x * f, v.y * f, v.z * f, v.w * f);
	}
}

PAIR_RUN(lookup_hidden)
{
	const unsigned n = 1u << 23;
	static float4 *in = device_zeros<float4>(n), *out = device_zeros<float4>(n);
	static float *table = device_zeros<float>(256);

	PAIR(lookup_hidden)<<<132 * 8, 256>>>(in, out, table, n);
}
