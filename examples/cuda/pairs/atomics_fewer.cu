/* SPDX-License-Identifier: Apache-2.0 */
/* Four numbers are added to words of the device's memory: B adds them up first. */
#include "pair.h"

__global__ void PAIR(atomics_fewer)(const float4 *in, float *out, unsigned n, unsigned mask)
{
	unsigned all = gridDim.x * blockDim.x;

	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += all) {
		float4 v = in[i];
		float part[4] = {v.x, v.y, v.z, v.w};
		float sum = 0;
#pragma unroll
		for (unsigned k = 0; k < 4; k++) {
			sum = IF_B(0, sum) + part[k];
			if (IF_B(true, k == 3))
				atomicAdd(&out[i + k * 65536 & mask], sum); // FASTER CHANGED
		}
	}
}

PAIR_RUN(atomics_fewer)
{
	const unsigned n = 132 * 8 * 256 * 8;
	static float4 *in = device_zeros<float4>(n);
	static float *out = device_zeros<float>(1u << 20);

	PAIR(atomics_fewer)<<<132 * 8, 256>>>(in, out, n, (1u << 20) - 1);
}
