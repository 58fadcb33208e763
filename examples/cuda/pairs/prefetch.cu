/* SPDX-License-Identifier: Apache-2.0 */
/* A loop that loads and uses at once; B loads for the next step before it uses. */
#include "pair.h"

__global__ void PAIR(prefetch)(const float *in, float *out, unsigned n, int rounds)
{
	unsigned me = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
	float sum = 0;
#ifdef PAIR_B
	float ahead = in[me & (n - 1)];
#endif

#pragma unroll 1
	for (int r = 0; r < rounds; r++) {
#ifdef PAIR_B
		float v = ahead;
		/* as assembler: the compiler would put the load back where it is used */
		asm volatile("ld.global.f32 %0, [%1];" : "=f"(ahead) : "l"(&in[(me + (r + 1) * all) & (n - 1)]));
#else
		float v = in[(me + r * all) & (n - 1)];
#endif
#pragma unroll
		for (int k = 0; k < 64; k++) // WAIT
			sum = sum * 0.5f + v;
	}
	out[me] = sum;
}

PAIR_RUN(prefetch)
{
	static float *in = device_zeros<float>(1u << 24), *out = device_zeros<float>(132 * 256);

	PAIR(prefetch)<<<132, 256>>>(in, out, 1u << 24, 256);
}
