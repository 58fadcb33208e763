/* SPDX-License-Identifier: Apache-2.0 */
/* Each thread reads four words that lie beside each other, one at a time; B reads them as one float4. */
#include "pair.h"

__global__ void PAIR(vector_stream)(const float *in, float *out, unsigned n)
{
	unsigned all = gridDim.x * blockDim.x;
	float sum = 0;

	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += all) {
#ifdef PAIR_B
		float4 v = ((const float4 *)in)[i];
		sum += v.x * v.y + v.z * v.w;
#else
		sum += in[i * 4] * in[i * 4 + 1] + in[i * 4 + 2] * in[i * 4 + 3]; // FASTER CHANGED
#endif
	}
	out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

PAIR_RUN(vector_stream)
{
	const unsigned n = 132 * 8 * 256 * 40;
	static float *in = device_zeros<float>((size_t)n * 4),
		     *out = device_zeros<float>(132 * 8 * 256);

	PAIR(vector_stream)<<<132 * 8, 256>>>(in, out, n);
}
