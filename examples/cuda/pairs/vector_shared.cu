/* SPDX-License-Identifier: Apache-2.0 */
/* Four words of shared memory that lie beside each other, one at a time; B reads them as one float4. */
#include "pair.h"

__global__ void PAIR(vector_shared)(const float *in, float *out, int rounds)
{
	__shared__ float4 box[256];
	float sum = 0;

	box[threadIdx.x] = ((const float4 *)in)[threadIdx.x];
	__syncthreads();
	for (int r = 0; r < rounds; r++) {
#ifdef PAIR_B
		float4 v = box[(threadIdx.x + r) & 255];
		sum = sum * 0.5f + (v.x * v.y + v.z * v.w);
#else
		const volatile float *v = (const float *)&box[(threadIdx.x + r) & 255];
		sum = sum * 0.5f + (v[0] * v[1] + v[2] * v[3]); // FASTER CHANGED
#endif
	}
	out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

PAIR_RUN(vector_shared)
{
	static float *in = device_zeros<float>(1024), *out = device_zeros<float>(132 * 4 * 256);

	PAIR(vector_shared)<<<132 * 4, 256>>>(in, out, 1000);
}
