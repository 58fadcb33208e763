/* SPDX-License-Identifier: Apache-2.0 */
/* A long array is scaled a word at a time: B takes four words at a time. As many bytes move. */
#include "../pair.h"

#ifdef PAIR_B
typedef float4 word_t;

static __device__ float4 scaled(float4 v)
{
	return make_float4(v.x * 1.5f, v.y * 1.5f, v.z * 1.5f, v.w * 1.5f);
}
#else
typedef float word_t;

static __device__ float scaled(float v)
{
	return v * 1.5f;
}
#endif

__global__ void PAIR(copy_wide)(const word_t *in, word_t *out, unsigned n)
{
	unsigned all = gridDim.x * blockDim.x;

#pragma unroll 4
	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += all)
		out[i] = scaled(in[i]); // FASTER CHANGED
}

PAIR_RUN(copy_wide)
{
	const unsigned n = 132 * 8 * 256 * 64 / (sizeof(word_t) / 4);
	static word_t *in = device_zeros<word_t>(n), *out = device_zeros<word_t>(n);

	PAIR(copy_wide)<<<132 * 8, 256>>>(in, out, n);
}
