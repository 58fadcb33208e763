/* SPDX-License-Identifier: Apache-2.0 */
/* A stream from memory with a barrier that nobody needs in each step; B has none. Memory is what holds it. */
#include "pair.h"

__global__ void PAIR(barrier_streaming)(const float4 *in, float4 *out, unsigned n)
{
	unsigned all = gridDim.x * blockDim.x;

	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += all) {
		float4 v = in[i];
		v.x += 1, v.y += 2, v.z += 3, v.w += 4;
		out[i] = v;
		IF_B(__syncthreads(), (void)0); // CHANGED
	}
}

PAIR_RUN(barrier_streaming)
{
	const unsigned n = 132 * 8 * 256 * 40;
	static float4 *in = device_zeros<float4>(n), *out = device_zeros<float4>(n);

	PAIR(barrier_streaming)<<<132 * 8, 256>>>(in, out, n);
}
