/* SPDX-License-Identifier: Apache-2.0 */
/* A copy with four loads of every thread on their way: B has room for twice as many warps. */
#include "pair.h"

#define SHARED (IF_B(54, 26) * 1024) // CHANGED

__global__ void PAIR(stream_waves)(const float4 *in, float4 *out, unsigned n)
{
	extern __shared__ float box[];
	unsigned all = gridDim.x * blockDim.x;

	box[threadIdx.x] = 0;
#pragma unroll 4
	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += all) {
		float4 v = in[i];
		v.x += box[threadIdx.x];
		out[i] = v;
	}
}

PAIR_RUN(stream_waves)
{
	const unsigned n = 1u << 23;
	static float4 *in = device_zeros<float4>(n), *out = device_zeros<float4>(n);
	static cudaError_t set = cudaFuncSetAttribute(PAIR(stream_waves), cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED);

	check(set, "shared memory");
	PAIR(stream_waves)<<<132 * 32, 256, SHARED>>>(in, out, n);
}
