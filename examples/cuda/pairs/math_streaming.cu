/* SPDX-License-Identifier: Apache-2.0 */
/* A stream from memory with twelve multiplications for each word; B has one. Memory is what holds it. */
#include "pair.h"

__global__ void PAIR(math_streaming)(const float4 *in, float4 *out, unsigned n, float a)
{
	unsigned all = gridDim.x * blockDim.x;

	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += all) {
		float4 v = in[i];
#pragma unroll
		for (int k = 0; k < IF_B(12, 1); k++) {
			v.x = v.x * a + 1, v.y = v.y * a + 2, v.z = v.z * a + 3, v.w = v.w * a + 4; // FASTER CHANGED
		}
		out[i] = v;
	}
}

PAIR_RUN(math_streaming)
{
	const unsigned n = 132 * 8 * 256 * 40;
	static float4 *in = device_zeros<float4>(n), *out = device_zeros<float4>(n);

	PAIR(math_streaming)<<<132 * 8, 256>>>(in, out, n, 0.5f);
}
