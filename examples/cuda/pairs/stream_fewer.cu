/* SPDX-License-Identifier: Apache-2.0 */
/* Two long arrays are read and their sum is written: B reads one alone. */
#include "pair.h"

__global__ void PAIR(stream_fewer)(const float4 *a, const float4 *b, float4 *out, unsigned n)
{
	unsigned all = gridDim.x * blockDim.x;

	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += all) {
		float4 v = a[i];
		float4 w = IF_B(b[i], v); // REMOVED
		out[i] = make_float4(v.x + w.y, v.y + w.z, v.z + w.w, v.w + w.x);
	}
}

PAIR_RUN(stream_fewer)
{
	const unsigned n = 1u << 22;
	static float4 *a = device_zeros<float4>(n), *b = device_zeros<float4>(n),
		      *out = device_zeros<float4>(n);

	PAIR(stream_fewer)<<<132 * 8, 256>>>(a, b, out, n);
}
