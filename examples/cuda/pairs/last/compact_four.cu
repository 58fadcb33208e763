/* SPDX-License-Identifier: Apache-2.0 */
/* Positive words are written one behind the other. Warps of A take places for each of four words, those of B for all four at once. */
#include "../pair.h"

#define AT_ONCE IF_B(1, 4) // CHANGED

__global__ void PAIR(compact_four)(const float *in, float *out, unsigned *count, unsigned n)
{
	unsigned all = gridDim.x * blockDim.x, lane = threadIdx.x % 32, below = (1u << lane) - 1;

#pragma unroll 1
	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += 4 * all) {
		float v[4];
#pragma unroll
		for (int k = 0; k < 4; k++)
			v[k] = in[i + k * all];
#pragma unroll
		for (int k = 0; k < 4; k += AT_ONCE) {
			unsigned kept[AT_ONCE], sum = 0, at = 0;
#pragma unroll
			for (int j = 0; j < AT_ONCE; j++)
				sum += __popc(kept[j] = __ballot_sync(~0u, v[k + j] > 0));
			if (lane == 0)
				at = atomicAdd(count, sum); // FASTER
			at = __shfl_sync(~0u, at, 0);	    // FASTER
#pragma unroll
			for (int j = 0; j < AT_ONCE; j++) {
				if (v[k + j] > 0)
					out[at + __popc(kept[j] & below)] = v[k + j];
				at += __popc(kept[j]);
			}
		}
	}
}

PAIR_RUN(compact_four)
{
	const unsigned n = 132 * 8 * 256 * 16;
	static float *in = device_array<float>(n, [](size_t i) { return i % 3 ? -1.0f : 1.0f; }),
		     *out = device_zeros<float>(n);
	static unsigned *count = device_zeros<unsigned>(1);

	check(cudaMemsetAsync(count, 0, 4), "cudaMemset");
	PAIR(compact_four)<<<132 * 8, 256>>>(in, out, count, n);
}
