/* SPDX-License-Identifier: Apache-2.0 */
/* A stream from memory whose places are taken modulo a number that is known only at run time; B has a mask. Memory is what holds it. */
#include "pair.h"

__global__ void PAIR(modulo_streaming)(const float4 *in, float4 *out, unsigned n, unsigned size)
{
	unsigned all = gridDim.x * blockDim.x;

	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += all) {
		unsigned at = IF_B(i % size, i & (size - 1)); // FASTER CHANGED
		float4 v = in[at];
		v.x += 1, v.y += 2, v.z += 3, v.w += 4;
		out[at] = v;
	}
}

PAIR_RUN(modulo_streaming)
{
	const unsigned n = 132 * 8 * 256 * 40, size = 1u << 24;
	static float4 *in = device_zeros<float4>(size), *out = device_zeros<float4>(size);

	PAIR(modulo_streaming)<<<132 * 8, 256>>>(in, out, n, size);
}
