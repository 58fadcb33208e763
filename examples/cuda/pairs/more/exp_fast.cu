/* SPDX-License-Identifier: Apache-2.0 */
/* An exponential in the middle of a stream of words that stay in L2: B takes the fast one. */
#include "../pair.h"

__global__ void PAIR(exp_fast)(const float *in, float *out, unsigned mask, int rounds)
{
	unsigned me = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;

#pragma unroll 4
	for (int r = 0; r < rounds; r++) {
		float v = in[me + r * 4099 & mask];
		sum += IF_B(powf(v, 1.5f), v * __fsqrt_rn(v)); // FASTER CHANGED
	}
	out[me] = sum;
}

PAIR_RUN(exp_fast)
{
	static float *in = device_array<float>(1u << 20, [](size_t i) { return 1.0f + i % 64; }), *out = device_zeros<float>(132 * 8 * 256);

	PAIR(exp_fast)<<<132 * 8, 256>>>(in, out, (1u << 20) - 1, 64);
}
