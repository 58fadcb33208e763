/* SPDX-License-Identifier: Apache-2.0 */
/* A dot product of two long arrays by as many warps as fit: B has four rounds of loads on their way. Memory was full before. */
#include "../pair.h"

__global__ void PAIR(unroll_full)(
	const float4 *a, const float4 *b, float *out, unsigned all, int rounds)
{
	unsigned me = blockIdx.x * blockDim.x + threadIdx.x;
	const int at_once = IF_B(1, 4); // CHANGED
	float sum = 0;

#pragma unroll at_once
	for (int r = 0; r < rounds; r++) {
		float4 v = a[me + r * all], w = b[me + r * all];
		sum += v.x * w.x + v.y * w.y + v.z * w.z + v.w * w.w;
	}
	out[me] = sum;
}

PAIR_RUN(unroll_full)
{
	const unsigned all = 132 * 8 * 256;
	static float4 *a = device_zeros<float4>(all * 24), *b = device_zeros<float4>(all * 24);
	static float *out = device_zeros<float>(all);

	PAIR(unroll_full)<<<132 * 8, 256>>>(a, b, out, all, 24);
}
